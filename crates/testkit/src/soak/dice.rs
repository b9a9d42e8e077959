//! Numbers from a seed: the same in every run of a soak.

/// A sequence of numbers (splitmix64).
pub(super) struct Dice(u64);

impl Dice {
    /// A sequence of its own for each text.
    pub(super) fn of(seed: u64, words: &str) -> Dice {
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Dice(words.bytes().fold(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xcbf2_9ce4_8422_2325, mix))
    }
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n.max(1)
    }
    pub(super) fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        let at = usize::try_from(self.below(list.len() as u64)).unwrap_or(0);
        list.get(at).copied().unwrap_or_default()
    }
}
