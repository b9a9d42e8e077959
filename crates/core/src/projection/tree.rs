//! A whole tree from its logs: every run with its folded state, parents before children, children in call order.

use crate::budget::Spend;
use crate::event::{Event, Recorded};
use crate::id::{Label, RunId, Time};
use crate::run::{RunState, call_order};
use crate::step::Ask;
use crate::summary::Evidence;

/// One run of a tree.
pub struct RunView {
    /// Its id.
    pub id: RunId,
    /// Its folded state.
    pub state: RunState,
    /// Its log.
    pub log: Vec<Recorded>,
    /// What its own steps used, without its children.
    pub own: Spend,
}

impl RunView {
    fn take(&mut self, record: Recorded) {
        self.state.evolve(&record);
        if let Some((label, spent)) = spent(&record.event) {
            // What a child used is in the child's own steps.
            let child = self.state.step(label).is_some_and(|s| matches!(&*s.ask, Ask::Delegate { .. }));
            if !child {
                self.own.add(spent);
            }
        }
        self.log.push(record);
    }
    /// When it started.
    pub fn started(&self) -> Option<Time> {
        self.log.first().map(|r| r.at)
    }
    /// When it was over.
    pub fn ended(&self) -> Option<Time> {
        self.state.summary()?;
        self.log.last().map(|r| r.at)
    }
    /// The parent run and the step that delegated to it.
    pub fn parent(&self) -> Option<&(RunId, Label)> {
        self.state.started()?.parent.as_ref()
    }
}

/// All runs of a tree.
#[derive(Default)]
pub struct Tree {
    runs: Vec<RunView>,
}

impl Tree {
    /// Folds the logs of a tree; an empty log is left out.
    pub fn new(logs: Vec<(RunId, Vec<Recorded>)>) -> Tree {
        let mut tree = Tree::default();
        logs.into_iter().for_each(|(id, log)| tree.unsorted(id, log));
        tree.runs.sort_by_cached_key(|r| order(&r.id));
        tree
    }
    /// Takes what was appended to a log since, in its order; a run that is not known yet begins with it.
    pub fn grow(&mut self, id: &RunId, more: Vec<Recorded>) {
        match self.runs.iter_mut().find(|r| r.id == *id) {
            Some(run) => more.into_iter().for_each(|record| run.take(record)),
            None => {
                self.unsorted(id.clone(), more);
                self.runs.sort_by_cached_key(|r| order(&r.id));
            }
        }
    }
    fn unsorted(&mut self, id: RunId, log: Vec<Recorded>) {
        if !log.is_empty() {
            let (state, own) = (RunState::default(), Spend { runs: 1, ..Spend::default() });
            let mut run = RunView { id, state, log: Vec::with_capacity(log.len()), own };
            log.into_iter().for_each(|record| run.take(record));
            self.runs.push(run);
        }
    }
    /// Every run, parents before children, children in call order.
    pub fn runs(&self) -> &[RunView] {
        &self.runs
    }
    /// One run.
    pub fn run(&self, id: &RunId) -> Option<&RunView> {
        self.runs.iter().find(|r| r.id == *id)
    }
    /// The run and everything below it.
    pub fn subtree<'a>(&'a self, id: &'a RunId) -> impl Iterator<Item = &'a RunView> {
        let below = format!("{id}/");
        self.runs.iter().filter(move |r| r.id == *id || r.id.as_str().starts_with(&below))
    }
    /// What the run and all below it have used.
    pub fn spent(&self, id: &RunId) -> Spend {
        let mut all = Spend::default();
        self.subtree(id).for_each(|r| all.add(&r.own));
        all
    }
    /// The causal chain of a run: from the root down to it, each with the step that led on, and the evidence it rests on.
    pub fn path(&self, id: &RunId) -> Vec<(&RunView, Option<&Label>)> {
        let mut chain = Vec::new();
        let mut at = self.run(id);
        let mut led_to: Option<&Label> = None;
        while let Some(run) = at {
            chain.push((run, led_to));
            let parent = run.parent();
            led_to = parent.map(|(_, label)| label);
            at = parent.and_then(|(p, _)| self.run(p));
        }
        chain.reverse();
        chain
    }
    /// The evidence of a run.
    pub fn evidence(&self, id: &RunId) -> Vec<Evidence> {
        self.run(id).map(|r| r.state.evidence()).unwrap_or_default()
    }
}

fn order(id: &RunId) -> Vec<(String, u64)> {
    id.as_str().split('/').map(|s| call_order(&Label::under("", s)).pop().unwrap_or_default()).collect()
}

fn spent(event: &Event) -> Option<(&Label, &Spend)> {
    match event {
        Event::StepSucceeded { label, spent, .. }
        | Event::StepFailed { label, spent, .. }
        | Event::StepRejected { label, spent, .. }
        | Event::StepInDoubt { label, presumed: spent, .. }
        | Event::StepInterrupted { label, presumed: spent, .. } => Some((label, spent)),
        _ => None,
    }
}
