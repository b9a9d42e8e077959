//! What a program sees, and the words it is written in: step, model, calls, scope, join.

use super::{Flow, Move};
use crate::answer::{self, Answer};
use crate::brief::{Brief, Predicate, Success};
use crate::code::clip;
use crate::definition::{DELEGATE, Definition, Team};
use crate::id::{Label, ToolName};
use crate::message::{ToolCall, Turn};
use crate::step::{Ask, EffectClass, Form, Outcome, Product, Prompt, Task};

/// The longest name of a tool, in characters.
const NAME: usize = 64;

/// What the log knows of a step.
pub enum Known<'a> {
    /// Nothing: it was never wanted.
    Unknown,
    /// It is under way, waits, or is tried again.
    Pending {
        /// What was asked.
        ask: &'a Ask,
    },
    /// It has its final outcome.
    Done {
        /// What was asked.
        ask: &'a Ask,
        /// The outcome.
        outcome: &'a Outcome,
    },
}

/// The part of the folded state that programs may see.
pub trait Facts {
    /// What is known of a step.
    fn find(&self, label: &Label) -> Known<'_>;
    /// Whole turns of a scope: answered, and every call has its outcome.
    fn turns(&self, scope: &str) -> u64;
    /// The newest answer of a step that broke its contract.
    fn rejected(&self, label: &Label) -> Option<&Product>;
}

/// A read-only look at a run from one scope of labels.
#[derive(Clone)]
pub struct View<'a> {
    facts: &'a dyn Facts,
    team: &'a Team,
    agent: &'a Definition,
    brief: &'a Brief,
    prefix: String,
}

/// All of them, in the order given; the missing ones of every branch are wanted at once.
///
/// # Errors
/// The wants of all branches together, or the first end among them.
pub fn join<T>(flows: impl IntoIterator<Item = Flow<T>>) -> Flow<Vec<T>> {
    let (mut done, mut wants, mut blocked) = (Vec::new(), Vec::new(), false);
    for flow in flows {
        match flow {
            Ok(value) => done.push(value),
            Err(Move::Want(more)) => {
                blocked = true;
                wants.extend(more);
            }
            Err(end) => return Err(end),
        }
    }
    if blocked { Err(Move::Want(wants)) } else { Ok(done) }
}

impl<'a> View<'a> {
    /// The view of a whole run.
    pub fn root(facts: &'a dyn Facts, team: &'a Team, agent: &'a Definition, brief: &'a Brief) -> View<'a> {
        View { facts, team, agent, brief, prefix: String::new() }
    }
    /// The same run under a label prefix. For programs with several conversations; no program of this build has them.
    pub fn scope(&self, name: &str) -> View<'a> {
        View { prefix: format!("{}{name}/", self.prefix), ..self.clone() }
    }
    /// The brief of the run.
    pub fn brief(&self) -> &'a Brief {
        self.brief
    }
    /// The full label of a step of this scope.
    pub fn label(&self, name: &str) -> Label {
        Label::under(&self.prefix, name)
    }

    /// The final outcome of a step; the one primitive. `ask` is built only when the step is not known.
    ///
    /// # Errors
    /// The step is wanted, or under way.
    pub fn step(&self, label: &Label, ask: impl FnOnce() -> Ask) -> Flow<&'a Outcome> {
        match self.facts.find(label) {
            Known::Unknown => Err(Move::Want(vec![(label.clone(), ask())])),
            Known::Pending { ask: known } => {
                debug_assert_eq!(*known, ask(), "label {label} was used for something else before");
                Err(Move::Want(Vec::new()))
            }
            Known::Done { ask: known, outcome } => {
                debug_assert_eq!(*known, ask(), "label {label} was used for something else before");
                Ok(outcome)
            }
        }
    }

    /// Whole turns of this scope.
    pub fn turns_done(&self) -> u64 {
        self.facts.turns(&self.prefix)
    }

    /// The next turn of this scope's conversation, `upto` earlier turns included.
    ///
    /// # Errors
    /// As [`View::step`].
    pub fn turn(&self, label: &Label, upto: u64) -> Flow<&'a Outcome> {
        self.step(label, || {
            let (task, form) = (Task::Brief, Form::Output);
            let prompt = Prompt { task, thread: self.prefix.clone(), upto, tools: true, form, close: None };
            Ask::Model { agent: self.agent.name.clone(), prompt, closing: false }
        })
    }

    /// A last call from what the gate keeps back: answer from what exists.
    ///
    /// # Errors
    /// As [`View::step`].
    pub fn closing(&self, upto: u64, close: &str) -> Flow<&'a Outcome> {
        self.step(&self.label("closing"), || {
            let (task, form, close) = (Task::Brief, Form::Free, Some(close.to_string()));
            let prompt = Prompt { task, thread: self.prefix.clone(), upto, tools: false, form, close };
            Ask::Model { agent: self.agent.name.clone(), prompt, closing: true }
        })
    }

    /// What a final turn says under the brief: payload and reports. The contract let the turn through before.
    ///
    /// # Errors
    /// Never for a turn that the contract let through.
    pub fn answer(&self, turn: &Turn) -> Result<Answer, answer::Complaint> {
        answer::read(&turn.text, self.brief)
    }

    /// The text of the newest answer of a step that broke the contract.
    pub fn rejected_text(&self, label: &Label) -> Option<&'a str> {
        match self.facts.rejected(label)? {
            Product::Turn(turn) => Some(&turn.text),
            _ => None,
        }
    }

    /// Looks at the files that success predicates name, by probe steps `check/f<i>`: one answer for each predicate in
    /// order, `false` for those that need no look.
    ///
    /// # Errors
    /// The looks that are missing or under way.
    pub fn files_exist(&self, success: &Success) -> Flow<Vec<bool>> {
        join(success.predicates.iter().enumerate().map(|(i, predicate)| {
            let Predicate::FileExists(path) = predicate else { return Ok(false) };
            let label = self.label(&format!("check/f{i}"));
            let outcome = self.step(&label, || Ask::Probe { path: path.clone() })?;
            Ok(matches!(outcome, Outcome::Ok(Product::Exists(true))))
        }))
    }

    /// Does all calls of a turn: read-only ones and delegations together, every other one alone and in order.
    ///
    /// # Errors
    /// The calls that may start now, or that are under way.
    pub fn calls(&self, turn: &Label, calls: &[ToolCall]) -> Flow<()> {
        let mut wants = Vec::new();
        let mut blocked = false;
        for (index, call) in calls.iter().enumerate() {
            let alone = self.alone(call);
            if alone && blocked {
                break;
            }
            match self.step(&turn.call(index), || self.ask_for(turn, call)) {
                Ok(_) => continue,
                Err(Move::Want(more)) => {
                    wants.extend(more);
                    blocked = true;
                }
                Err(end) => return Err(end),
            }
            if alone {
                break;
            }
        }
        if blocked { Err(Move::Want(wants)) } else { Ok(()) }
    }

    fn alone(&self, call: &ToolCall) -> bool {
        let known = self.team.tools.get(call.name.as_str());
        call.name != DELEGATE && known.is_some_and(|t| t.effect != EffectClass::ReadOnly)
    }

    fn ask_for(&self, turn: &Label, call: &ToolCall) -> Ask {
        let (agent, arguments) = (self.agent.name.clone(), call.arguments.clone());
        if call.name == DELEGATE {
            return Ask::Delegate { agent, arguments, turn: turn.clone() };
        }
        // No tool has a longer name; what a model made up goes into refusals and findings.
        Ask::Tool { agent, name: ToolName::new(clip(&call.name, NAME)), arguments }
    }
}
