//! The brief as a model reads it. Fixed headings in a fixed order; what differs from spawn to spawn without need (the
//! budget) stands last, so that two spawns share their bytes as far as their briefs do.

use crate::answer::REPORT_FENCE;
use crate::brief::{Brief, Origin};
use crate::govern::words;

pub(super) fn text(brief: &Brief) -> String {
    let mut out = String::new();
    section(&mut out, "Objective", &brief.objective.value);
    if let Some(context) = &brief.context {
        section(&mut out, "Context", &context.value);
    }
    section(&mut out, "Form of the result", &brief.output_format.value);
    section(&mut out, "Tools and sources", &brief.guidance.value);
    section(&mut out, "Boundaries", &brief.boundaries.value);
    success(&mut out, brief);
    if brief.output.by != Origin::Default {
        let schema = serde_json::to_string(&brief.output.value).unwrap_or_default();
        let words = format!("Your last message must be one JSON document under this schema:\n{schema}");
        section(&mut out, "Output schema", &words);
    }
    let b = &brief.budget.value;
    let budget = format!(
        "At most {} turns, {} tool calls, {} tokens, {} s.",
        b.turns,
        b.tool_calls,
        b.tokens,
        b.time.div_ceil(1000)
    );
    section(&mut out, "Budget", &budget);
    out
}

/// The value stands byte-exact between its heading and an empty line.
fn section(out: &mut String, heading: &str, value: &str) {
    if !out.is_empty() {
        out.push_str("\n\n");
    }
    out.push_str("# ");
    out.push_str(heading);
    out.push('\n');
    out.push_str(value);
}

fn success(out: &mut String, brief: &Brief) {
    let success = &brief.success.value;
    if success.predicates.is_empty() && success.statements.is_empty() {
        return;
    }
    let mut lines: Vec<String> =
        success.predicates.iter().map(|p| format!("- {} (checked by the program)", words(p))).collect();
    if !success.statements.is_empty() {
        let numbered = success.statements.iter().enumerate().map(|(i, s)| format!("{}. {s}", i + 1));
        lines.extend(numbered);
        lines.push(format!(
            "After your result, report on each numbered condition in one block of this form (met, unmet or unknown):\n\
             {REPORT_FENCE}\n1: met - what shows it\n```"
        ));
    }
    section(out, "Done when", &lines.join("\n"));
}
