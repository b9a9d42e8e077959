//! `cancel`: a run and everything below it ends. The process that drives the tree does it; if none does, it is done here,
//! in a world in which nothing else happens.

use crate::ambient::Ambient;
use crate::args::IdArgs;
use crate::drive;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::out::Out;
use crate::past::{self, Shelf};
use crate::stored::Stored;
use crate::wire::{self, Lock};
use deputize_api::text;
use deputize_core::event::Event;
use deputize_core::id::RunId;
use deputize_runtime::port::Signal;
use deputize_runtime::{Control, Halt, Live};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

/// Who asks, as the log says it.
const BY: &str = "the command line";
/// How often the log is looked at.
const EVERY: Duration = Duration::from_millis(100);
/// How long a run may take to end. A driver looks for signals four times a second.
const PATIENCE: Duration = Duration::from_secs(30);

/// Ends it, and shows it.
pub(crate) async fn execute(args: &IdArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let found = past::find(ambient, &args.id).await?;
    let (shelf, run, root) = (&found.shelf, &found.head.run, &found.head.root);
    if found.head.status.is_some() {
        out.note(&format!("run {run} is over already; nothing was done"));
    } else {
        end(shelf, run, root).await?;
    }
    let live = shelf.is_driven(root)?;
    let doc = drive::document(shelf, run, live, out).await?;
    out.either(&doc, || text::run(&doc, drive::now()));
    Ok(Exit::Good)
}

async fn end(shelf: &Shelf, run: &RunId, root: &RunId) -> Result<(), Fault> {
    let until = Instant::now() + PATIENCE;
    let mut told = false;
    while !is_over(shelf, run).await? {
        // A driver that dies frees its lock; then it is done here after all.
        if let Some(lock) = shelf.lock(root)? {
            return end_here(shelf, run, root, lock, until).await;
        }
        if !std::mem::replace(&mut told, true) {
            let signal = Signal::Cancel { run: run.clone(), by: BY.to_string() };
            shelf.store.signal(root, signal).await?;
        }
        if Instant::now() >= until {
            return Err(late(run));
        }
        tokio::time::sleep(EVERY).await;
    }
    Ok(())
}

async fn is_over(shelf: &Shelf, run: &RunId) -> Result<bool, Fault> {
    let heads = shelf.store.find(run.as_str(), 1).await?;
    Ok(heads.into_iter().any(|head| head.run == *run && head.status.is_some()))
}

fn late(run: &RunId) -> Fault {
    let text = format!("run {run} was told to end {} s ago and has not yet", PATIENCE.as_secs());
    Fault::new("cancel.pending", text).hint(format!("it will when what it waits for returns: deputize show {run}"))
}

/// Takes the tree up in a world in which nothing happens, until the run is over.
async fn end_here(shelf: &Shelf, run: &RunId, root: &RunId, lock: Lock, until: Instant) -> Result<(), Fault> {
    if is_over(shelf, run).await? {
        return Ok(());
    }
    let (stored, digest) = Stored::of(shelf, root).await?;
    let world = wire::still_world(shelf.store.clone());
    let team = Arc::new(stored.setup.team);
    // Asked for before it goes: a tree that waits is left again at once.
    let ready = deputize_runtime::resume(world, root, team, digest).await?.cancel(run, BY);
    let mut watch = ready.watch();
    let handle = ready.still().go();
    let control = handle.controller();
    let mut over = std::pin::pin!(handle.wait());
    let mut watching = true;
    let halt = loop {
        tokio::select! {
            end = &mut over => break end?,
            item = watch.recv(), if watching => match item {
                // The rest of the tree stays as it was: interrupted.
                Ok(item) if ends(&item, run) && run != root => drop(control.send(Control::Interrupt)),
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => watching = false,
            },
            () = tokio::time::sleep_until(until) => {
                drop(control.send(Control::Interrupt));
                return Err(late(run));
            }
        }
    };
    drop(lock);
    match halt {
        Halt::Finished(_) => Ok(()),
        _ if is_over(shelf, run).await? => Ok(()),
        _ => Err(late(run)),
    }
}

fn ends(item: &Live, run: &RunId) -> bool {
    matches!(item, Live::Event { run: of, record, .. } if of == run && matches!(record.event, Event::RunFinished { .. }))
}
