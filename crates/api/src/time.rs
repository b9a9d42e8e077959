//! Moments as RFC 3339 text in UTC. Thirty lines of arithmetic; a date library would be a dependency for one form.

use deputize_core::id::Time;

/// `2026-11-30T23:10:07.123Z`.
pub fn rfc3339(at: Time) -> String {
    let (days, ms) = (at.0 / 86_400_000, at.0 % 86_400_000);
    let (year, month, day) = civil(days);
    let (s, ms) = (ms / 1_000, ms % 1_000);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{ms:03}Z", s / 3600, s / 60 % 60, s % 60)
}

/// Year, month, day of so many days after 1970-01-01 (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn civil(days: u64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let era = z / 146_097;
    let of_era = z % 146_097;
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests;
