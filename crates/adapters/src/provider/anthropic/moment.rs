//! Moments as Anthropic writes them: RFC 3339 in UTC, such as `2026-12-01T03:30:00Z`.

use std::time::{Duration, SystemTime};

/// Reads a moment; none for any other form, and for what lies before 1970.
pub(super) fn parse(text: &str) -> Option<SystemTime> {
    let (date, time) = text.trim().strip_suffix('Z')?.split_once('T')?;
    let whole = time.split_once('.').map_or(time, |(whole, _)| whole);
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(whole, ':')?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days(year, month, day)?.checked_mul(86_400)?.checked_add(hour * 3600 + minute * 60 + second)?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

fn numbers(text: &str, between: char) -> Option<[u64; 3]> {
    let parts: Vec<u64> = text.split(between).map(|part| part.parse().ok()).collect::<Option<_>>()?;
    parts.try_into().ok()
}

/// Days from 1970-01-01 to a date. Years begin in March here, so that a leap day is the last of its year.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = if month <= 2 { year.checked_sub(1)? } else { year };
    let since_march = (month + 9) % 12;
    let in_year = (153 * since_march + 2) / 5 + day - 1;
    let leaps = year / 4 - year / 100 + year / 400;
    year.checked_mul(365)?.checked_add(leaps + in_year)?.checked_sub(719_468)
}

#[cfg(test)]
mod tests;
