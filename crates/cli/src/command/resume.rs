//! `resume`: an interrupted tree goes on, from any folder, in the world that was stored with it.

use crate::adopt;
use crate::ambient::Ambient;
use crate::args::ResumeArgs;
use crate::drive::{self, Drive};
use crate::exit::Exit;
use crate::fault::Fault;
use crate::interrupt::Interrupts;
use crate::out::Out;
use crate::past::{self, Found, Shelf};
use crate::stored::Stored;
use crate::wire::{self, Lock};
use deputize_api::text;
use deputize_core::id::{RunId, Time};
use deputize_core::projection::{self, Tree};
use std::sync::Arc;

/// Who asks for changed definitions, as the log says it.
const BY: &str = "the command line";

/// Goes on with the tree of a run; one that is over is shown and left alone.
pub(crate) async fn execute(args: &ResumeArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let Found { shelf, head } = past::find(ambient, &args.run.id).await?;
    let root = head.root;
    if let Some(exit) = over(&shelf, &root, out).await? {
        return Ok(exit);
    }
    let lock = lock(&shelf, &root)?;
    // It may have ended between the look and the lock.
    if let Some(exit) = over(&shelf, &root, out).await? {
        return Ok(exit);
    }
    let (stored, digest) = Stored::of(&shelf, &root).await?;
    out.set_redactor(&ambient.secrets(stored.variables()));
    if !stored.setup.workspace.is_dir() {
        let text = format!("the workspace {} is not there any more", stored.setup.workspace.display());
        return Err(Fault::new("workspace.missing", text)
            .hint("put it back; the run goes on from where it stopped, in the folder that it began in"));
    }
    let change = adopt::look(&stored, &root, args.adopt, ambient, out)?;
    let adopts = change.is_some();
    let stored = change.unwrap_or(stored);
    let world = wire::world(&stored, ambient, shelf.store.clone())?;
    let interrupts = Interrupts::listen(false)?;
    let tree = past::tree(&shelf, &root).await?;
    let (tokens, early) = (tree.spent(&root).usage.tokens(), is_early(&tree, &root));
    let blob = stored.bytes()?;
    let team = Arc::new(stored.setup.team);
    let ready = if adopts {
        deputize_runtime::adopt(world, &root, team, blob, BY).await?
    } else {
        deputize_runtime::resume(world, &root, team, digest).await?
    };
    past::report_torn(&shelf, out);
    out.note(&format!("run {root} {}", if early { "waits on: its moment has not come" } else { "goes on" }));
    let drive = Drive { ready, lock, shelf: &shelf, tokens, interrupts, background: false };
    drive.finish(out).await
}

/// Whether everything that the tree waits for is still to come.
fn is_early(tree: &Tree, root: &RunId) -> bool {
    let now = drive::now();
    let later = |until: Option<Time>| until.is_some_and(|at| at > now);
    projection::waits(tree, root) && projection::waiting(tree, root).iter().all(|row| later(row.until))
}

/// Shows a tree that is over.
async fn over(shelf: &Shelf, root: &RunId, out: &Out) -> Result<Option<Exit>, Fault> {
    let heads = shelf.store.tree(root).await?;
    let Some(status) = heads.into_iter().find(|head| head.run == *root).and_then(|head| head.status) else {
        return Ok(None);
    };
    let doc = drive::document(shelf, root, false, out).await?;
    out.note(&format!("run {root} is over; nothing was done"));
    out.either(&doc, || text::run(&doc, drive::now()));
    Ok(Some(Exit::of(status)))
}

/// The right to drive a tree.
fn lock(shelf: &Shelf, root: &RunId) -> Result<Lock, Fault> {
    shelf.lock(root)?.ok_or_else(|| {
        Fault::new("run.driven", format!("run {root} is being driven by another process"))
            .hint(format!("deputize watch {root} shows what it does; deputize cancel {root} ends it"))
    })
}
