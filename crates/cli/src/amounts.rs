//! Ages, sizes and counts as flags say them. Owns these forms; those of files are the core's.

use deputize_core::definition::decode::amount;

/// `30d`, `2w`, else what files say: `12h`, `90m`. In milliseconds.
pub(crate) fn age(text: &str) -> Result<u64, String> {
    const DAY: u64 = 86_400_000;
    let whole = |number: &str, unit: u64| amount::whole(number).ok().and_then(|n| u64::from(n).checked_mul(unit));
    let found = match (text.strip_suffix('d'), text.strip_suffix('w')) {
        (Some(days), _) => whole(days, DAY),
        (_, Some(weeks)) => whole(weeks, 7 * DAY),
        _ => amount::duration(text).ok(),
    };
    found.ok_or_else(|| "write an age such as 30d, 2w or 12h".to_string())
}

/// `500M`, `1G`, `64k`, or bytes; a k is 1,024.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    const UNITS: [(char, u64); 4] = [('k', 1 << 10), ('M', 1 << 20), ('G', 1 << 30), ('T', 1 << 40)];
    let unit = UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(*unit)?, *factor)));
    let (number, factor) = unit.unwrap_or((text, 1));
    let found = number.parse::<u64>().ok().and_then(|n| n.checked_mul(factor));
    found.ok_or_else(|| "write a size such as 500M or 1G".to_string())
}

/// A number above 0.
pub(crate) fn some(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| "write 1 or more".to_string())
}

#[cfg(test)]
mod tests;
