//! What a provider's errors mean: status codes, error objects and broken connections as failures with a reason code.
//!
//! The texts made here are raw. [`super::Http`] redacts every one of them at the one place where failures leave.

use deputize_core::code::{self, Code};
use deputize_core::step::{Failure, Retry};
use reqwest::header::{DATE, HeaderMap, LOCATION, RETRY_AFTER};
use serde_json::Value;
use std::error::Error;
use std::time::{Duration, SystemTime};

/// Who asks for more than this has made a mistake: limits are of a minute, a day or a month.
const LONGEST: Duration = Duration::from_secs(31 * 86_400);

/// What a provider says about an error, in whatever form.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::provider) struct Complaint {
    /// For people.
    pub(super) message: String,
    /// `code`, `type` and `status` of the error object, in lower case.
    pub(super) kinds: Vec<String>,
    /// The status that an error inside a stream has.
    pub(super) status: Option<u16>,
}

impl Complaint {
    /// Reads the body of an error response: JSON in one of its usual forms, or text.
    pub(super) fn of_body(body: &[u8]) -> Complaint {
        match serde_json::from_slice::<Value>(body) {
            Ok(Value::Array(list)) => Complaint::read(list.first().unwrap_or(&Value::Null)),
            Ok(value) => Complaint::read(&value),
            Err(_) => Complaint { message: String::from_utf8_lossy(body).into_owned(), ..Complaint::default() },
        }
    }

    /// Reads an error object, or what an `error` key holds.
    pub(in crate::provider) fn read(value: &Value) -> Complaint {
        let inner = value.get("error").filter(|e| !e.is_null()).unwrap_or(value);
        let text = |key: &str| inner.get(key).or_else(|| value.get(key)).and_then(Value::as_str);
        let message = inner.as_str().or_else(|| text("message")).or_else(|| text("detail"));
        let message =
            message.map_or_else(|| if inner.is_null() { String::new() } else { inner.to_string() }, String::from);
        let kinds = ["code", "type", "status"].iter().filter_map(|k| text(k)).map(str::to_lowercase).collect();
        let status = ["code", "status", "status_code"].iter().find_map(|k| inner.get(*k).and_then(Value::as_u64));
        Complaint {
            message,
            kinds,
            status: status.and_then(|s| u16::try_from(s).ok()).filter(|s| (400..600).contains(s)),
        }
    }

    fn is(&self, part: &str) -> bool {
        self.kinds.iter().any(|kind| kind.contains(part))
    }

    /// Whether the conversation is too long for the model. Servers without a code are known by their words.
    fn is_context(&self) -> bool {
        const WORDS: [&str; 9] = [
            "context length",
            "context window",
            "context size",
            "context limit",
            "maximum context",
            "prompt is too long",
            "input is too long",
            "reduce the length",
            "exceeds the maximum number of tokens",
        ];
        let message = self.message.to_lowercase();
        const KINDS: [&str; 3] = ["context_length", "exceed_context_size", "request_too_large"];
        KINDS.iter().any(|kind| self.is(kind)) || WORDS.iter().any(|words| message.contains(words))
    }

    fn said(&self) -> String {
        let message = self.message.trim();
        if message.is_empty() { String::new() } else { format!(": {message}") }
    }
}

/// What was asked of whom, for messages.
pub(super) struct Asked<'a> {
    pub(super) model: &'a str,
    pub(super) address: &'a str,
    /// What may be wrong when there is nothing at the address.
    pub(super) hint: &'a str,
}

/// An error response. `body` is its beginning, `wait` how long it asks to wait.
pub(super) fn of_response(
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
    wait: Option<Duration>,
    asked: &Asked<'_>,
) -> Failure {
    let complaint = Complaint::of_body(body);
    let Asked { model, address, hint } = asked;
    if (300..400).contains(&status) {
        let to =
            headers.get(LOCATION).map(|to| String::from_utf8_lossy(to.as_bytes()).into_owned()).unwrap_or_default();
        let why = format!(
            "{address} answers {status} with a redirect to `{to}`, which is not followed: set base_url to where it leads"
        );
        return Failure::fixed(code::MODEL_NOT_FOUND, why);
    }
    if status == 404 {
        let said = complaint.said();
        let why = format!("{address} has no model `{model}`, or base_url is not right ({hint}); it answers 404{said}");
        return Failure::fixed(code::MODEL_NOT_FOUND, why);
    }
    let (code, passing) = meaning(status, &complaint);
    let wait = wait.filter(|wait| *wait <= LONGEST);
    // Before what it says, which may be long: whoever reads this wants to know when to come back.
    let until = wait.map(|wait| format!(" and asks to wait {}", span(wait))).unwrap_or_default();
    let why = format!("{address} answers {status} for `{model}`{until}{}", complaint.said());
    let wait = wait.and_then(|wait| u64::try_from(wait.as_millis()).ok());
    let retry = if passing { Retry::After(wait) } else { Retry::Never };
    Failure { code, why, retry }
}

/// An error object where an answer was due.
pub(in crate::provider) fn of_complaint(complaint: &Complaint) -> Failure {
    let why = format!("the provider ended its answer with an error{}", complaint.said());
    let status = complaint.status.unwrap_or_else(|| {
        const KINDS: [(&str, u16); 10] = [
            ("rate_limit", 429),
            ("quota", 429),
            ("resource_exhausted", 429),
            ("invalid_request", 400),
            ("invalid_argument", 400),
            ("auth", 401),
            ("permission", 401),
            ("not_found", 404),
            ("billing", 402),
            ("request_too_large", 413),
        ];
        let known = KINDS.iter().find(|(kind, _)| complaint.is(kind)).map(|(_, status)| *status);
        known.unwrap_or(if complaint.is_context() { 400 } else { 500 })
    });
    let (code, passing) = meaning(status, complaint);
    let retry = if passing { Retry::After(None) } else { Retry::Never };
    Failure { code, why, retry }
}

/// The code of a status, and whether trying again may help.
fn meaning(status: u16, complaint: &Complaint) -> (Code, bool) {
    match status {
        402 => (code::MODEL_RATE_LIMITED, false),
        429 if complaint.is("insufficient_quota") => (code::MODEL_RATE_LIMITED, false),
        408 | 409 | 425 | 429 => (code::MODEL_RATE_LIMITED, true),
        401 | 403 => (code::MODEL_AUTH, false),
        404 => (code::MODEL_NOT_FOUND, false),
        _ if status < 500 && complaint.is_context() => (code::CONTEXT_FULL, false),
        400 if complaint.message.to_lowercase().contains("credit balance is too low") => {
            (code::MODEL_RATE_LIMITED, false)
        }
        400 if complaint.is("api_key") || complaint.message.to_lowercase().contains("api key not valid") => {
            (code::MODEL_AUTH, false)
        }
        400..500 => (code::MODEL_REQUEST, false),
        // llama.cpp has answered 500 for a conversation that does not fit.
        _ if complaint.is("exceed_context_size") => (code::CONTEXT_FULL, false),
        _ => (code::MODEL_OVERLOADED, true),
    }
}

/// How long the provider asks to wait, by the headers that all may send.
pub(super) fn wait(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |name: &str| text(name).and_then(|t| t.parse::<f64>().ok());
    if let Some(wait) = number("retry-after-ms").and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok()) {
        return Some(wait);
    }
    if let Some(seconds) = number(RETRY_AFTER.as_str()) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = httpdate::parse_http_date(text(RETRY_AFTER.as_str())?).ok()?;
    Some(until.duration_since(now(headers)).unwrap_or_default())
}

/// The provider's own clock, if it says what time it is: ours may be wrong.
pub(in crate::provider) fn now(headers: &HeaderMap) -> SystemTime {
    let said = headers.get(DATE).and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
    said.unwrap_or_else(SystemTime::now)
}

/// A wait for people: its two greatest units.
fn span(wait: Duration) -> String {
    let seconds = wait.as_secs();
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, _) => format!("{} s", wait.as_millis() as f64 / 1000.0),
        (0, 0, minutes, 0) => format!("{minutes} min"),
        (0, 0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (0, hours, 0, _) => format!("{hours} h"),
        (0, hours, minutes, _) => format!("{hours} h {minutes} min"),
        (days, 0, ..) => format!("{days} d"),
        (days, hours, ..) => format!("{days} d {hours} h"),
    }
}

/// No response at all.
pub(super) fn of_send(error: &reqwest::Error, asked: &Asked<'_>) -> Failure {
    let causes = causes(error);
    let Asked { address, .. } = asked;
    if error.is_builder() {
        return Failure::fixed(code::MODEL_REQUEST, format!("the request to {address} cannot be made: {causes}"));
    }
    let why = if error.is_connect() {
        format!("cannot reach {address}: {causes}")
    } else {
        format!("the connection to {address} broke before an answer: {causes}")
    };
    Failure::passing(code::MODEL_UNAVAILABLE, why, None)
}

/// The answer broke off.
pub(in crate::provider) fn cut(why: &str) -> Failure {
    Failure::passing(code::MODEL_CUT, format!("the provider's answer broke off: {why}"), None)
}

/// Too long without an answer. The provider may have worked all the same, so the key of the call stays.
pub(super) fn late(what: &str, limit: Duration) -> Failure {
    let why = format!("no {what} from the provider within {} s", limit.as_secs_f64());
    Failure { code: code::MODEL_TIMEOUT, why, retry: Retry::Ambiguous }
}

/// An error and its causes, without the address that the HTTP library would print.
pub(super) fn causes(error: &dyn Error) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        // Wrappers repeat what they wrap, or only say that something is wrong with it.
        if !text.starts_with("client error (") && !texts.iter().any(|t| t.contains(&text)) {
            texts.push(text);
        }
        next = cause.source();
    }
    if texts.is_empty() { "no cause is given".to_string() } else { texts.join(": ") }
}

#[cfg(test)]
mod tests;
