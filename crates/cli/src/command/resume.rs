//! `resume`: an interrupted tree goes on, from any folder. Owns the rebuilding of its world from what was stored with it.

use crate::ambient::Ambient;
use crate::args::IdArgs;
use crate::drive::{self, Drive};
use crate::exit::Exit;
use crate::fault::Fault;
use crate::interrupt::Interrupts;
use crate::out::Out;
use crate::past::{self, Found, Shelf};
use crate::wire::{self, Lock};
use deputize_adapters::loader::Setup;
use deputize_api::text;
use deputize_core::event::{Event, Started};
use deputize_core::id::{Digest, RunId};
use std::sync::Arc;

/// Goes on with the tree of a run; one that is over is shown and left alone.
pub(crate) async fn execute(args: &IdArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let Found { shelf, head } = past::find(ambient, &args.id).await?;
    let root = head.root;
    if let Some(exit) = over(&shelf, &root, out).await? {
        return Ok(exit);
    }
    let lock = lock(&shelf, &root)?;
    // It may have ended between the look and the lock.
    if let Some(exit) = over(&shelf, &root, out).await? {
        return Ok(exit);
    }
    let stored = stored(&shelf, &root).await?;
    script_is_there(&stored.setup)?;
    let world = wire::world(&stored.setup, ambient, shelf.store.clone())?;
    let interrupts = Interrupts::listen(false)?;
    let tokens = past::tree(&shelf, &root).await?.spent(&root).usage.tokens();
    let team = Arc::new(stored.setup.team);
    let ready = deputize_runtime::resume(world, &root, team, stored.digest).await?;
    out.note(&format!("run {root} goes on"));
    let drive = Drive { ready, lock, shelf: &shelf, tokens, interrupts, background: false };
    drive.to_the_end(out).await
}

/// Shows a tree that is over.
async fn over(shelf: &Shelf, root: &RunId, out: &Out) -> Result<Option<Exit>, Fault> {
    let heads = shelf.store.tree(root).await?;
    let Some(status) = heads.into_iter().find(|head| head.run == *root).and_then(|head| head.status) else {
        return Ok(None);
    };
    let doc = drive::document(shelf, root, false).await?;
    out.note(&format!("run {root} is over; nothing was done"));
    out.either(&doc, || text::run(&doc));
    Ok(Some(Exit::of(status)))
}

/// The right to drive a tree.
fn lock(shelf: &Shelf, root: &RunId) -> Result<Lock, Fault> {
    shelf.lock(root)?.ok_or_else(|| {
        Fault::new("run.driven", format!("run {root} is being driven by another process")).hint(format!(
            "deputize trace {root} shows what it does; deputize cancel {root} ends it; `deputize watch {root}` is not in this build"
        ))
    })
}

/// What was stored with a tree.
pub(super) struct Stored {
    /// Its setup.
    pub(super) setup: Setup,
    /// The setup's digest.
    pub(super) digest: Digest,
}

/// Reads what was stored with a tree.
pub(super) async fn stored(shelf: &Shelf, root: &RunId) -> Result<Stored, Fault> {
    let log = shelf.store.read(root, 0).await?;
    let Some(Event::RunStarted(started)) = log.into_iter().next().map(|record| record.event) else {
        return Err(Fault::new("store.damaged", format!("the log of {root} does not begin with the start of a run")));
    };
    let Started { team: digest, .. } = *started;
    let lost = |why: String| {
        Fault::new("run.setup", format!("run {root} cannot go on: what it was started with {why}"))
            .hint(format!("deputize trace {root} still shows all of it"))
    };
    let blob = shelf.store.get(&digest).await?.ok_or_else(|| lost("is not in the store".to_string()))?;
    let setup = serde_json::from_slice(&blob)
        .map_err(|e| lost(format!("cannot be read by this version of the program ({e})")))?;
    Ok(Stored { setup, digest })
}

/// Said before the provider says it, and with what to do.
fn script_is_there(setup: &Setup) -> Result<(), Fault> {
    let scripts = setup.providers.values().filter_map(|provider| provider.script.as_ref());
    for script in scripts {
        if !script.is_file() {
            let text = format!("the script {} of this run is not there any more", script.display());
            return Err(Fault::new("script.missing", text).hint("put it back; the run goes on from where it stopped"));
        }
    }
    Ok(())
}
