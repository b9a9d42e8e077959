//! Server-sent events out of a stream of bytes that may be cut anywhere. Knows nothing of what the events mean.

/// The parser's state between two pieces: the line and the event that are not complete yet.
///
/// Source: WHATWG HTML, "Server-sent events", of which only `data` is used.
#[derive(Debug, Default)]
pub struct Sse {
    line: Vec<u8>,
    data: Option<String>,
    /// The last piece ended in CR, whose LF may come with the next.
    after_cr: bool,
    begun: bool,
}

impl Sse {
    /// Takes a piece in; gives the data of every event that it completes.
    pub fn push(&mut self, piece: &[u8]) -> Vec<String> {
        let mut events = Vec::new();
        let mut rest = piece;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(at) = rest.iter().position(|b| matches!(b, b'\n' | b'\r')) {
            let Some((line, tail)) = rest.split_at_checked(at) else {
                break;
            };
            self.line.extend_from_slice(line);
            events.extend(self.end_of_line());
            rest = match tail {
                [b'\r', b'\n', after @ ..] => after,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [_, after @ ..] => after,
                [] => &[],
            };
        }
        self.line.extend_from_slice(rest);
        events
    }

    /// The stream is at its end: what it left without the closing blank line.
    pub fn finish(mut self) -> Option<String> {
        let before = self.end_of_line();
        before.or_else(|| self.data.take())
    }

    fn end_of_line(&mut self) -> Option<String> {
        let bytes = std::mem::take(&mut self.line);
        // Only whole lines are decoded, so a character that was cut between two pieces is whole here.
        let text = String::from_utf8_lossy(&bytes);
        let first = !std::mem::replace(&mut self.begun, true);
        let line = if first { text.strip_prefix('\u{feff}').unwrap_or(&text) } else { &text };
        if line.is_empty() {
            return self.data.take();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        // A line that begins with a colon is a comment, its field is empty. `event`, `id` and `retry` are not used here.
        if field == "data" {
            self.add(value.strip_prefix(' ').unwrap_or(value));
        }
        None
    }

    fn add(&mut self, value: &str) {
        match &mut self.data {
            Some(data) => {
                data.push('\n');
                data.push_str(value);
            }
            None => self.data = Some(value.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;
