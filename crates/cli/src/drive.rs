//! Driving a tree in this process: progress lines, interrupts, and the result at the end. Owns the order of these; the
//! tree is the runtime's.

use crate::detach;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::interrupt::Interrupts;
use crate::out::Out;
use crate::past::{self, Shelf};
use crate::progress::Progress;
use crate::wire::Lock;
use deputize_api::{RunDoc, WaitingDoc, run_doc, text};
use deputize_core::id::{RunId, Time};
use deputize_runtime::port::StoreError;
use deputize_runtime::{Control, DriveError, Halt, Live, Ready};
use std::time::SystemTime;
use tokio::sync::broadcast::error::RecvError;

/// A tree that is about to be driven here.
pub(crate) struct Drive<'a> {
    /// The tree.
    pub(crate) ready: Ready,
    /// Its lock; freed when the tree is over.
    pub(crate) lock: Lock,
    /// Where its log is.
    pub(crate) shelf: &'a Shelf,
    /// Tokens that it had used before.
    pub(crate) tokens: u64,
    /// What may stop it.
    pub(crate) interrupts: Interrupts,
    /// Whether it is in the background: then its id is announced once its log begins, and the result is a note.
    pub(crate) background: bool,
}

impl Drive<'_> {
    /// Drives it to its end or to an interrupt, prints the result, and says how to end.
    pub(crate) async fn finish(self, out: &Out) -> Result<Exit, Fault> {
        let Drive { ready, lock, shelf, tokens, interrupts, background } = self;
        let root = ready.root().clone();
        let halt = follow(ready, out, tokens, interrupts, background).await;
        drop(lock);
        let halt = halt.map_err(|e| given_up(e, &root))?;
        let doc = document(shelf, &root, false, out).await?;
        if background {
            out.note(&text::run(&doc, now()));
        } else {
            out.either(&doc, || text::run(&doc, now()));
        }
        Ok(match halt {
            Halt::Finished(summary) => Exit::of(summary.status),
            Halt::Interrupted => Exit::Interrupted,
            Halt::Waiting { .. } => Exit::Waiting,
        })
    }
}

/// The driver could not go on. Whether the run can depends on who is to blame.
fn given_up(error: DriveError, root: &RunId) -> Fault {
    match error {
        DriveError::Store(StoreError::Failed(_)) => Fault::from(error)
            .hint(format!("every finished step is recorded; when this is mended: deputize resume {root}")),
        other => Fault::from(other),
    }
}

/// Now, for the time that is left of a wait.
pub(crate) fn now() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Commands name the state folder where it was given by flag.
pub(crate) fn name_home(waiting: &mut [WaitingDoc], out: &Out) {
    for wait in waiting {
        wait.command = out.command(&wait.command);
    }
}

/// The document of a run.
pub(crate) async fn document(shelf: &Shelf, run: &RunId, live: bool, out: &Out) -> Result<RunDoc, Fault> {
    let tree = past::tree(shelf, &run.root()).await?;
    let mut doc = run_doc(&tree, run, live).ok_or_else(|| past::unknown(run.as_str()))?;
    doc.run.next = doc.run.next.map(|command| out.command(&command));
    name_home(&mut doc.waiting, out);
    Ok(doc)
}

/// What is said while a tree runs.
struct Watch<'a> {
    out: &'a Out,
    root: RunId,
    progress: Progress<'a>,
    /// Whether the id is still to be announced.
    announce: bool,
    /// Whether more will come.
    open: bool,
}

impl Watch<'_> {
    fn take(&mut self, item: Result<Live, RecvError>) {
        match item {
            Ok(item) => {
                // The first item: the log has begun, so the run exists.
                if std::mem::take(&mut self.announce) {
                    detach::announce(self.out, &self.root);
                }
                self.progress.show(&item);
            }
            Err(RecvError::Lagged(count)) => self.progress.skipped(count),
            Err(RecvError::Closed) => self.open = false,
        }
    }
}

/// One second is what running steps are given after an interrupt; who interrupts twice does not want to wait for it.
async fn follow(
    ready: Ready,
    out: &Out,
    tokens: u64,
    mut interrupts: Interrupts,
    announce: bool,
) -> Result<Halt, DriveError> {
    let root = ready.root().clone();
    let progress = Progress::new(out, root.clone(), tokens);
    let mut watch = Watch { out, root: root.clone(), progress, announce, open: true };
    let mut items = ready.watch();
    let handle = ready.go();
    let control = handle.controller();
    let mut over = std::pin::pin!(handle.wait());
    let mut asked = false;
    loop {
        tokio::select! {
            biased;
            () = interrupts.next() => {
                if std::mem::replace(&mut asked, true) {
                    out.flush();
                    std::process::exit(i32::from(Exit::Interrupted.number()));
                }
                out.say(&format!("interrupted; to go on: {}", out.command(&format!("deputize resume {root}"))));
                // Fails only when the driver has just ended by itself.
                drop(control.send(Control::Interrupt));
            }
            item = items.recv(), if watch.open => watch.take(item),
            end = &mut over => {
                while let Ok(item) = items.try_recv() {
                    watch.take(Ok(item));
                }
                return end;
            }
        }
    }
}
