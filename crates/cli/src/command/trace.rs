//! `trace`: a tree, or the part of it below a run, with every step.

use crate::ambient::Ambient;
use crate::args::TraceArgs;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::out::Out;
use crate::past;
use deputize_api::{text, trace_doc};
use std::fmt::Write as _;

/// Shows it.
pub(crate) async fn execute(args: &TraceArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let found = past::find(ambient, &args.id.id).await?;
    let (run, root) = (&found.head.run, &found.head.root);
    let live = found.shelf.is_driven(root)?;
    let tree = past::tree(&found.shelf, root).await?;
    let doc = trace_doc(&tree, run, live, args.events);
    past::report_torn(&found.shelf, out);
    out.either(&doc, || {
        let mut shown = text::tree(&tree, run, live);
        for traced in &doc.runs {
            for record in traced.events.iter().flatten() {
                let event = serde_json::to_string(record).unwrap_or_default();
                let _ = writeln!(shown, "{} {event}", traced.run.run_id);
            }
        }
        shown
    });
    Ok(Exit::Good)
}
