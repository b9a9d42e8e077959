//! Which requirements are named by tests.
//!
//! A requirement is a line `- [ ] E-11: text` of the requirements file; the box is checked once a test names it. A test
//! names it by a comment line `// covers E-11, L-30` or by its own name, `fn e_11_no_objective()`.

use std::collections::{BTreeMap, BTreeSet};

const COMMENT: &str = "covers ";

/// What the requirements file says and what the tests say.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    file: String,
    /// Every id with its line and whether its box is checked.
    known: BTreeMap<String, (usize, bool)>,
    named: BTreeSet<String>,
    /// What is wrong, as `file:line: covers: text`.
    pub(crate) errors: Vec<String>,
}

impl Coverage {
    /// Reads the requirements file.
    pub(crate) fn of(file: &str, text: &str) -> Coverage {
        let mut coverage = Coverage { file: file.to_owned(), ..Coverage::default() };
        for (at, line) in text.lines().enumerate() {
            if let Some((id, checked)) = requirement(line)
                && coverage.known.insert(id.to_owned(), (at + 1, checked)).is_some()
            {
                coverage.error(file, at + 1, &format!("{id} is there twice"));
            }
        }
        coverage
    }

    /// Reads a source file; only files that hold tests may claim to cover anything.
    pub(crate) fn read(&mut self, path: &str, text: &str, holds_tests: bool) {
        for (at, line) in text.lines().enumerate() {
            if let Some(claim) = claim(line) {
                if holds_tests {
                    self.claim(path, at + 1, claim);
                } else {
                    self.error(path, at + 1, "only a test covers a requirement");
                }
            } else if let Some(id) = name_of_test(line).filter(|_| holds_tests)
                && self.known.contains_key(&id)
            {
                self.named.insert(id);
            }
        }
    }

    /// To be called when all files are read.
    pub(crate) fn finish(&mut self) {
        let known = self.known.clone();
        for (id, (line, checked)) in known {
            if checked && !self.named.contains(&id) {
                let file = self.file.clone();
                self.error(&file, line, &format!("{id} is marked as covered, but no test names it"));
            }
        }
    }

    /// Ids that tests name and the file does not mark.
    pub(crate) fn unmarked(&self) -> Vec<&str> {
        let open = self.known.iter().filter(|(_, (_, checked))| !checked);
        open.map(|(id, _)| id.as_str()).filter(|id| self.named.contains(*id)).collect()
    }

    /// The text of the requirements file with a checked box for each id that a test names. Boxes are never unchecked.
    pub(crate) fn marked(&self, text: &str) -> String {
        let mark = |line: &str| match requirement(line) {
            Some((id, false)) if self.named.contains(id) => line.replacen("[ ]", "[x]", 1),
            _ => line.to_owned(),
        };
        text.split('\n').map(mark).collect::<Vec<_>>().join("\n")
    }

    /// One line: how many ids tests name, in all and by group.
    pub(crate) fn summary(&self) -> String {
        let mut groups: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for id in self.known.keys() {
            let group = id.split('-').next().unwrap_or_default();
            let (named, all) = groups.entry(group).or_default();
            *named += usize::from(self.named.contains(id));
            *all += 1;
        }
        let parts: Vec<String> = groups.iter().map(|(group, (named, all))| format!("{group} {named}/{all}")).collect();
        let (named, all) = (self.named.len(), self.known.len());
        format!("docs: tests name {named} of {all} requirements ({})", parts.join(", "))
    }

    fn claim(&mut self, path: &str, line: usize, claim: &str) {
        let words = claim.split([',', ' ']).filter(|word| !word.is_empty());
        for word in words {
            if self.known.contains_key(word) {
                self.named.insert(word.to_owned());
            } else if is_id(word) {
                let text = format!("{word} is not in {}", self.file);
                self.error(path, line, &text);
            } else {
                let text = format!("`{word}` is no id: write `// covers E-11, L-30`");
                self.error(path, line, &text);
            }
        }
    }

    fn error(&mut self, path: &str, line: usize, text: &str) {
        self.errors.push(format!("{path}:{line}: covers: {text}"));
    }
}

/// The id of a requirement line and whether its box is checked.
fn requirement(line: &str) -> Option<(&str, bool)> {
    let (rest, checked) = match line.strip_prefix("- [ ] ") {
        Some(rest) => (rest, false),
        None => (line.strip_prefix("- [x] ")?, true),
    };
    let (id, _) = rest.split_once(':')?;
    is_id(id).then_some((id, checked))
}

/// What follows `// covers`.
fn claim(line: &str) -> Option<&str> {
    let comment = line.trim_start().strip_prefix("//")?;
    comment.trim_start_matches('/').trim_start().strip_prefix(COMMENT)
}

/// The id at the front of a function's name: `fn e_11_...` is E-11.
fn name_of_test(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let name = words.find(|word| *word == "fn").and_then(|_| words.next())?;
    let mut parts = name.split(['_', '(', '<']);
    let id = format!("{}-{}", parts.next()?.to_uppercase(), parts.next()?);
    is_id(&id).then_some(id)
}

/// One capital, a dash, two digits or more.
fn is_id(word: &str) -> bool {
    word.split_once('-').is_some_and(|(group, number)| {
        let one = group.len() == 1 && group.chars().all(|c| c.is_ascii_uppercase());
        one && number.len() >= 2 && number.chars().all(|c| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests;
