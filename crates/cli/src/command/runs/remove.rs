//! `runs rm`, `runs prune`: whole trees that go for good, with their content and the logs of background runs. Owns which
//! may go: what nobody drives, and what is over unless the person says otherwise.

use crate::ambient::Ambient;
use crate::args::{PruneArgs, RmArgs};
use crate::detach;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::out::Out;
use crate::past::{self, Found, Shelf};
use crate::wire::Old;
use deputize_api::{RemovedDoc, SCHEMA, text};
use deputize_core::id::RunId;
use deputize_runtime::port::RunHead;

/// Removes the trees of these ids: all of them, or none when one may not go.
pub(super) async fn rm(args: &RmArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let mut chosen: Vec<Found> = Vec::new();
    for id in &args.ids {
        let found = past::find(ambient, id).await?;
        may_go(&found, args.unfinished)?;
        if chosen.iter().all(|other| other.head.run != found.head.run) {
            chosen.push(found);
        }
    }
    let mut doc = RemovedDoc { schema: SCHEMA, ..RemovedDoc::default() };
    while let Some(first) = chosen.first() {
        let shelf = first.shelf.clone();
        let (here, elsewhere): (Vec<Found>, Vec<Found>) = chosen.into_iter().partition(|found| found.shelf.is(&shelf));
        chosen = elsewhere;
        let heads = here.into_iter().map(|found| found.head.run).collect();
        remove(&shelf, heads, ambient, out, &mut doc).await?;
    }
    out.either(&doc, || said(&doc));
    Ok(Exit::Good)
}

fn may_go(found: &Found, unfinished: bool) -> Result<(), Fault> {
    let RunHead { run, root, status, .. } = &found.head;
    if run != root {
        let text = format!("{run} is a part of the tree of {root}, which only goes as a whole");
        return Err(Fault::new("run.part", text).hint(format!("deputize runs rm {root}")));
    }
    if found.shelf.is_driven(root)? {
        return Err(driven(root));
    }
    if status.is_none() && !unfinished {
        let text = format!("run {run} has not ended: removed, it cannot be resumed any more");
        return Err(Fault::new("run.unfinished", text).hint(format!("deputize runs rm --unfinished {run}")));
    }
    Ok(())
}

fn driven(root: &RunId) -> Fault {
    Fault::new("run.driven", format!("run {root} is being driven by another process"))
        .hint(format!("deputize cancel {root} ends it"))
}

/// Removes the trees that a rule chooses.
pub(super) async fn prune(args: &PruneArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let old = Old { older: args.older, max_size: args.max_size, keep: args.keep };
    if old.older.is_none() && old.max_size.is_none() && old.keep.is_none() {
        let text = "what is to go? name an age, a size or a number";
        let shown = format!("error: {text}: --older 30d, --max-size 1G, --keep 100");
        return Err(Fault::usage(text, shown).hint("deputize runs prune --older 30d --dry-run"));
    }
    let shelves = past::shelves(ambient)?;
    let mut doc = RemovedDoc { schema: SCHEMA, dry_run: args.dry_run, ..RemovedDoc::default() };
    for shelf in &shelves {
        let mut all = Vec::new();
        for head in shelf.store.roots(usize::MAX).await? {
            let ended = head.status.is_some() || args.unfinished;
            let may_go = ended && !shelf.is_driven(&head.run)?;
            all.push((head.run, head.updated, may_go));
        }
        let chosen = shelf.upkeep().choose(&old, all).await?;
        if args.dry_run {
            doc.removed.extend(chosen);
        } else {
            remove(shelf, chosen, ambient, out, &mut doc).await?;
        }
    }
    if !args.dry_run {
        forget_logs(ambient, &shelves).await?;
    }
    out.either(&doc, || said(&doc));
    Ok(Exit::Good)
}

/// Removes trees of one store, and gives back what they took. One that was taken up in the meantime stays.
async fn remove(
    shelf: &Shelf,
    roots: Vec<RunId>,
    ambient: &Ambient,
    out: &Out,
    doc: &mut RemovedDoc,
) -> Result<(), Fault> {
    let upkeep = shelf.upkeep();
    let before = upkeep.stats().await?.bytes;
    for root in roots {
        let Some(lock) = shelf.lock(&root)? else {
            driven(&root).show_beside(out);
            continue;
        };
        doc.runs += upkeep.remove(&root).await?.runs;
        detach::forget(ambient, &root);
        drop(lock);
        doc.removed.push(root);
    }
    upkeep.sweep().await?;
    let mut alone = true;
    for head in shelf.store.roots(usize::MAX).await? {
        alone &= head.status.is_some() || !shelf.is_driven(&head.run)?;
    }
    if !upkeep.shrink_file(alone).await? {
        out.note("the file keeps its size while a run is under way; a later `deputize runs prune` makes it smaller");
    }
    let after = upkeep.stats().await?.bytes;
    doc.bytes_freed += before.saturating_sub(after);
    doc.bytes_left += after;
    Ok(())
}

/// Logs of background runs that no store knows any more.
async fn forget_logs(ambient: &Ambient, shelves: &[Shelf]) -> Result<(), Fault> {
    for run in detach::logs(ambient) {
        let mut known = false;
        for shelf in shelves {
            known |= shelf.store.find(run.as_str(), 1).await?.iter().any(|head| head.run == run);
        }
        if !known {
            detach::forget(ambient, &run);
        }
    }
    Ok(())
}

fn said(doc: &RemovedDoc) -> String {
    let trees = match doc.removed.len() {
        1 => "1 tree".to_string(),
        n => format!("{n} trees"),
    };
    let mut out: String = doc.removed.iter().map(|run| format!("{run}\n")).collect();
    out.push_str(&match doc.dry_run {
        true => format!("{trees} would be removed; nothing was done"),
        false => format!(
            "{trees} removed, {}: {} freed, {} left",
            if doc.runs == 1 { "1 run".to_string() } else { format!("{} runs", doc.runs) },
            text::bytes(doc.bytes_freed),
            text::bytes(doc.bytes_left)
        ),
    });
    out
}
