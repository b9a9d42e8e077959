//! The nearest of some known words to a word that is not known.

/// The candidate that is a slip or two of the keyboard away from `word`; none when all are far. Of equals the first wins.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().flat_map(char::to_lowercase).take(64).collect();
    let allowed = (word.len() / 3).clamp(1, 3);
    let scored = candidates.into_iter().map(|c| (distance(&word, c), c));
    scored.filter(|(d, _)| *d <= allowed).min_by_key(|(d, _)| *d).map(|(_, c)| c)
}

/// Insertions, deletions and replacements; a swap of neighbours counts as two.
fn distance(word: &[char], candidate: &str) -> usize {
    let mut row: Vec<usize> = (0..=word.len()).collect();
    for (i, c) in candidate.chars().flat_map(char::to_lowercase).take(64).enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (w, above) in word.iter().zip(row.iter().skip(1)) {
            let cost = usize::from(*w != c);
            left = (diagonal + cost).min(above + 1).min(left + 1);
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(usize::MAX)
}
