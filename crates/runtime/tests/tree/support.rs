//! What the tests of reported faults share.

use deputize_core::event::{Event, Recorded};
use deputize_core::id::RunId;
use deputize_core::message::{Message, Request};
use deputize_runtime::{Handle, Live, Ready};
use deputize_testkit::stage::ROOT;
use deputize_testkit::{Stage, valid};
use std::sync::Arc;
use tokio::sync::broadcast::Receiver;

/// Goes on until an event of this run is as told.
pub(crate) async fn until(live: &mut Receiver<Live>, of: &str, is: impl Fn(&Event) -> bool) -> Arc<Recorded> {
    loop {
        if let Live::Event { run, record, .. } = live.recv().await.unwrap()
            && run.as_str() == of
            && is(&record.event)
        {
            return record;
        }
    }
}

/// A started tree and what happens in it.
pub(crate) async fn go(stage: &Stage) -> (Handle, Receiver<Live>) {
    going(stage.ready_on(stage.world()).await.unwrap())
}

/// The same of a tree that is taken up.
pub(crate) async fn take_up(stage: &Stage) -> Ready {
    let setup = deputize_core::digest::of_bytes(b"{}");
    deputize_runtime::resume(stage.world(), &RunId::new(ROOT), stage.team.clone(), setup).await.unwrap()
}

pub(crate) fn going(ready: Ready) -> (Handle, Receiver<Live>) {
    let live = ready.watch();
    (ready.go(), live)
}

/// The requests of an agent, in order; every one is valid.
pub(crate) fn requests(stage: &Stage, path: &str) -> Vec<Arc<Request>> {
    let calls = stage.model.calls();
    for call in &calls {
        valid::request(&call.request).unwrap_or_else(|e| panic!("{} {}: {e}", call.path, call.label));
    }
    calls.into_iter().filter(|c| c.path.as_str() == path).map(|c| c.request).collect()
}

/// `user`, `assistant`, `tool` of each message.
pub(crate) fn roles(request: &Request) -> Vec<&'static str> {
    let role = |m: &Message| match m {
        Message::User { .. } => "user",
        Message::Assistant { .. } => "assistant",
        Message::Tool { .. } => "tool",
    };
    request.messages.iter().map(role).collect()
}

/// The text of a message.
pub(crate) fn text(message: &Message) -> &str {
    match message {
        Message::User { text } | Message::Assistant { text, .. } | Message::Tool { text, .. } => text,
    }
}

pub(crate) fn started(event: &Event) -> bool {
    matches!(event, Event::StepStarted(_))
}

pub(crate) fn is_over(event: &Event) -> bool {
    matches!(event, Event::RunFinished { .. })
}
