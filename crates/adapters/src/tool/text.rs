//! Text for a model: names made safe for one line, near names, and output that is bounded and says what it left out.

use std::borrow::Cow;

/// The most bytes a tool of this module answers with: below what the driver cuts at, so that the tool's own word on how
/// to get the rest is not cut off.
pub(super) const MOST: usize = 48_000;
/// The longest path that a sentence repeats, in characters.
const SHOWN: usize = 200;

/// A name on one line: control characters, which could forge lines, are written out.
pub(super) fn visible(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_control() { text.extend(c.escape_default()) } else { text.push(c) }
    }
    text
}

/// A path for a sentence: in backticks, on one line, bounded.
pub(super) fn shown(path: &str) -> String {
    let mut start: String = path.chars().take(SHOWN).collect();
    if start.len() < path.len() {
        start.push_str("...");
    }
    format!("`{}`", visible(&start))
}

/// The names most like this one, nearest first, at most `most`; none when none is like it.
pub(super) fn nearest<N: AsRef<str>>(name: &str, names: impl Iterator<Item = N>, most: usize) -> Vec<String> {
    let wanted = name.to_lowercase();
    let far = (wanted.chars().count() / 3).max(2);
    let rate = |candidate: N| {
        let text = candidate.as_ref().to_lowercase();
        // A part of a name, such as `main` for `main.rs`, is nearer than any other change of more than one letter.
        let part = wanted.len() >= 3 && text.contains(&wanted) || text.len() >= 3 && wanted.contains(&text);
        // Texts whose lengths differ more are farther, whatever is in them; this also bounds the work.
        let comparable = wanted.len().abs_diff(text.len()) <= far.saturating_mul(4);
        let changes = if comparable { strsim::damerau_levenshtein(&wanted, &text) } else { usize::MAX };
        let distance = changes.min(if part { 1 } else { usize::MAX });
        (distance <= far).then(|| (distance, candidate.as_ref().to_string()))
    };
    let mut rated: Vec<(usize, String)> = names.filter_map(rate).collect();
    rated.sort();
    rated.into_iter().take(most).map(|(_, name)| name).collect()
}

/// Bytes as text, and whether some were no UTF-8; `cut`: the last character may be incomplete and is then dropped.
pub(super) fn decoded(bytes: &[u8], cut: bool) -> (Cow<'_, str>, bool) {
    let whole = match std::str::from_utf8(bytes) {
        Err(error) if cut && error.error_len().is_none() => bytes.get(..error.valid_up_to()).unwrap_or(bytes),
        _ => bytes,
    };
    let text = String::from_utf8_lossy(whole);
    let lossy = matches!(text, Cow::Owned(_));
    (text, lossy)
}

/// `1 byte`, `2 bytes`.
pub(super) fn bytes(n: u64) -> String {
    count(n, "byte", "bytes")
}

/// `1 line`, `2 lines`.
pub(super) fn count(n: u64, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

/// Output that stops growing at [`MOST`] bytes, and remarks of the tool in brackets at its end.
#[derive(Default)]
pub(super) struct Output {
    text: String,
    remarks: Vec<String>,
}

impl Output {
    /// Adds a piece if there is room for it.
    pub(super) fn push(&mut self, piece: &str) -> bool {
        let fits = self.text.len() + piece.len() <= MOST;
        if fits {
            self.text.push_str(piece);
        }
        fits
    }
    /// Adds lines as long as there is room; how many were added.
    pub(super) fn lines(&mut self, lines: &[String]) -> usize {
        lines.iter().take_while(|line| self.push(&format!("{line}\n"))).count()
    }
    /// Nothing was added yet.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
    /// Adds a remark of the tool.
    pub(super) fn remark(&mut self, remark: impl Into<String>) {
        self.remarks.push(remark.into());
    }
    /// Says how many entries the rules kept back.
    pub(super) fn withheld(&mut self, entries: u64) {
        if entries > 0 {
            let what = count(entries, "entry is", "entries are");
            self.remark(format!("{what} withheld: closed by a rule, or a link out of the workspace"));
        }
    }
    /// The whole.
    pub(super) fn finish(mut self) -> String {
        if !self.text.is_empty() && !self.text.ends_with('\n') && !self.remarks.is_empty() {
            self.text.push('\n');
        }
        for remark in &self.remarks {
            self.text.push_str(&format!("[{remark}]\n"));
        }
        self.text
    }
}

#[cfg(test)]
mod tests;
