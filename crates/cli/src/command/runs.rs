//! `runs`: the trees of all stores, newest first.

use crate::ambient::Ambient;
use crate::args::RunsArgs;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::out::{Out, one_line};
use crate::past;
use deputize_api::{RunLine, RunsDoc, SCHEMA, run_line, text};

/// Characters of an objective in a line.
const OBJECTIVE: usize = 60;

/// Lists them.
pub(crate) async fn execute(args: &RunsArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let mut runs = Vec::new();
    for found in past::list(&past::shelves(ambient)?, args.limit).await? {
        let root = &found.head.run;
        let live = found.head.status.is_none() && found.shelf.is_driven(root)?;
        let tree = past::tree(&found.shelf, root).await?;
        runs.extend(run_line(&tree, root, live));
    }
    let doc = RunsDoc { schema: SCHEMA, runs };
    out.either(&doc, || table(&doc));
    Ok(Exit::Good)
}

fn table(doc: &RunsDoc) -> String {
    if doc.runs.is_empty() {
        return "no runs yet".to_string();
    }
    let line = |run: &RunLine| {
        let tokens = text::count(run.usage.input_tokens.saturating_add(run.usage.output_tokens));
        let started = run.started.get(..19).unwrap_or(&run.started).replace('T', " ");
        let (agent, objective) = (one_line(&run.agent, 24), one_line(&run.objective, OBJECTIVE));
        format!("{}  {started}  {:<16}  {tokens:>8}  {agent}: {objective}\n", run.run_id, run.status)
    };
    doc.runs.iter().map(line).collect()
}
