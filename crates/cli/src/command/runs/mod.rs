//! `runs`: the trees of all stores, newest first; and what is done with old ones.

mod backup;
mod remove;

use crate::ambient::Ambient;
use crate::args::{RunsArgs, RunsCommand};
use crate::exit::Exit;
use crate::fault::Fault;
use crate::out::{Out, one_line};
use crate::past;
use deputize_api::{CostDoc, RunLine, RunsDoc, SCHEMA, UsageDoc, rfc3339, run_line, status_word, text};
use deputize_runtime::port::RunHead;

/// Characters of an objective in a line.
const OBJECTIVE: usize = 60;

/// Lists them, or does what was asked for instead.
pub(crate) async fn execute(args: &RunsArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    match &args.command {
        None => list(args, ambient, out).await,
        Some(RunsCommand::Rm(args)) => remove::rm(args, ambient, out).await,
        Some(RunsCommand::Prune(args)) => remove::prune(args, ambient, out).await,
        Some(RunsCommand::Backup(args)) => backup::execute(args, ambient, out).await,
    }
}

async fn list(args: &RunsArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let mut runs = Vec::new();
    // A state is only known when it has been looked at, so all are looked at.
    let most = if args.status.is_some() { usize::MAX } else { args.limit };
    for found in past::list(&past::shelves(ambient)?, most).await? {
        let root = &found.head.run;
        let live = found.head.status.is_none() && found.shelf.is_driven(root)?;
        let wanted = args.status.as_deref().is_none_or(|status| status == status_word(found.head.status, live));
        if !wanted || runs.len() >= args.limit {
            continue;
        }
        match past::tree(&found.shelf, root).await {
            Ok(tree) => runs.extend(run_line(&tree, root, live)),
            // One that cannot be read keeps nobody from the others.
            Err(fault) => {
                fault.show_beside(out);
                runs.push(from_head(&found.head, live));
            }
        }
    }
    let doc = RunsDoc { schema: SCHEMA, runs };
    out.either(&doc, || table(&doc));
    Ok(Exit::Good)
}

/// What the store's own list says of a run; what it used stands only in its logs.
fn from_head(head: &RunHead, live: bool) -> RunLine {
    RunLine {
        run_id: head.run.clone(),
        root: head.root.clone(),
        team: head.team.clone(),
        agent: head.agent.to_string(),
        objective: head.objective.clone(),
        status: status_word(head.status, live),
        started: rfc3339(head.started),
        ended: head.status.map(|_| rfc3339(head.updated)),
        usage: UsageDoc::default(),
        cost: CostDoc::default(),
    }
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
