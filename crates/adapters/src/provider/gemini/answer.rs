//! What the provider said so far: chunks of a stream, or a whole answer, into a turn and its usage.

use super::parts::Kept;
use super::wait;
use crate::provider::wire::failure::{self, Complaint};
use crate::provider::wire::{Answer, Tally, count, read};
use deputize_core::code;
use deputize_core::id::ModelName;
use deputize_core::message::{Arguments, Reasoning, Stop, ToolCall, Turn, Usage};
use deputize_core::step::{Failure, Retry};
use deputize_runtime::port::{Delta, Reply};
use serde::Deserialize;
use serde_json::{Map, Value};

/// An answer on its way.
pub(in crate::provider) struct Said {
    model: ModelName,
    text: String,
    calls: Vec<ToolCall>,
    kept: Kept,
    finish: Option<String>,
    /// What the provider says about the end.
    remark: Option<String>,
    /// Why the prompt was not answered at all.
    blocked: Option<String>,
    tally: Tally,
    delta: Delta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<Feedback>,
    usage_metadata: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    index: Option<u64>,
    content: Option<Content>,
    finish_reason: Option<String>,
    finish_message: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    parts: Option<Vec<Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

impl Said {
    pub(super) fn new(model: ModelName, sent: usize, delta: Delta) -> Said {
        Said {
            model,
            text: String::new(),
            calls: Vec::new(),
            kept: Kept::default(),
            finish: None,
            remark: None,
            blocked: None,
            tally: Tally::new(sent),
            delta,
        }
    }

    fn candidate(&mut self, candidate: Candidate) {
        self.tally.said(0);
        for part in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
            self.part(part);
        }
        self.remark = candidate.finish_message.or(self.remark.take());
        let reason = candidate.finish_reason.filter(|r| !r.is_empty() && r != "FINISH_REASON_UNSPECIFIED");
        self.finish = reason.or(self.finish.take());
    }

    fn part(&mut self, part: Value) {
        if part.get("thought") == Some(&Value::Bool(true)) {
            self.tally.said(0);
            self.kept.thought(part);
        } else if let Some(called) = part.get("functionCall") {
            self.tally.said(called.to_string().len());
            self.kept.call(self.calls.len(), called.get("id"), &part);
            self.calls.push(call(called));
        } else if let Some(text) = part.get("text").and_then(Value::as_str) {
            self.tally.said(text.len());
            self.kept.text(self.text.len(), self.text.len() + text.len(), &part);
            if !text.is_empty() {
                (self.delta)(text);
                self.text.push_str(text);
            }
        }
    }

    /// Thoughts are output that is counted apart; what tools of the provider brought in is input that is.
    fn count(&mut self, usage: &Value) {
        let sum = |keys: [&str; 2]| {
            let counts: Vec<u64> = keys.iter().filter_map(|key| count(usage.get(*key))).collect();
            (!counts.is_empty()).then(|| counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count)))
        };
        let input = sum(["promptTokenCount", "toolUsePromptTokenCount"]);
        let output = sum(["candidatesTokenCount", "thoughtsTokenCount"]);
        self.tally.counted(input, count(usage.get("cachedContentTokenCount")), output);
    }

    /// Why the model stopped, with what is to be shown when a filter left no text.
    fn stop(&self) -> Result<(Stop, Option<String>), Failure> {
        if let Some(reason) = &self.blocked {
            return Ok((Stop::Filter, Some(format!("the provider blocked the prompt: {reason}"))));
        }
        let done = if self.calls.is_empty() { Stop::End } else { Stop::ToolCalls };
        let Some(reason) = self.finish.as_deref() else { return Ok((done, None)) };
        let remark = self.remark.as_deref().map(|remark| format!(": {remark}")).unwrap_or_default();
        match reason {
            "STOP" => Ok((done, None)),
            "MAX_TOKENS" => Ok((Stop::Length, None)),
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => {
                Ok((Stop::Filter, Some(format!("the provider blocked the answer: {reason}{remark}"))))
            }
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" | "MALFORMED_RESPONSE" => {
                let why = format!("the model's calls cannot be used, says the provider: {reason}{remark}");
                Err(Failure::passing(code::MODEL_MALFORMED, why, None))
            }
            "MISSING_THOUGHT_SIGNATURE" => {
                let why = format!("the provider misses a signature in the conversation: {reason}{remark}");
                Err(Failure::fixed(code::MODEL_REQUEST, why))
            }
            // Any other word means that the answer is not whole, also one that is not known yet.
            _ => Err(failure::cut(&format!("it stopped with {reason}{remark}"))),
        }
    }
}

impl Answer for Said {
    fn absorb(&mut self, json: &[u8]) -> Result<(), Failure> {
        let chunk: Chunk = read(json)?;
        if let Some(error) = chunk.error.filter(|e| !e.is_null()) {
            let failure = failure::of_complaint(&Complaint::read(&error));
            let wait = wait(&error).and_then(|wait| u64::try_from(wait.as_millis()).ok());
            let retry = if failure.retry == Retry::Never { Retry::Never } else { Retry::After(wait) };
            return Err(Failure { retry, ..failure });
        }
        if let Some(usage) = chunk.usage_metadata {
            self.count(&usage);
        }
        if let Some(reason) = chunk.prompt_feedback.and_then(|feedback| feedback.block_reason) {
            self.tally.said(0);
            self.blocked = Some(reason);
        }
        // Only one answer is asked for.
        for candidate in chunk.candidates.unwrap_or_default() {
            if candidate.index.unwrap_or_default() == 0 {
                self.candidate(candidate);
            }
        }
        self.tally.heard(json);
        Ok(())
    }

    fn finished(&self) -> bool {
        self.finish.is_some() || self.blocked.is_some()
    }

    fn paid(&self) -> Usage {
        self.tally.paid()
    }

    fn close(self) -> Result<Reply, Failure> {
        self.tally.any()?;
        let (stop, shown) = self.stop()?;
        let by = self.model;
        let reasoning = self.kept.blocks().map(|blocks| Reasoning { by, blocks });
        let text = if self.text.is_empty() { shown.unwrap_or_default() } else { self.text };
        Ok(Reply { turn: Turn { text, calls: self.calls, stop, reasoning }, usage: self.tally.usage() })
    }
}

fn call(called: &Value) -> ToolCall {
    let name = called.get("name").and_then(Value::as_str).unwrap_or_default().to_string();
    let arguments = match called.get("args") {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(arguments) => arguments.clone(),
    };
    ToolCall { name, arguments: Arguments::Json(arguments) }
}

#[cfg(test)]
mod tests;
