//! Properties over random teams and scripts, all drawn from fixed seeds: every run ends, once, with an account that adds
//! up; no transcript leaks; a crash, an order or a cancel breaks none of it.

use crate::common::{
    Answer, Asked, Crash, Plan, Script, Sim, Used, agent, calls, delegates, fails, says, team, text, to,
};
use deputize_core::budget::Caps;
use deputize_core::code;
use deputize_core::definition::{Definition, InDoubt, Team};
use deputize_core::event::Event;
use deputize_core::message::Stop;
use deputize_core::step::Retry;
use serde_json::{Value, json};

/// A sequence of numbers from a seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }
}

const NAMES: [&str; 4] = ["ann", "bob", "cyd", "dan"];
const TOOLS: [&str; 4] = ["look", "save", "send", "shell"];

fn random_agent(dice: &mut Dice, name: &str) -> Definition {
    let tools: Vec<&str> = TOOLS.into_iter().filter(|_| !dice.one_in(3)).collect();
    let mut one = agent(name, &tools);
    one.agents = NAMES.into_iter().filter(|n| *n != name && dice.one_in(2)).map(Into::into).collect();
    if dice.one_in(3) {
        one.output = Some(json!({"type": "object", "required": ["result"]}));
    }
    one.budget = Caps {
        turns: Some(1 + dice.below(5)),
        tool_calls: Some(1 + dice.below(8)),
        children: Some(1 + dice.below(4)),
        tokens: dice.one_in(3).then(|| 1_000 + dice.below(30_000)),
        time: dice.one_in(4).then(|| 1_000 + dice.below(60_000)),
        model_calls: dice.one_in(4).then(|| 1 + dice.below(6)),
        runs: None,
    };
    one
}

fn random_team(seed: u64) -> Team {
    let mut dice = Dice(seed);
    let mut team = team(NAMES.map(|n| random_agent(&mut dice, n)).into());
    let root = team.agents.get_mut(NAMES[0]).unwrap();
    root.agents = NAMES[1..].iter().map(|n| (*n).into()).collect();
    root.budget.children = Some(2 + dice.below(5));
    team.budget.tree =
        Caps { tokens: Some(2_000 + dice.below(150_000)), runs: Some(1 + dice.below(14)), ..Caps::default() };
    team.budget.depth = 1 + dice.below(3) as u32;
    team.budget.concurrency = 1 + dice.below(4) as u32;
    if dice.one_in(2) {
        team.in_doubt = InDoubt::Retry;
    }
    team
}

fn hash(seed: u64, words: &str) -> u64 {
    words.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// What only this run has seen.
fn secret(path: &str) -> String {
    format!("SECRET-OF-{path}-END")
}

fn random_call(dice: &mut Dice) -> (&'static str, Value) {
    match dice.below(10) {
        0 => ("fly", json!({})),
        1 => ("look", json!({"malformed": "{"})),
        2 => ("delegate", json!({"agent": "ann"})),
        3 => ("delegate", to("nobody", "x")),
        4 | 5 => ("delegate", to(dice.pick(&NAMES), "a part of it")),
        6 => {
            let mut brief = to(dice.pick(&NAMES), "a part of it");
            brief["budget"] = json!({"tokens": 500 + dice.below(40_000)});
            ("delegate", brief)
        }
        _ => (dice.pick(&TOOLS), json!({"at": dice.below(9).to_string()})),
    }
}

fn random_answer(seed: u64, asked: &Asked<'_>) -> Answer {
    let words = format!("{} {} {} {}", asked.path, asked.label, asked.failures, asked.rejections);
    let mut dice = Dice(hash(seed, &words));
    // A run begins with work more often than not.
    let first = asked.label == "t1" && dice.below(4) > 0;
    let answer = match if first { 6 + dice.below(6) } else { dice.below(14) } {
        0 => fails(code::MODEL_OVERLOADED, Retry::After(Some(dice.below(2_000)))),
        1 => fails(code::MODEL_TIMEOUT, Retry::Ambiguous),
        2 if dice.one_in(3) => fails(code::MODEL_AUTH, Retry::Never),
        2 => says(""),
        3 => says("a long story").stopped(Stop::Length),
        4 if dice.one_in(3) => says("no").stopped(Stop::Refusal),
        5 => says(r#"{"result": "done"}"#),
        6 if !first => says("done, says I"),
        6 | 7 => {
            delegates(&[to(dice.pick(&NAMES), "one"), to(dice.pick(&NAMES), "two"), to(dice.pick(&NAMES), "three")])
        }
        8 => calls(&(0..12).map(|_| random_call(&mut dice)).collect::<Vec<_>>()),
        _ => calls(&(0..1 + dice.below(3)).map(|_| random_call(&mut dice)).collect::<Vec<_>>()),
    };
    let answer = if dice.one_in(6) { answer.using(dice.below(20_000), dice.below(2_000)) } else { answer };
    answer.after(dice.below(400))
}

fn random_script(seed: u64) -> Script {
    Script::new(move |asked: &Asked<'_>| random_answer(seed, asked)).tools(move |used: &Used<'_>| {
        let mut dice = Dice(hash(seed, &format!("{} {}", used.path, used.label)));
        match dice.below(5) {
            0 => fails(code::TOOL_FAILED, Retry::Never),
            _ => text(&secret(used.path)).after(dice.below(300)),
        }
    })
}

fn random_plan(seed: u64) -> Plan {
    let mut dice = Dice(seed.wrapping_mul(31));
    let crashes = (0..dice.below(4)).map(|_| Crash { at: 1 + dice.below(60) as usize, performed: dice.one_in(2) });
    let mut crashes: Vec<Crash> = crashes.collect();
    crashes.sort_by_key(|c| c.at);
    Plan {
        seed: dice.one_in(2).then_some(seed),
        crashes,
        cancel: dice.one_in(5).then(|| (1 + dice.below(60) as usize, None)),
        single: dice.one_in(2),
        tick: dice.below(3),
        interrupts: (0..dice.below(3)).map(|_| dice.below(40) as usize).collect(),
    }
}

// The simulator itself fails a run that does not end; its checkers look at every prefix and every request.
fn holds(seed: u64, plan: Plan) {
    let (team, script) = (random_team(seed), random_script(seed));
    let mut sim = Sim::new(&team, &script, plan);
    sim.finish("find out");
    let mut excess = 0;
    for (run, log) in &sim.logs {
        let ends = log.iter().filter(|r| matches!(r.event, Event::RunFinished { .. })).count();
        assert_eq!(ends, 1, "seed {seed}: {run} ends {ends} times");
        excess += sim.state(run.as_str()).ledger().excess;
        let parent = run.as_str().rsplit_once("/t").map(|(parent, _)| parent);
        assert!(parent.is_none_or(|p| sim.logs.keys().any(|k| k.as_str() == p)), "seed {seed}: {run} has no parent");
    }
    let summary = sim.summary();
    let cap = team.budget.tree.tokens.unwrap();
    assert!(summary.spent.usage.tokens() <= cap + excess, "seed {seed}: {:?} of {cap}", summary.spent);
    let by_model: u64 = summary.spent.by_model.iter().map(|m| m.usage.tokens()).sum();
    assert_eq!(by_model, summary.spent.usage.tokens(), "seed {seed}");
    let paths: std::collections::BTreeSet<&String> = sim.requests.iter().map(|r| &r.path).collect();
    for sent in &sim.requests {
        let bytes = serde_json::to_string(&sent.request).unwrap();
        let leaked = paths.iter().find(|p| **p != &sent.path && bytes.contains(&secret(p)));
        assert!(leaked.is_none(), "seed {seed}: {} has read what {leaked:?} saw", sent.path);
    }
}

// covers E-04, E-21, E-60, F-05, F-07
#[test]
fn random_trees_end_and_add_up() {
    for seed in 0..150 {
        holds(seed, Plan::default());
    }
}

// covers E-04, E-21, E-60, F-05, F-07
#[test]
fn random_trees_survive_random_trouble() {
    for seed in 0..300 {
        holds(seed, random_plan(seed));
    }
}

// The same seed, the same bytes.
// covers L-27
#[test]
fn random_trees_are_reproducible() {
    for seed in 0..20 {
        let logs = || {
            let (team, script) = (random_team(seed), random_script(seed));
            serde_json::to_string(&Sim::with(&team, &script, random_plan(seed)).logs.into_values().collect::<Vec<_>>())
                .unwrap()
        };
        assert_eq!(logs(), logs(), "seed {seed}");
    }
}
