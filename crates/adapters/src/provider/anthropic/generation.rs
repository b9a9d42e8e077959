//! What differs between the models behind this API, by the version in their names. A model of no known version is taken for
//! one of the newest; one that is not of Anthropic's family (compatible servers) for one of the middle.

/// How a model is asked to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thinking {
    /// It cannot.
    Never,
    /// Within a budget of tokens.
    Budget,
    /// As much as it finds right, guided by an effort.
    Adaptive,
}

/// What a model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Generation {
    pub(super) thinking: Thinking,
    /// Whether it takes a sampling temperature; the newest answer 400.
    pub(super) temperature: bool,
    /// Whether it can be held to a schema.
    pub(super) structured: bool,
}

impl Generation {
    pub(super) fn of(model: &str) -> Generation {
        let name = model.to_lowercase();
        let Some((_, tail)) = name.split_once("claude-") else {
            return Generation { thinking: Thinking::Budget, temperature: true, structured: false };
        };
        let version = version(tail).unwrap_or((u32::MAX, 0));
        let thinking = match version {
            (..3, _) | (3, ..7) => Thinking::Never,
            (3, _) | (4, ..6) => Thinking::Budget,
            _ => Thinking::Adaptive,
        };
        Generation { thinking, temperature: version < (4, 7), structured: version >= (4, 5) }
    }
}

/// The version in a name such as `sonnet-4-5-20250929` or `3-7-sonnet`. A date has more digits.
fn version(tail: &str) -> Option<(u32, u32)> {
    let parts: Vec<&str> = tail.split(['-', '.', '@']).collect();
    let number = |part: &&str| part.parse::<u32>().ok().filter(|_| part.len() <= 2);
    let at = parts.iter().position(|part| number(part).is_some())?;
    let major = parts.get(at).and_then(number)?;
    Some((major, parts.get(at + 1).and_then(number).unwrap_or(0)))
}

#[cfg(test)]
mod tests;
