//! Licence expressions: whether a list of accepted licences satisfies one.

/// Whether `expression`, such as `MIT OR (Apache-2.0 AND ISC)`, can be met with the accepted licences alone. `A/B`, the
/// old form, means `A OR B`. What cannot be read is not met.
pub(crate) fn is_met(expression: &str, accepted: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut reader = Reader { words: spaced.split_whitespace().collect(), at: 0, accepted };
    reader.any() == Some(true) && reader.at == reader.words.len()
}

struct Reader<'a> {
    words: Vec<&'a str>,
    at: usize,
    accepted: &'a [String],
}

impl<'a> Reader<'a> {
    fn any(&mut self) -> Option<bool> {
        let mut met = self.all()?;
        while self.take("OR") {
            met |= self.all()?;
        }
        Some(met)
    }

    fn all(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.take("AND") {
            met &= self.one()?;
        }
        Some(met)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let met = self.any()?;
            return self.take(")").then_some(met);
        }
        let name = self.next()?;
        let name = if self.take("WITH") { format!("{name} WITH {}", self.next()?) } else { name.to_owned() };
        Some(self.accepted.contains(&name))
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }

    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at)?;
        self.at += 1;
        Some(word)
    }
}

#[cfg(test)]
mod tests;
