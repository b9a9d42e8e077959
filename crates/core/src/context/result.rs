//! What a model reads as the result of a call: exactly one text for each call, whatever became of it, marked as data,
//! bounded, never empty.

use crate::code;
use crate::definition::{DELEGATE, Team};
use crate::id::Label;
use crate::run::RunState;
use crate::step::{Outcome, Product, Refusal};
use crate::summary::{Summary, Terminal};
use serde_json::{Map, Value, json};

/// The longest name of a tool in the mark of its result, in characters.
const NAME: usize = 64;
/// The longest source in the mark of a fence, in characters.
const SOURCE: usize = 100;

/// What a model is shown of one result: words of the program, then what others wrote, which is data and stands in a fence.
pub(super) struct Shown {
    head: String,
    data: Option<(String, String)>,
}

impl Shown {
    /// Words of the program, or of the model itself.
    pub(super) fn plain(head: String) -> Shown {
        Shown { head, data: None }
    }
    fn data(head: String, source: &str, text: &str) -> Shown {
        let text = if text.is_empty() { "(no output)" } else { text };
        let good = |c: &char| !c.is_control() && !"<>\"".contains(*c);
        let source = source.chars().filter(good).take(SOURCE).collect();
        Shown { head, data: Some((source, harmless(text))) }
    }
    fn with(&self, body: &str) -> String {
        let Some((source, _)) = &self.data else { return self.head.clone() };
        let gap = if self.head.is_empty() { "" } else { "\n" };
        format!("{}{gap}<data from=\"{source}\">\n{body}\n</data>", self.head)
    }
    /// All of it.
    pub(super) fn whole(&self) -> String {
        self.with(self.data.as_ref().map_or("", |(_, body)| body))
    }
    /// At most about so many bytes. What is cut is cut inside the fence: an open fence would make data of all that follows.
    pub(super) fn within(&self, most: usize) -> String {
        let whole = self.whole();
        let Some((source, body)) = &self.data else { return bounded(&whole, most) };
        let around = whole.len() - body.len();
        if whole.len() <= most {
            whole
        } else if around < most {
            self.with(&bounded(body, most - around))
        } else if self.head.is_empty() {
            format!("[{source}: left out, there is no room]")
        } else {
            bounded(&self.head, most)
        }
    }
}

/// The result of one call. `evidence` counts the successful tool steps before it.
pub(super) fn of(state: &RunState, team: &Team, label: &Label, name: &str, evidence: &mut usize) -> Shown {
    let Some(outcome) = state.outcome(label.as_str()) else {
        return Shown::plain(failure(&code::STEP_STOPPED, "not performed"));
    };
    match outcome {
        Outcome::Ok(Product::Output(output)) => {
            *evidence += 1;
            let whole = output
                .whole
                .as_ref()
                .map(|b| format!("\n[cut: the whole has {} bytes, kept as artifact {}]", b.len, b.sha256));
            let text = format!("{}{}", output.text, whole.unwrap_or_default());
            Shown::data(String::new(), &format!("{} [e{evidence}]", code::clip(name, NAME)), &text)
        }
        Outcome::Ok(Product::Summary(summary)) => delegated(team, summary),
        Outcome::Ok(_) => Shown::data(String::new(), name, "done"),
        Outcome::Failed { code, why } if name == DELEGATE => Shown::plain(
            json!({"status": "failed", "mode": "delegated", "reason_code": code, "reason": why, "output": null})
                .to_string(),
        ),
        Outcome::Failed { code, why } => Shown::plain(failure(code, why)),
        Outcome::Denied(refusal) => Shown::plain(refused(refusal)),
    }
}

fn failure(code: &code::Code, why: &str) -> String {
    json!({"error": code, "reason": why}).to_string()
}

fn refused(refusal: &Refusal) -> String {
    let Some(mode) = refusal.mode else { return failure(&refusal.code, &format!("refused: {}", refusal.why)) };
    match &refusal.fallback {
        None => json!({"mode": mode, "reason_code": refusal.code, "reason": format!("rejected: {}", refusal.why)})
            .to_string(),
        Some(f) => json!({
            "mode": mode,
            "reason_code": refusal.code,
            "reason": refusal.why,
            "answer": f.answer,
            "known": f.known,
            "note": "No agent ran. Answer this part yourself and say in your answer that no specialist did it."
        })
        .to_string(),
    }
}

/// A child's account: the status first, so that a failure cannot be taken for an answer. The program's words stand before
/// the fence; reasons and findings quote what a model wrote, so they stand inside like the payload.
fn delegated(team: &Team, summary: &Summary) -> Shown {
    let mut head = Map::new();
    head.insert("status".into(), json!(summary.status));
    if summary.status != Terminal::Succeeded {
        head.insert("unverified".into(), json!(note(summary)));
    }
    head.insert("mode".into(), "delegated".into());
    head.insert("agent".into(), json!(summary.agent));
    head.insert("run_id".into(), json!(summary.run));
    if summary.partial {
        head.insert("partial".into(), true.into());
    }
    if let Some(code) = &summary.reason_code {
        head.insert("reason_code".into(), json!(code));
    }
    head.insert("evidence".into(), json!(summary.evidence.len()));
    let mut body = String::new();
    if let Some(reason) = &summary.reason {
        body.push_str(&format!("reason: {reason}\n"));
    }
    if !summary.findings.is_empty() {
        head.insert("findings".into(), json!(summary.findings.len()));
    }
    for finding in summary.findings.iter().take(10) {
        body.push_str(&format!("finding {}: {}\n", finding.code, finding.text));
    }
    let payload = serde_json::to_string(&summary.payload).unwrap_or_default();
    let most = super::bytes(team.output_limits.child_summary);
    if !body.is_empty() {
        body.push_str("output: ");
    }
    body.push_str(&bounded(&payload, most));
    if let (true, Some(artifact)) = (payload.len() > most, &summary.artifact) {
        body.push_str(&format!("\n[the whole has {} bytes, kept as artifact {}]", artifact.len, artifact.sha256));
    }
    Shown::data(Value::Object(head).to_string(), &format!("output of {}", summary.agent), &body)
}

fn note(summary: &Summary) -> &'static str {
    match summary.status {
        Terminal::Unmet => "The success condition was not shown to be met. Do not present this as established.",
        _ if summary.partial && summary.status != Terminal::Failed => {
            "The agent was cut short. What follows is incomplete."
        }
        _ => {
            "This is not an answer. Decide: try again with a new brief, give it to another agent, do it yourself, or leave it out and say so."
        }
    }
}

/// The text with a space of no width in every closing mark, in whatever letter case.
fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _) in text.to_ascii_lowercase().match_indices("</data") {
        out.push_str(text.get(from..=at).unwrap_or_default());
        out.push('\u{200b}');
        from = at + 1;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// The beginning of a text, at most so many bytes, cut at a character and marked as cut.
pub fn bounded(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_string();
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text.get(..end).unwrap_or_default();
    format!("{head}\n[cut: {} of {} bytes shown]", head.len(), text.len())
}
