//! What must hold of every log at every prefix, of every request, and of a log that is replayed.

use deputize_core::definition::Team;
use deputize_core::event::{self, Event, Recorded};
use deputize_core::id::{Label, RunId};
use deputize_core::message::{Message, Request};
use deputize_core::run::RunState;
use deputize_core::step::{Ask, Delegation, Then};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a log has said so far, kept beside the fold and without its help.
#[derive(Default)]
struct Seen {
    len: u64,
    open: BTreeMap<Label, u32>,
    due: BTreeMap<Label, u32>,
    done: BTreeSet<Label>,
    delegated: BTreeMap<Label, Arc<Delegation>>,
    finished: bool,
    state: RunState,
}

/// The checker of a tree's logs.
#[derive(Default)]
pub(crate) struct Checker {
    logs: BTreeMap<RunId, Seen>,
}

impl Checker {
    /// Takes the next record of a log.
    pub(crate) fn append(&mut self, run: &RunId, record: &Recorded) {
        let text = serde_json::to_string(record).unwrap();
        let back = event::read(&text).unwrap_or_else(|e| panic!("{run}: unreadable {text}: {e}"));
        assert_eq!(&back, record, "{run}: a record must survive its JSON form");
        if let Event::RunStarted(started) = &record.event {
            assert_eq!(record.seq, 0, "{run}: the start of a run is its first event");
            if let Some((parent, label)) = &started.parent {
                let above = &self.logs[parent];
                assert!(above.open.contains_key(label), "{run}: its delegation {label} is not open");
                let delegation = &above.delegated[label];
                assert_eq!(delegation.brief, started.brief, "{run}: it starts from another brief");
            }
        }
        let seen = self.logs.entry(run.clone()).or_default();
        assert!(!seen.finished, "{run}: an event after its end: {record:?}");
        assert_eq!(record.seq, seen.len, "{run}: a gap");
        seen.take(run, &back);
    }
}

impl Seen {
    fn take(&mut self, run: &RunId, record: &Recorded) {
        self.len += 1;
        match &record.event {
            Event::RunStarted(_)
            | Event::Recovered { .. }
            | Event::Adopted { .. }
            | Event::Woke { .. }
            | Event::CancelRequested { .. } => {}
            Event::MessageReceived { text, .. } => assert!(!text.trim().is_empty(), "{run}: nothing was said"),
            Event::ResultDiscarded { label, attempt, .. } => {
                assert!(self.open.get(label).is_none_or(|open| open != attempt), "{run}: {label} is waited for");
            }
            Event::StepStarted(start) => self.start(run, start),
            Event::StepPrepared { label, attempt, .. } => {
                assert_eq!(self.open.get(label), Some(attempt), "{run}: {label} is not open");
            }
            Event::StepSucceeded { label, attempt, .. } => self.close(run, label, *attempt, Then::Final),
            Event::StepFailed { label, attempt, then, .. }
            | Event::StepRejected { label, attempt, then, .. }
            | Event::StepInDoubt { label, attempt, then, .. } => self.close(run, label, *attempt, then.clone()),
            Event::StepInterrupted { label, attempt, .. } => {
                self.close(run, label, *attempt, Then::Retry { attempt: *attempt, not_before: record.at });
            }
            Event::StepDenied { label, .. } => {
                assert!(!self.open.contains_key(label), "{run}: {label} is denied while it is open");
                self.due.remove(label);
                assert!(self.done.insert(label.clone()), "{run}: {label} has its outcome already");
            }
            Event::Decided { label, .. } => assert!(self.done.insert(label.clone()), "{run}: {label} decided twice"),
            Event::RunFinished { summary } => {
                assert!(self.open.is_empty(), "{run}: it ends with open steps: {:?}", self.open);
                assert_eq!(&summary.run, run, "{run}: the account of another run");
                self.finished = true;
            }
        }
        self.state.evolve(record);
        self.money(run);
    }

    fn start(&mut self, run: &RunId, start: &event::StepStart) {
        let label = &start.label;
        assert!(!self.done.contains(label), "{run}: {label} starts after its outcome");
        let expected = self.due.remove(label).unwrap_or(1);
        assert_eq!(start.attempt, expected, "{run}: {label} starts with another attempt");
        assert!(self.open.insert(label.clone(), start.attempt).is_none(), "{run}: {label} is open already");
        match &*start.ask {
            Ask::Delegate { .. } => {
                assert!(start.reserve.tokens > 0 && start.reserve.runs > 0, "{run}: {label} reserves nothing");
                let delegation = start.delegation.clone().unwrap();
                let budget = &delegation.brief.budget.value;
                assert_eq!((budget.tokens, budget.runs), (start.reserve.tokens, start.reserve.runs), "{run}: {label}");
                self.delegated.insert(label.clone(), delegation);
            }
            Ask::Model { .. } => assert!(start.digest.is_some() && start.reserve.tokens > 0, "{run}: {label}"),
            Ask::Tool { .. } | Ask::Probe { .. } | Ask::Decide { .. } => {}
        }
    }

    fn close(&mut self, run: &RunId, label: &Label, attempt: u32, then: Then) {
        assert_eq!(
            self.open.remove(label),
            Some(attempt),
            "{run}: an outcome for {label}#{attempt}, which is not open"
        );
        match then {
            Then::Retry { attempt, .. } | Then::Wait { attempt, .. } | Then::Fallback { attempt, .. } => {
                self.due.insert(label.clone(), attempt);
            }
            Then::Final => assert!(self.done.insert(label.clone()), "{run}: {label} has its outcome already"),
        }
    }

    fn money(&self, run: &RunId) {
        let ledger = self.state.ledger();
        let used = ledger.spent.usage.tokens() + ledger.reserved.tokens;
        assert!(used <= ledger.cap.tokens + ledger.excess, "{run}: {used} tokens of {:?}", ledger);
        let runs = ledger.spent.runs + ledger.reserved.runs;
        assert!(runs <= ledger.cap.runs, "{run}: {runs} runs of {}", ledger.cap.runs);
        if self.open.is_empty() {
            assert_eq!((ledger.reserved.tokens, ledger.reserved.runs), (0, 0), "{run}: reserved for nothing");
        }
    }
}

/// What a strict server asks of a request: each call answered once and in order, no empty text, unique ids.
pub(crate) fn request(request: &Request) {
    let mut waiting: Vec<String> = Vec::new();
    let mut ids = BTreeSet::new();
    assert!(matches!(request.messages.first(), Some(Message::User { .. })), "it begins with the task");
    assert!(!request.system.trim().is_empty() && request.max_output > 0);
    for message in &request.messages {
        match message {
            Message::User { text } => {
                assert!(waiting.is_empty(), "calls without a result: {waiting:?}");
                assert!(!text.trim().is_empty(), "an empty user message");
            }
            Message::Assistant { text, calls, .. } => {
                assert!(waiting.is_empty(), "calls without a result: {waiting:?}");
                assert!(!text.trim().is_empty() || !calls.is_empty(), "an empty answer");
                for call in calls {
                    assert!(ids.insert(call.id.clone()), "the id {} twice", call.id);
                    assert!(call.id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'), "{}", call.id);
                    let value: serde_json::Value = serde_json::from_str(&call.arguments).unwrap();
                    assert!(value.is_object(), "arguments are no object: {value}");
                    waiting.push(call.id.clone());
                }
            }
            Message::Tool { call, text, .. } => {
                assert!(!text.trim().is_empty(), "an empty result");
                assert_eq!(waiting.first(), Some(call), "a result out of order");
                waiting.remove(0);
            }
        }
    }
    assert!(waiting.is_empty(), "calls without a result: {waiting:?}");
    assert!(!matches!(request.messages.last(), Some(Message::Assistant { .. })), "it ends with an answer");
}

/// Every derived event must be what follows from the log before it.
pub(crate) fn replay(team: &Team, log: &[Recorded]) {
    let mut state = RunState::default();
    for record in log {
        if record.event.is_derived() {
            let next = state.advance(team);
            assert_eq!(next.events.first(), Some(&record.event), "at {}", record.seq);
        }
        state.evolve(record);
    }
}
