//! `watch`: a tree as it grows, read from the store, whoever drives it or nobody. On a terminal the whole tree is drawn
//! anew; elsewhere it is printed once and then a line for each change. Owns when it ends; writes nothing to the store.

mod frame;

use crate::ambient::Ambient;
use crate::args::WatchArgs;
use crate::drive;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::interrupt::Interrupts;
use crate::out::Out;
use crate::past;
use crate::progress::Progress;
use crate::screen::Screen;
use deputize_api::{conversation, text};
use deputize_core::event::Recorded;
use deputize_core::id::RunId;
use deputize_core::projection::Tree;
use deputize_runtime::Follower;
use std::time::Duration;

/// How often the store is asked for what is new.
const EVERY: Duration = Duration::from_millis(200);

/// Watches it until it ends, until nobody drives it any more, or until the person has seen enough.
pub(crate) async fn execute(args: &WatchArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let id = args.child.as_ref().map_or_else(|| args.id.id.clone(), |child| format!("{}/{child}", args.id.id));
    let found = past::find(ambient, &id).await?;
    let (shelf, run, root) = (&found.shelf, &found.head.run, &found.head.root);
    let mut interrupts = Interrupts::listen(false)?;
    let mut follower = Follower::new(shelf.store.clone(), root.clone());
    let mut view = View::new(args, out, run, ambient);
    let exit = loop {
        // Asked before the look, so that what a driver appended before it left is seen.
        let live = shelf.is_driven(root)?;
        let news = follower.look().await?;
        view.show(follower.tree(), run, &news, live);
        let summary = follower.tree().run(run).and_then(|run| run.state.summary());
        match summary {
            Some(summary) => break Exit::of(summary.status),
            None if !live => break Exit::Interrupted,
            None => {}
        }
        tokio::select! {
            () = interrupts.next() => {
                let again = out.command(&format!("deputize watch {run}"));
                out.say(&format!("no longer watched; the run goes on. To watch it again: {again}"));
                break Exit::Interrupted;
            }
            () = tokio::time::sleep(EVERY) => {}
        }
    };
    past::report_torn(shelf, out);
    let doc = drive::document(shelf, run, shelf.is_driven(root)?, out).await?;
    out.either(&doc, || text::run(&doc, drive::now()));
    Ok(if doc.run.status == "waiting" { Exit::Waiting } else { exit })
}

/// How it is shown.
enum View<'a> {
    /// The tree, drawn anew.
    Screen(Screen<'a>),
    /// The tree, then a line for each change.
    Lines { out: &'a Out, progress: Progress<'a>, begun: bool },
    /// One run's conversation, from this place on.
    Conversation { out: &'a Out, from: u64 },
}

impl<'a> View<'a> {
    fn new(args: &WatchArgs, out: &'a Out, run: &RunId, ambient: &Ambient) -> View<'a> {
        if args.child.is_some() || args.conversation {
            return View::Conversation { out, from: 0 };
        }
        match Screen::of(out, ambient) {
            Some(screen) => View::Screen(screen),
            None => View::Lines { out, progress: Progress::new(out, run.clone(), 0), begun: false },
        }
    }

    fn show(&mut self, tree: &Tree, run: &RunId, news: &[(RunId, Recorded)], live: bool) {
        match self {
            View::Screen(screen) => screen.draw(&frame::lines(tree, run, live)),
            View::Conversation { out, from } => {
                let Some(view) = tree.run(run) else { return };
                beside(out, &conversation(view, *from));
                *from = view.state.next_seq();
            }
            View::Lines { out, progress, begun } => {
                let below: Vec<String> = lines(progress, tree, run, news);
                // What was before is in the tree as a whole.
                let now = if std::mem::replace(begun, true) { below } else { frame::lines(tree, run, live) };
                now.iter().for_each(|line| beside(out, line));
            }
        }
    }
}

/// A line for each change at or below a run.
fn lines(progress: &mut Progress<'_>, tree: &Tree, run: &RunId, news: &[(RunId, Recorded)]) -> Vec<String> {
    let inside = |of: &RunId| of == run || of.as_str().starts_with(&format!("{run}/"));
    let mut said = Vec::new();
    for (of, record) in news.iter().filter(|(of, _)| inside(of)) {
        if let Some(started) = tree.run(of).and_then(|view| view.state.started()) {
            said.extend(progress.said(of, &started.path, record));
        }
    }
    said
}

/// With `--json` standard output is for the one document at the end.
fn beside(out: &Out, text: &str) {
    if out.json() { out.note(text) } else { out.result(text) }
}
