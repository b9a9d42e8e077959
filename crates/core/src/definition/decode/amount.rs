//! Amounts as people write them: counts, durations, whole numbers. Files and flags share these functions.

/// Why a text is no amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    /// Zero, negative, not a number, or a word for "no limit".
    NotPositive,
    /// It has another form.
    Form,
    /// It is beyond what can be counted.
    TooBig,
}

/// Words for "no limit": a cap is always a number.
const ENDLESS: [&str; 9] = ["unlimited", "infinite", "infinity", "inf", ".inf", "none", "never", "nan", ".nan"];

fn refuse(text: &str) -> Result<(), Bad> {
    let small = text.to_lowercase();
    if ENDLESS.contains(&small.trim_start_matches(['+', '-'])) {
        return Err(Bad::NotPositive);
    }
    match text.strip_prefix('-') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') => Err(Bad::NotPositive),
        _ => Ok(()),
    }
}

fn digits(text: &str) -> Result<u64, Bad> {
    if text.is_empty() || !text.chars().all(|c| c.is_ascii_digit()) {
        return Err(Bad::Form);
    }
    text.parse().map_err(|_| Bad::TooBig)
}

fn positive(n: u64) -> Result<u64, Bad> {
    if n == 0 { Err(Bad::NotPositive) } else { Ok(n) }
}

/// A count above 0: an integer, `200k`, `2M`.
///
/// # Errors
/// Why the text is none.
pub fn count(text: &str) -> Result<u64, Bad> {
    let text = text.trim();
    refuse(text)?;
    let (number, unit) = match text.strip_suffix(['k', 'K']) {
        Some(n) => (n, 1_000),
        None => text.strip_suffix('M').map_or((text, 1), |n| (n, 1_000_000)),
    };
    positive(digits(number)?.checked_mul(unit).ok_or(Bad::TooBig)?)
}

/// A duration above 0 in milliseconds: `500ms`, `90s`, `15m`, `2h`, `1h30m`; a bare integer is seconds.
///
/// # Errors
/// Why the text is none.
pub fn duration(text: &str) -> Result<u64, Bad> {
    const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
    let text = text.trim();
    refuse(text)?;
    if let Ok(seconds) = digits(text) {
        return positive(seconds.checked_mul(1_000).ok_or(Bad::TooBig)?);
    }
    let (mut rest, mut total, mut next) = (text, 0_u64, 0);
    while !rest.is_empty() {
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        rest = rest.strip_prefix(number.as_str()).unwrap_or_default();
        let unit: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
        rest = rest.strip_prefix(unit.as_str()).unwrap_or_default();
        // Each unit once and the bigger first: `30m1h` is more likely a slip than a wish.
        let later = UNITS.iter().enumerate().skip(next);
        let (index, factor) =
            later.clone().find(|(_, (u, _))| *u == unit).map(|(i, (_, f))| (i, *f)).ok_or(Bad::Form)?;
        next = index + 1;
        let part = digits(&number)?.checked_mul(factor).ok_or(Bad::TooBig)?;
        total = total.checked_add(part).ok_or(Bad::TooBig)?;
    }
    if next == 0 { Err(Bad::Form) } else { positive(total) }
}

/// A whole number above 0 that fits a `u32`.
///
/// # Errors
/// Why the text is none.
pub fn whole(text: &str) -> Result<u32, Bad> {
    let text = text.trim();
    refuse(text)?;
    u32::try_from(positive(digits(text)?)?).map_err(|_| Bad::TooBig)
}

#[cfg(test)]
mod tests;
