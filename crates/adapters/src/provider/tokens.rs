//! The estimate of tokens for answers that come without a count.

/// Tokens of so many bytes: a token is about 3.6 bytes of English text or code. At least 1, since no call is free.
pub(crate) fn estimate(bytes: usize) -> u64 {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX / 10);
    bytes.saturating_mul(10).div_ceil(36).max(1)
}
