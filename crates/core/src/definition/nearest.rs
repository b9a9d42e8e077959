//! The nearest of some known words to a word that is not known.

/// The candidate that is a slip or two of the keyboard away from `word`; none when all are far. Of equals the first wins.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().flat_map(char::to_lowercase).take(64).collect();
    let allowed = (word.len() / 3).clamp(1, 3);
    let scored = candidates.into_iter().map(|c| (distance(&word, c), c));
    scored.filter(|(d, _)| *d <= allowed).min_by_key(|(d, _)| *d).map(|(_, c)| c)
}

/// Insertions, deletions, replacements, and swaps of neighbours.
fn distance(word: &[char], candidate: &str) -> usize {
    let candidate: Vec<char> = candidate.chars().flat_map(char::to_lowercase).take(64).collect();
    // Rows of the table of prefixes: the one before the last, and the last.
    let mut older: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=word.len()).collect();
    let at = |row: &[usize], i: usize| row.get(i).copied().unwrap_or(usize::MAX - 1);
    for (j, c) in candidate.iter().enumerate() {
        let mut next = vec![j + 1];
        for (i, w) in word.iter().enumerate() {
            let replaced = at(&row, i) + usize::from(w != c);
            let mut best = replaced.min(at(&row, i + 1) + 1).min(at(&next, i) + 1);
            let before = |list: &[char], n: usize| n.checked_sub(1).and_then(|n| list.get(n).copied());
            if before(word, i) == Some(*c) && before(&candidate, j) == Some(*w) {
                best = best.min(at(&older, i - 1) + 1);
            }
            next.push(best);
        }
        older = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
