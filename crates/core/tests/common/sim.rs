//! Drives a tree by the rules of a driver: advance until quiet, append one record at a time, launch, land, deliver.
//! It can die at every append, in two ways: what was under way was not performed, or was performed and nobody knows.

use super::check::{self, Checker};
use super::script::{Answer, Asked, Reply, Script, USUAL, Used};
use deputize_core::budget::Spend;
use deputize_core::context;
use deputize_core::definition::Team;
use deputize_core::digest;
use deputize_core::event::{Event, Recorded, Started, VERSION};
use deputize_core::govern;
use deputize_core::id::{AgentPath, Digest, Label, RunId, Time};
use deputize_core::message::{BlobRef, Request, ToolOutput, Usage};
use deputize_core::run::{Command, Delivery, RunState, Status, Step, stopped};
use deputize_core::step::{Ask, Delegation, Product};
use deputize_core::summary::Summary;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A death.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crash {
    /// Before the append of this number.
    pub(crate) at: usize,
    /// Whether what was under way had its effect.
    pub(crate) performed: bool,
}

/// How a simulation goes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// What lands next is drawn by this seed instead of by its due time.
    pub(crate) seed: Option<u64>,
    /// Deaths, in order.
    pub(crate) crashes: Vec<Crash>,
    /// Polite ends of a process, each once so many records are there: what is under way is stopped, and the log says so.
    pub(crate) interrupts: Vec<usize>,
    /// Cancels a run (the root, if none is named) once so many records are there.
    pub(crate) cancel: Option<(usize, Option<RunId>)>,
    /// Appends only the first event that follows, then asks again.
    pub(crate) single: bool,
    /// Milliseconds that pass with each append.
    pub(crate) tick: u64,
}

/// The process died.
#[derive(Debug)]
struct Dead;

#[derive(Clone)]
struct Flight {
    run: RunId,
    label: Label,
    attempt: u32,
    due: Time,
    answer: Answer,
    key: String,
}

/// A request that was sent.
pub(crate) struct Sent {
    pub(crate) path: String,
    pub(crate) label: String,
    pub(crate) request: Request,
}

/// A simulation.
pub(crate) struct Sim<'s> {
    pub(crate) team: Team,
    script: &'s Script,
    plan: Plan,
    /// What is durable.
    pub(crate) logs: BTreeMap<RunId, Vec<Recorded>>,
    /// What the living process knows.
    nodes: BTreeMap<RunId, RunState>,
    flights: Vec<Flight>,
    launched: BTreeSet<(RunId, Label)>,
    dirty: BTreeSet<RunId>,
    checker: Checker,
    pub(crate) now: Time,
    /// Effects by idempotency key.
    pub(crate) performed: BTreeMap<String, u32>,
    pub(crate) requests: Vec<Sent>,
    pub(crate) appended: usize,
    deaths: usize,
    dice: u64,
}

/// The run that every simulation starts with.
pub(crate) fn root() -> RunId {
    RunId::new("r")
}

impl<'s> Sim<'s> {
    /// A tree that has not begun.
    pub(crate) fn new(team: &Team, script: &'s Script, plan: Plan) -> Sim<'s> {
        let dice = plan.seed.unwrap_or(0);
        Sim {
            team: team.clone(),
            script,
            plan,
            logs: BTreeMap::new(),
            nodes: BTreeMap::new(),
            flights: Vec::new(),
            launched: BTreeSet::new(),
            dirty: BTreeSet::new(),
            checker: Checker::default(),
            now: Time(1_000_000),
            performed: BTreeMap::new(),
            requests: Vec::new(),
            appended: 0,
            deaths: 0,
            dice,
        }
    }

    /// Runs a team on an objective to its end, without trouble.
    pub(crate) fn run(team: &Team, script: &'s Script) -> Sim<'s> {
        Sim::with(team, script, Plan::default())
    }

    /// Runs a team to its end by a plan; every log is replayed at the end.
    pub(crate) fn with(team: &Team, script: &'s Script, plan: Plan) -> Sim<'s> {
        let mut sim = Sim::new(team, script, plan);
        sim.finish("find out how it works");
        sim
    }

    /// Drives to the end of the root, through all deaths.
    pub(crate) fn finish(&mut self, objective: &str) {
        let mut first = true;
        while self.life(objective, first).is_err() {
            first = false;
            self.nodes.clear();
            self.flights.clear();
            self.launched.clear();
            self.dirty.clear();
            self.now = self.now.plus(60_000);
        }
        for log in self.logs.values() {
            check::replay(&self.team, log);
        }
    }

    /// One process from its start to the end of the tree, or to its death.
    fn life(&mut self, objective: &str, first: bool) -> Result<(), Dead> {
        if first || !self.logs.contains_key(&root()) {
            let started = root_start(&self.team, objective);
            self.begin(root(), started)?;
        } else {
            self.recover()?;
        }
        for _ in 0..100_000 {
            self.settle()?;
            if self.nodes[&root()].summary().is_some() {
                return Ok(());
            }
            if self.plan.interrupts.first().is_some_and(|at| *at <= self.appended) {
                self.plan.interrupts.remove(0);
                return self.interrupt();
            }
            if let Some((at, run)) = self.plan.cancel.clone()
                && self.appended >= at
            {
                self.plan.cancel = None;
                self.command(&run.unwrap_or(root()), Command::Cancel { by: "a test".into() })?;
                continue;
            }
            self.land()?;
        }
        panic!("it does not end");
    }

    fn interrupt(&mut self) -> Result<(), Dead> {
        self.flights.clear();
        let runs: Vec<RunId> = self.nodes.keys().cloned().collect();
        runs.iter().try_for_each(|run| self.command(run, Command::Interrupt))?;
        Err(Dead)
    }

    fn begin(&mut self, run: RunId, started: Started) -> Result<(), Dead> {
        self.nodes.insert(run.clone(), RunState::default());
        self.append(&run, Event::RunStarted(Box::new(started)))?;
        self.dirty.insert(run);
        Ok(())
    }

    fn recover(&mut self) -> Result<(), Dead> {
        let mut todo = vec![root()];
        while let Some(run) = todo.pop() {
            let Some(log) = self.logs.get(&run) else { continue };
            let state = RunState::fold(log);
            let delegated = |l: &&Label| matches!(&*state.step(l).unwrap().ask, Ask::Delegate { .. });
            todo.extend(state.open().into_iter().filter(delegated).map(|l| run.child(l)));
            self.nodes.insert(run.clone(), state);
            let now = self.now;
            self.command(&run, Command::Recover { now })?;
            self.dirty.insert(run);
        }
        Ok(())
    }

    /// One record becomes durable, or the process dies before it.
    fn append(&mut self, run: &RunId, event: Event) -> Result<(), Dead> {
        if let Some(crash) = self.plan.crashes.get(self.deaths).copied()
            && crash.at <= self.appended
        {
            self.deaths += 1;
            if crash.performed {
                let flights = std::mem::take(&mut self.flights);
                flights.iter().for_each(|f| self.perform(f));
            }
            return Err(Dead);
        }
        self.now = self.now.plus(self.plan.tick);
        let seq = self.nodes[run].next_seq();
        let record = Recorded { v: VERSION, seq, at: self.now, event };
        self.checker.append(run, &record);
        self.nodes.get_mut(run).unwrap().evolve(&record);
        self.logs.entry(run.clone()).or_default().push(record);
        self.appended += 1;
        Ok(())
    }

    fn command(&mut self, run: &RunId, command: Command) -> Result<(), Dead> {
        let Some(node) = self.nodes.get(run) else { return Ok(()) };
        for event in node.decide(&self.team, self.now, command) {
            self.append(run, event)?;
            self.dirty.insert(run.clone());
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<(), Dead> {
        while let Some(run) = self.dirty.pop_first() {
            let stop = self.advance(&run)?;
            for label in stop {
                self.stop(&run, &label)?;
            }
            if self.nodes.get(&run).is_some_and(|n| n.summary().is_some()) {
                self.report(&run)?;
            } else {
                self.launch(&run)?;
            }
        }
        Ok(())
    }

    fn advance(&mut self, run: &RunId) -> Result<Vec<Label>, Dead> {
        loop {
            let Some(node) = self.nodes.get(run) else { return Ok(Vec::new()) };
            let next = node.advance(&self.team);
            if next.events.is_empty() {
                return Ok(next.stop);
            }
            let most = if self.plan.single { 1 } else { next.events.len() };
            for event in next.events.into_iter().take(most) {
                self.append(run, event)?;
            }
        }
    }

    fn stop(&mut self, run: &RunId, label: &Label) -> Result<(), Dead> {
        let step = self.nodes[run].step(label).unwrap();
        let (attempt, delegation) = (step.attempt, step.delegation.clone());
        if let Some(delegation) = delegation {
            self.open_child(run, label, &delegation)?;
            return self.command(&run.child(label), Command::Cancel { by: "its parent".into() });
        }
        self.flights.retain(|f| (&f.run, &f.label) != (run, label));
        let delivery = Delivery::Failure(stopped());
        self.command(run, Command::Deliver { label: label.clone(), attempt, delivery, spent: Spend::default() })
    }

    fn report(&mut self, run: &RunId) -> Result<(), Dead> {
        let Some(node) = self.nodes.get(run) else { return Ok(()) };
        let (summary, parent) = (node.summary().unwrap().clone(), node.started().unwrap().parent.clone());
        let Some((parent, label)) = parent else { return Ok(()) };
        let attempt = self.nodes[&parent].step(&label).unwrap().attempt;
        let delivery = Delivery::Child(self.with_artifact(&summary));
        self.command(&parent, Command::Deliver { label, attempt, delivery, spent: Spend::default() })?;
        self.nodes.remove(run);
        Ok(())
    }

    /// A payload that is too long for its parent's request is named by its digest.
    fn with_artifact(&self, summary: &Summary) -> serde_json::Value {
        let whole = serde_json::to_vec(&summary.payload).unwrap();
        let mut summary = summary.clone();
        if context::tokens(whole.len()) > self.team.output_limits.child_summary {
            summary.artifact = Some(BlobRef { sha256: digest::of_bytes(&whole), len: whole.len() as u64 });
        }
        serde_json::to_value(summary).unwrap()
    }

    fn launch(&mut self, run: &RunId) -> Result<(), Dead> {
        let node = &self.nodes[run];
        let open: Vec<Label> = node.open().into_iter().cloned().collect();
        for label in open {
            let step = self.nodes[run].step(&label).unwrap();
            if let Some(delegation) = step.delegation.clone() {
                self.open_child(run, &label, &delegation)?;
            } else if self.launched.insert((run.clone(), label.clone())) {
                let flight = self.flight(run, &label);
                self.flights.push(flight);
            }
        }
        Ok(())
    }

    fn open_child(&mut self, run: &RunId, label: &Label, delegation: &Arc<Delegation>) -> Result<(), Dead> {
        let child = run.child(label);
        if self.nodes.contains_key(&child) || self.logs.contains_key(&child) {
            return Ok(());
        }
        let parent = self.nodes[run].started().unwrap().clone();
        let started = Started {
            run: child.clone(),
            parent: Some((run.clone(), label.clone())),
            agent: delegation.to.clone(),
            path: delegation.path.clone(),
            depth: parent.depth + 1,
            brief: delegation.brief.clone(),
            model: delegation.model.clone(),
            role: delegation.role.clone(),
            definition: delegation.definition.clone(),
            team: parent.team.clone(),
            team_name: parent.team_name.clone(),
            program_rev: 1,
            choices: Vec::new(),
        };
        self.begin(child, started)
    }

    /// What an open step will give, and when.
    fn flight(&mut self, run: &RunId, label: &Label) -> Flight {
        let node = &self.nodes[run];
        let (step, path) = (node.step(label).unwrap(), node.started().unwrap().path.to_string());
        assert_eq!(step.status, Status::Open);
        let attempt = step.attempt;
        let answer = match &*step.ask {
            Ask::Model { .. } => {
                let request = context::render(node, &self.team, label).unwrap();
                assert_eq!(step.digest.as_ref(), Some(&digest::of(&request)), "{run}: {label} has other bytes now");
                check::request(&request);
                let (failures, rejections) = (step.failures, step.rejections);
                let asked = Asked { path: &path, label: label.as_str(), attempt, failures, rejections };
                let answer = (self.script.model)(&asked);
                self.requests.push(Sent { path: path.clone(), label: label.to_string(), request });
                answer
            }
            Ask::Tool { name, arguments, .. } => {
                let deputize_core::message::Arguments::Json(arguments) = arguments else { panic!("{arguments:?}") };
                let (tool, note) = (name.as_str(), step.note.as_ref());
                (self.script.tool)(&Used { path: &path, label: label.as_str(), tool, arguments, note })
            }
            Ask::Probe { path } => super::text(path),
            Ask::Delegate { .. } | Ask::Decide { .. } => panic!("no flight of its own"),
        };
        let due = self.now.plus(answer.latency);
        Flight { run: run.clone(), label: label.clone(), attempt, due, answer, key: format!("{run}/{label}#{attempt}") }
    }

    /// The effect happens. It may happen again only after the log said that the attempt is open to it.
    fn perform(&mut self, flight: &Flight) {
        if matches!(flight.answer.reply, Reply::Note(_)) {
            return;
        }
        let count = self.performed.entry(flight.key.clone()).or_default();
        *count += 1;
        let again = |r: &&Recorded| match &r.event {
            Event::StepInDoubt { label, attempt, .. }
            | Event::StepFailed { label, attempt, .. }
            | Event::StepInterrupted { label, attempt, .. } => *label == flight.label && *attempt == flight.attempt,
            _ => false,
        };
        let log = &self.logs[&flight.run];
        let excused = log.iter().filter(again).count();
        assert!(*count as usize <= excused + 1, "{} performed {count} times, excused {excused}", flight.key);
        let settled = |r: &Recorded| matches!(&r.event, Event::StepSucceeded { label, .. } if *label == flight.label);
        assert!(!log.iter().any(settled), "{} performed after it was recorded", flight.key);
    }

    /// The next input of the world: what is due, or the passing of time.
    fn land(&mut self) -> Result<(), Dead> {
        let wake = self.nodes.values().filter_map(RunState::wake_at).min();
        let Some(place) = self.draw(wake) else {
            let wake = wake.unwrap_or_else(|| panic!("nothing under way and nothing to wait for"));
            self.now = self.now.max(wake);
            let now = self.now;
            let runs: Vec<RunId> = self.nodes.keys().cloned().collect();
            return runs.iter().try_for_each(|run| self.command(run, Command::Wake { now }));
        };
        let flight = self.flights.remove(place);
        if self.plan.seed.is_none() {
            self.now = self.now.max(flight.due);
        }
        self.perform(&flight);
        self.deliver(flight)
    }

    fn draw(&mut self, wake: Option<Time>) -> Option<usize> {
        if self.plan.seed.is_some() && !self.flights.is_empty() {
            self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            return Some((self.dice >> 33) as usize % self.flights.len());
        }
        let (place, flight) = self.flights.iter().enumerate().min_by_key(|(i, f)| (f.due, *i))?;
        let early = wake.is_some_and(|w| w < flight.due);
        (!early).then_some(place)
    }

    fn deliver(&mut self, flight: Flight) -> Result<(), Dead> {
        let Flight { run, label, attempt, answer, .. } = flight;
        self.launched.remove(&(run.clone(), label.clone()));
        let node = &self.nodes[&run];
        let step = node.step(&label).unwrap();
        let chosen = node.model_of(step).unwrap();
        let model = |usage: Usage| Spend::model_call(chosen.role.as_deref(), &chosen.model, usage);
        let one = Spend { tool_calls: 1, ..Spend::default() };
        let (delivery, spent) = match answer.reply {
            Reply::Turn(turn, usage) => (Delivery::Product(Product::Turn(Arc::new(turn))), model(counted(usage, step))),
            Reply::Text(text) if matches!(&*step.ask, Ask::Probe { .. }) => {
                (Delivery::Product(Product::Exists(text.starts_with("there"))), Spend::default())
            }
            Reply::Text(text) => (Delivery::Product(Product::Output(Arc::new(ToolOutput { text, whole: None }))), one),
            Reply::Fails(failure, usage) if usage == Usage::default() => (Delivery::Failure(failure), Spend::default()),
            Reply::Fails(failure, usage) => (Delivery::Failure(failure), model(usage)),
            Reply::Note(note) => {
                self.command(&run, Command::Prepare { label, attempt, note })?;
                self.dirty.insert(run);
                return Ok(());
            }
        };
        self.command(&run, Command::Deliver { label, attempt, delivery, spent })
    }
}

/// What a server counts: what the script says, but the usual count is no less than half of a long prompt, which a server
/// that reads it whole would not count lower.
fn counted(usage: Usage, step: &Step) -> Usage {
    let sent = step.reserve.tokens.saturating_sub(step.max_output.unwrap_or_default());
    let usual = usage.input_tokens == USUAL && sent >= USUAL + 1_000;
    Usage { input_tokens: if usual { sent / 2 } else { usage.input_tokens }, ..usage }
}

/// The start of a root run.
pub(crate) fn root_start(team: &Team, objective: &str) -> Started {
    let agent = &team.agents[&team.root];
    let chosen = team.models.resolve(&agent.model, None).unwrap();
    Started {
        run: root(),
        parent: None,
        agent: agent.name.clone(),
        path: AgentPath::root(&agent.name),
        depth: 0,
        brief: govern::root_brief(team, objective).unwrap(),
        model: chosen.model,
        role: chosen.role,
        definition: agent.digest(),
        team: Digest::new("t"),
        team_name: team.name.clone(),
        program_rev: 1,
        choices: Vec::new(),
    }
}

impl Sim<'_> {
    /// The folded state of a run.
    pub(crate) fn state(&self, run: &str) -> RunState {
        RunState::fold(&self.logs[&RunId::new(run)])
    }
    /// The account of the root.
    pub(crate) fn summary(&self) -> Summary {
        self.summary_of("r")
    }
    /// The account of a run.
    pub(crate) fn summary_of(&self, run: &str) -> Summary {
        Summary::clone(self.state(run).summary().unwrap())
    }
    /// The events of a run of this kind.
    pub(crate) fn count(&self, run: &str, kind: &str) -> usize {
        self.logs[&RunId::new(run)].iter().filter(|r| r.event.kind() == kind).count()
    }
    /// Tool calls that were performed.
    pub(crate) fn tools_used(&self) -> usize {
        let call = |key: &&String| {
            let last = key.rsplit('/').next().unwrap();
            last.starts_with('c') && last[1..].starts_with(|c: char| c.is_ascii_digit())
        };
        self.performed.keys().filter(call).count()
    }
    /// The request of a step; the newest, if there were several.
    pub(crate) fn request(&self, path: &str, label: &str) -> &Request {
        let found = self.requests.iter().rev().find(|s| s.path == path && s.label == label);
        &found.unwrap_or_else(|| panic!("no request of {path} {label}")).request
    }
    /// The results that a request shows, in order.
    pub(crate) fn results(&self, path: &str, label: &str) -> Vec<String> {
        let texts = self.request(path, label).messages.iter().filter_map(|m| match m {
            deputize_core::message::Message::Tool { text, .. } => Some(text.clone()),
            _ => None,
        });
        texts.collect()
    }
}
