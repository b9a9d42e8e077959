//! Admission: each want, in the order the program named them, becomes a start, a refusal, or is held while what is kept
//! back for others may come back. Deny for budget only when nothing can: else the verdict depends on arrival order.

use super::completion::{self, LEAST_CHILD, Routed};
use super::ledger::Ledger;
use super::paths;
use crate::brief::{Mode, Origin, Stated};
use crate::budget::{Budget, Caps};
use crate::code::{self, Code};
use crate::context;
use crate::definition::{Definition, Permission, Team};
use crate::digest;
use crate::event::{Event, StepStart};
use crate::id::{AgentName, Digest, Label, ToolName};
use crate::message::Arguments;
use crate::run::{RunState, Status, Step};
use crate::step::{Ask, Delegation, EffectClass, Refusal, Reserve};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The least output of a model call, in tokens.
const LEAST_OUTPUT: u64 = 256;

/// The most that is kept back of the time for a last synthesis, in milliseconds.
const CLOSING_TIME: u64 = 30_000;

/// Of the time that is left, what a child may have: 10 %, at most 30 s, stay for the parent's own last words.
fn for_child(left: u64) -> u64 {
    (left - (left / 10).min(CLOSING_TIME)).max(1)
}

/// The verdict on one want.
enum Verdict {
    Start(Box<StepStart>),
    Deny(Refusal),
    Note(String, String),
    Hold,
}

/// What the gate looks at while it goes through a set of wants.
struct Gate<'a> {
    state: &'a RunState,
    team: &'a Team,
    agent: &'a Definition,
    /// A scratch copy: what is admitted here counts at once.
    ledger: Ledger,
    tripped: Option<Code>,
    spawned: BTreeMap<AgentName, u64>,
    /// Briefs rejected here, by their written part.
    rejected: BTreeMap<Digest, u32>,
    /// Delegations that run, those started here included.
    running: u64,
    /// Delegations that are wanted and not yet decided on.
    wanted: u64,
    /// Something is held: delegations behind it wait too, so that children start in call order.
    held: bool,
    /// Something is held, and a cap has tripped behind it: what is held is decided on anew before anything else.
    halt: bool,
}

/// Due retries first, then the wants in program order. Any prefix of the answer may be appended: each verdict depends on
/// the state and on the verdicts before it, in such a way that asking again gives the rest.
pub fn admit(state: &RunState, team: &Team, wants: Vec<(Label, Ask)>) -> Vec<Event> {
    let Some(agent) = state.started().and_then(|s| team.agents.get(&s.agent)) else { return Vec::new() };
    let due: Vec<(Label, Arc<Ask>)> = state.waiting().iter().filter_map(|l| due(state, l)).collect();
    let new = wants.into_iter().filter(|(l, _)| state.step(l).is_none()).map(|(l, a)| (l, Arc::new(a)));
    let all: Vec<(Label, Arc<Ask>)> = due.into_iter().chain(new).collect();
    let delegates = |a: &Ask| matches!(a, Ask::Delegate { .. });
    let running = state.open().into_iter().filter(|l| state.step(l).is_some_and(|s| delegates(&s.ask))).count() as u64;
    let wanted = all.iter().filter(|(_, a)| delegates(a)).count() as u64;
    let (ledger, tripped) = (state.ledger().clone(), state.tripped().cloned());
    let (spawned, rejected) = (BTreeMap::new(), BTreeMap::new());
    let (held, halt) = (false, false);
    let mut gate = Gate { state, team, agent, ledger, tripped, spawned, rejected, running, wanted, held, halt };
    all.into_iter().filter_map(|(label, ask)| gate.pass(label, ask)).collect()
}

fn due(state: &RunState, label: &Label) -> Option<(Label, Arc<Ask>)> {
    let step = state.step(label)?;
    match step.status {
        Status::Retry { not_before: at, .. } | Status::Parked { until: Some(at), .. } if at <= state.now() => {
            Some((label.clone(), step.ask.clone()))
        }
        _ => None,
    }
}

impl Gate<'_> {
    fn pass(&mut self, label: Label, ask: Arc<Ask>) -> Option<Event> {
        if self.halt {
            return None;
        }
        let known = self.state.step(&label);
        let verdict = match &*ask {
            Ask::Decide { what, why } => Verdict::Note(what.clone(), why.clone()),
            Ask::Probe { .. } => self.start(&label, &ask, known, EffectClass::ReadOnly, Reserve::default()),
            Ask::Tool { name, arguments, .. } => self.tool(&label, &ask, known, name, arguments),
            Ask::Model { closing, .. } => self.model(&label, &ask, known, *closing),
            Ask::Delegate { .. } if self.held => Verdict::Hold,
            Ask::Delegate { arguments, .. } => {
                let verdict = self.delegate(&label, &ask, arguments);
                self.tell(arguments, &verdict);
                verdict
            }
        };
        let event = match verdict {
            Verdict::Start(start) => Event::StepStarted(start),
            Verdict::Deny(refusal) => {
                if refusal.code.is_cap() && self.tripped.is_none() {
                    self.tripped = Some(refusal.code.clone());
                    self.halt = self.held;
                }
                Event::StepDenied { label, ask, refusal }
            }
            Verdict::Note(what, why) => Event::Decided { label, what, why },
            Verdict::Hold => {
                self.held = true;
                return None;
            }
        };
        self.ledger.apply(&event, Reserve::default(), known.is_none());
        Some(event)
    }

    /// What a verdict on a delegation means for those behind it.
    fn tell(&mut self, arguments: &Arguments, verdict: &Verdict) {
        match verdict {
            Verdict::Start(_) => (self.running, self.wanted) = (self.running + 1, self.wanted.saturating_sub(1)),
            Verdict::Deny(refusal) => {
                self.wanted = self.wanted.saturating_sub(1);
                if refusal.mode == Some(Mode::Rejected) {
                    *self.rejected.entry(digest::of(arguments)).or_default() += 1;
                }
            }
            Verdict::Note(..) | Verdict::Hold => {}
        }
    }

    /// By how many delegations what is left is shared.
    fn sharers(&self) -> u64 {
        (self.running + self.wanted).clamp(1, u64::from(self.team.budget.concurrency.max(1)))
    }

    fn start(
        &self,
        label: &Label,
        ask: &Arc<Ask>,
        known: Option<&Step>,
        effect: EffectClass,
        reserve: Reserve,
    ) -> Verdict {
        let attempt = match known.map(|s| &s.status) {
            Some(Status::Retry { attempt, .. } | Status::Parked { attempt, .. }) => *attempt,
            _ => 1,
        };
        let (label, ask) = (label.clone(), ask.clone());
        let start = StepStart {
            label,
            ask,
            attempt,
            effect,
            reserve,
            model: None,
            max_output: None,
            room: None,
            digest: None,
            delegation: None,
        };
        Verdict::Start(Box::new(start))
    }

    fn tool(
        &self,
        label: &Label,
        ask: &Arc<Ask>,
        known: Option<&Step>,
        name: &ToolName,
        arguments: &Arguments,
    ) -> Verdict {
        if known.is_some() {
            return self.start(label, ask, known, self.team.effect(name), Reserve::default());
        }
        let held = self.state.started().map_or(&[][..], |s| &s.brief.tools.value[..]);
        let list = || held.iter().map(ToolName::as_str).collect::<Vec<_>>().join(", ");
        let Some(spec) = self.team.tools.get(name) else {
            return deny(code::TOOL_UNKNOWN, format!("there is no tool {name}; the tools are: {}", list()));
        };
        if !held.contains(name) {
            return deny(code::TOOL_NOT_ALLOWED, format!("tool {name} is not allowed here; allowed are: {}", list()));
        }
        let bad = match arguments {
            Arguments::Json(value) if value.is_object() => None,
            Arguments::Json(_) => Some("no JSON object"),
            Arguments::Malformed(_) => Some("not valid JSON"),
        };
        if let Some(what) = bad {
            let why = format!("the arguments of {name} are {what}; call it again with a JSON object");
            return deny(code::TOOL_ARGUMENTS, why);
        }
        match self.team.permissions.get(&spec.operation).copied().unwrap_or_default() {
            Permission::Allow => {}
            Permission::Ask => {
                let why = format!("{name} needs a person's approval here, and nobody can be asked in this run");
                return deny(code::APPROVAL_UNAVAILABLE, why);
            }
            Permission::Deny => {
                return deny(code::PERMISSION_DENIED, format!("the policy of this team forbids {name}"));
            }
        }
        if let Some(refusal) = self.state.started().and_then(|s| paths::refusal(&s.brief, self.team, spec, arguments)) {
            return Verdict::Deny(refusal);
        }
        if let Some(cap) = &self.tripped {
            return deny(cap.clone(), stopped(cap));
        }
        let cap = self.ledger.cap.tool_calls;
        if self.ledger.tool_calls >= cap {
            return deny(code::BUDGET_TOOL_CALLS, format!("all {cap} tool calls of this run are used"));
        }
        self.start(label, ask, known, spec.effect, Reserve::default())
    }

    fn model(&self, label: &Label, ask: &Arc<Ask>, known: Option<&Step>, closing: bool) -> Verdict {
        if let Some(refusal) = self.counted_out(label, known, closing) {
            return Verdict::Deny(refusal);
        }
        let (Some(started), Some(model)) = (self.state.started(), self.state.model()) else { return Verdict::Hold };
        let limits = self.team.models.limits(model);
        let left = self.ledger.left(closing);
        // Half of what there is for what was found out, the rest to say it.
        let most = left.min(limits.context);
        let room = closing.then(|| most.saturating_sub(limits.max_output.min(most / 2).max(LEAST_OUTPUT)));
        let Some(draft) = context::draft(self.state, self.team, label, ask, room, model) else { return Verdict::Hold };
        let input = draft.estimate();
        if input + LEAST_OUTPUT > limits.context {
            let (window, shares) = (limits.context, draft.shares());
            let why =
                format!("the request needs about {input} tokens ({shares}), the window of `{model}` has {window}");
            return deny(code::CONTEXT_FULL, why);
        }
        if input + LEAST_OUTPUT > left {
            if self.ledger.may_come_back() {
                return Verdict::Hold;
            }
            let why = format!(
                "about {input} tokens are needed for the next call, {left} of {} are left",
                self.ledger.cap.tokens
            );
            return deny(code::BUDGET_TOKENS, why);
        }
        let max_output = limits.max_output.min(left - input).min(limits.context - input);
        let request = draft.finish(max_output);
        let reserve = Reserve { tokens: input + max_output, runs: 0 };
        match self.start(label, ask, known, EffectClass::Idempotent, reserve) {
            Verdict::Start(mut start) => {
                start.model = (*model != started.model).then(|| model.clone());
                start.max_output = Some(max_output);
                start.room = room;
                start.digest = Some(digest::of(&request));
                Verdict::Start(start)
            }
            other => other,
        }
    }

    /// Whether turns or model calls are used up. One model call is kept back for the closing.
    fn counted_out(&self, label: &Label, known: Option<&Step>, closing: bool) -> Option<Refusal> {
        let cap = &self.ledger.cap;
        let calls = cap.model_calls.map(|most| if closing || most == 1 { most } else { most - 1 });
        if calls.is_some_and(|most| self.ledger.model_calls >= most) {
            let why = format!("all {} model calls of this run are used", cap.model_calls.unwrap_or(0));
            return Some(refusal(code::BUDGET_MODEL_CALLS, why));
        }
        if closing || known.is_some() {
            return None;
        }
        if let Some(cap) = &self.tripped {
            return Some(refusal(cap.clone(), stopped(cap)));
        }
        if label.as_turn().is_some() && self.ledger.turns >= cap.turns {
            return Some(refusal(code::BUDGET_TURNS, format!("all {} turns of this run are used", cap.turns)));
        }
        None
    }

    fn delegate(&mut self, label: &Label, ask: &Arc<Ask>, arguments: &Arguments) -> Verdict {
        let written = digest::of(arguments);
        let before = self.state.rejections_of(&written) + self.rejected.get(&written).copied().unwrap_or(0);
        let routed = match completion::route(self.state, self.team, self.agent, arguments, before) {
            Ok(routed) => routed,
            Err(refusal) => return Verdict::Deny(refusal),
        };
        if let Some(cap) = &self.tripped {
            return turned_away(cap.clone(), stopped(cap));
        }
        let cap = self.ledger.cap.children;
        if self.ledger.children >= cap {
            return turned_away(code::BUDGET_CHILDREN, format!("all {cap} children of this run are used"));
        }
        match self.share(&routed) {
            Ok(budget) => self.hand_over(label, ask, routed, budget),
            Err(verdict) => verdict,
        }
    }

    /// The tokens of a child: what is asked for, else the default of a run within its share. None: it waits for what may
    /// come back.
    fn tokens(&self, asked: Option<u64>) -> Option<u64> {
        let left = self.ledger.left(false);
        let fair = self.ledger.pool() / self.sharers();
        let wanted = asked.unwrap_or_else(|| self.team.budget.run.tokens.unwrap_or(u64::MAX).min(fair));
        // Those that have ended took a part of what was to be shared, so a share may come out a little short.
        let near = asked.is_none() && left >= wanted / 2 && self.running < u64::from(self.team.budget.concurrency);
        let fits = wanted <= left || near || !self.ledger.may_come_back();
        fits.then(|| wanted.min(left))
    }

    /// The runs of a child's subtree, itself included; none means that it waits. What is not asked for is at least two for
    /// one that leads: with a single run it could not delegate, so it rather waits for what may come back.
    fn runs(&self, asked: Option<u64>, leads: bool) -> Option<u64> {
        let left = self.ledger.runs_left();
        let fair = (self.ledger.runs_pool() / self.sharers()).max(2);
        let wanted = match asked {
            _ if !leads => 1,
            Some(asked) => asked,
            None => self.team.budget.run.runs.unwrap_or(u64::MAX).min(fair),
        };
        let room = self.running < u64::from(self.team.budget.concurrency);
        let near = leads && asked.is_none() && left >= (wanted / 2).max(2) && room;
        let fits = wanted <= left || near || !self.ledger.may_come_back();
        fits.then(|| wanted.min(left))
    }

    /// The caps of a child: what brief and definition ask for, else the default of a run; tokens and runs within its share.
    fn share(&self, routed: &Routed<'_>) -> Result<Stated<Budget>, Verdict> {
        let asked = routed.asked.value;
        let run = self.team.budget.run;
        let Some(tokens) = self.tokens(asked.tokens) else { return Err(Verdict::Hold) };
        let leads = !completion::may_delegate(self.team, routed.child, self.state.started().map_or(0, |s| s.depth + 1))
            .is_empty();
        let Some(runs) = self.runs(asked.runs, leads) else { return Err(Verdict::Hold) };
        if tokens < LEAST_CHILD || runs == 0 {
            if self.ledger.may_come_back() {
                return Err(Verdict::Hold);
            }
            return Err(if runs == 0 {
                turned_away(code::BUDGET_RUNS, format!("all {} runs of the tree are used", self.ledger.cap.runs))
            } else {
                turned_away(
                    code::BUDGET_EXHAUSTED,
                    format!("{tokens} tokens are left for a child, the least is {LEAST_CHILD}"),
                )
            });
        }
        let time_left = self.state.deadline().map(|d| for_child(d.since(self.state.now())));
        let caps = asked.or(Caps { tokens: None, ..run });
        let caps = Caps { tokens: Some(tokens), runs: Some(runs), ..caps };
        let caps = caps.min(Caps { time: time_left, ..Caps::default() });
        let by = if asked == Caps::default() { Origin::Config } else { routed.asked.by };
        Ok(Stated::new(completion::whole(caps, routed.child.timeout), by))
    }

    fn hand_over(&mut self, label: &Label, ask: &Arc<Ask>, routed: Routed<'_>, budget: Stated<Budget>) -> Verdict {
        let Some(started) = self.state.started() else { return Verdict::Hold };
        let reserve = Reserve { tokens: budget.value.tokens, runs: budget.value.runs };
        let Routed { child, mut draft, chosen, reason, .. } = routed;
        draft.budget = Some(budget);
        let brief = match draft.complete() {
            Ok(brief) => brief,
            Err(bad) => return turned_away(bad.code, bad.why),
        };
        let here = self.spawned.entry(child.name.clone()).or_default();
        *here += 1;
        let path = started.path.child(&child.name, self.state.spawned(&child.name) + *here);
        let (to, definition) = (child.name.clone(), child.digest());
        let delegation = Delegation { to, path, brief, model: chosen.model, role: chosen.role, definition, reason };
        match self.start(label, ask, None, EffectClass::Idempotent, reserve) {
            Verdict::Start(mut start) => {
                start.delegation = Some(Arc::new(delegation));
                Verdict::Start(start)
            }
            other => other,
        }
    }
}

fn stopped(cap: &Code) -> String {
    let limit = cap.limit().unwrap_or("budget").replace('_', " ");
    format!("the limit of {limit} was reached: nothing new starts in this run")
}

fn refusal(code: Code, why: impl Into<String>) -> Refusal {
    Refusal { code, why: why.into(), mode: None, fallback: None }
}

fn deny(code: Code, why: impl Into<String>) -> Verdict {
    Verdict::Deny(refusal(code, why))
}

fn turned_away(code: Code, why: impl Into<String>) -> Verdict {
    Verdict::Deny(Refusal { mode: Some(Mode::Rejected), ..refusal(code, why) })
}
