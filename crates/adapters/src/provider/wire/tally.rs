//! The tokens of one call: as the provider counts them, and estimated where it does not.

use super::read;
use crate::provider::estimate;
use deputize_core::message::Usage;
use deputize_core::step::Failure;

/// How much is kept of what was no part of an answer, in bytes.
const STRAY: usize = 1024;

/// What is known of a call's tokens so far. Of several counts the last holds: some servers count up with every piece.
#[derive(Debug, Default)]
pub(in crate::provider) struct Tally {
    /// Bytes of the request and of the answer, for the estimate.
    sent: usize,
    said: usize,
    /// Something of the answer was there, so the provider has read and will bill the request.
    begun: bool,
    input: Option<u64>,
    cached: Option<u64>,
    output: Option<u64>,
    /// The first that came and was no part of an answer, to be shown if no answer follows.
    stray: Vec<u8>,
}

impl Tally {
    pub(in crate::provider) fn new(sent: usize) -> Tally {
        Tally { sent, ..Tally::default() }
    }

    /// So many bytes of an answer came; none is a beginning too.
    pub(in crate::provider) fn said(&mut self, bytes: usize) {
        self.begun = true;
        self.said = self.said.saturating_add(bytes);
    }

    /// Something was taken in, whatever it was.
    pub(in crate::provider) fn heard(&mut self, json: &[u8]) {
        if !self.begun && self.stray.is_empty() {
            self.stray.extend(json.iter().take(STRAY));
        }
    }

    /// Whether anything of an answer came.
    ///
    /// # Errors
    /// Nothing did; the text shows what came instead.
    pub(in crate::provider) fn any(&self) -> Result<(), Failure> {
        if self.begun { Ok(()) } else { Err(read::unreadable(&self.stray, None)) }
    }

    /// Takes a count in: input with what was cached of it, and output. What is not counted leaves the last count as it was.
    pub(in crate::provider) fn counted(&mut self, input: Option<u64>, cached: Option<u64>, output: Option<u64>) {
        self.input = input.or(self.input);
        self.cached = cached.or(self.cached);
        self.output = output.or(self.output);
    }

    /// Tokens that are known to be paid for, whatever becomes of the call.
    pub(in crate::provider) fn paid(&self) -> Usage {
        let known = self.begun || self.input.or(self.output).is_some();
        if known { self.usage() } else { Usage::default() }
    }

    /// The tokens of a complete call.
    pub(in crate::provider) fn usage(&self) -> Usage {
        let input_tokens = self.input.unwrap_or_else(|| estimate(self.sent));
        let output_tokens = self.output.unwrap_or_else(|| estimate(self.said));
        let cached_tokens = self.cached.unwrap_or_default().min(input_tokens);
        Usage { input_tokens, cached_tokens, output_tokens }
    }
}
