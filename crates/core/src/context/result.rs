//! What a model reads as the result of a call: exactly one text for each call, whatever became of it, marked as data,
//! bounded, never empty.

use crate::code;
use crate::definition::{DELEGATE, Team};
use crate::id::Label;
use crate::run::RunState;
use crate::step::{Outcome, Product, Refusal};
use crate::summary::{Summary, Terminal};
use serde_json::{Map, Value, json};

/// The result of one call. `evidence` counts the successful tool steps before it.
pub(super) fn text(state: &RunState, team: &Team, label: &Label, name: &str, evidence: &mut usize) -> String {
    let Some(outcome) = state.outcome(label.as_str()) else {
        return failure(&code::STEP_STOPPED, "not performed");
    };
    match outcome {
        Outcome::Ok(Product::Output(output)) => {
            *evidence += 1;
            let whole = output
                .whole
                .as_ref()
                .map(|b| format!("\n[cut: the whole has {} bytes, kept as artifact {}]", b.len, b.sha256));
            fenced(&format!("{name} [e{evidence}]"), &format!("{}{}", output.text, whole.unwrap_or_default()))
        }
        Outcome::Ok(Product::Summary(summary)) => delegated(team, summary),
        Outcome::Ok(_) => fenced(name, "done"),
        Outcome::Failed { code, why } if name == DELEGATE => {
            json!({"status": "failed", "mode": "delegated", "reason_code": code, "reason": why, "output": null})
                .to_string()
        }
        Outcome::Failed { code, why } => failure(code, why),
        Outcome::Denied(refusal) => refused(refusal),
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

/// A child's account: the status first, so that a failure cannot be taken for an answer.
fn delegated(team: &Team, summary: &Summary) -> String {
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
        head.insert("reason".into(), json!(summary.reason));
    }
    head.insert("evidence".into(), json!(summary.evidence.len()));
    if !summary.findings.is_empty() {
        let findings: Vec<Value> =
            summary.findings.iter().take(10).map(|f| json!({"code": f.code, "text": f.text})).collect();
        head.insert("findings".into(), findings.into());
    }
    let payload = serde_json::to_string(&summary.payload).unwrap_or_default();
    let most = super::bytes(team.output_limits.child_summary);
    let mut output = bounded(&payload, most);
    if let (true, Some(artifact)) = (payload.len() > most, &summary.artifact) {
        output.push_str(&format!("\n[the whole has {} bytes, kept as artifact {}]", artifact.len, artifact.sha256));
    }
    format!("{}\n{}", Value::Object(head), fenced(&format!("output of {}", summary.agent), &output))
}

fn note(summary: &Summary) -> &'static str {
    match summary.status {
        Terminal::Unmet => "The success condition was not shown to be met. Do not present this as established.",
        _ if summary.partial => "The agent was cut short. What follows is incomplete.",
        _ => {
            "This is not an answer. Decide: try again with a new brief, give it to another agent, do it yourself, or leave it out and say so."
        }
    }
}

/// Marks a text as data; a closing mark inside it is made harmless.
fn fenced(source: &str, text: &str) -> String {
    let text = if text.is_empty() { "(no output)" } else { text };
    let source: String = source.chars().filter(|c| !c.is_control() && !"<>\"".contains(*c)).collect();
    format!("<data from=\"{source}\">\n{}\n</data>", harmless(text))
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
