//! Caps and spend: what a run may use and what it has used. Who decides on them is `govern`.

use crate::id::ModelName;
use crate::message::Usage;
use serde::{Deserialize, Serialize};

/// Caps as somebody asks for them; an absent one is not asked for. All are positive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Caps {
    /// Input and output tokens of the run and all below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Wall time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<u64>,
    /// Turns of this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Model calls of this run, retries and repairs included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_calls: Option<u64>,
    /// Tool calls of this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u64>,
    /// Children that this run starts itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children: Option<u64>,
    /// Runs of the subtree, this one included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
}

impl Caps {
    /// Field by field this one's cap, else the other's.
    pub fn or(self, other: Caps) -> Caps {
        Caps {
            tokens: self.tokens.or(other.tokens),
            time: self.time.or(other.time),
            turns: self.turns.or(other.turns),
            model_calls: self.model_calls.or(other.model_calls),
            tool_calls: self.tool_calls.or(other.tool_calls),
            children: self.children.or(other.children),
            runs: self.runs.or(other.runs),
        }
    }
    /// Field by field the smaller cap of the two.
    pub fn min(self, other: Caps) -> Caps {
        let least = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Caps {
            tokens: least(self.tokens, other.tokens),
            time: least(self.time, other.time),
            turns: least(self.turns, other.turns),
            model_calls: least(self.model_calls, other.model_calls),
            tool_calls: least(self.tool_calls, other.tool_calls),
            children: least(self.children, other.children),
            runs: least(self.runs, other.runs),
        }
    }
}

/// The caps of one run, complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Tokens of the subtree.
    pub tokens: u64,
    /// Wall time in milliseconds.
    pub time: u64,
    /// Turns of this run.
    pub turns: u64,
    /// Model calls of this run, if capped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_calls: Option<u64>,
    /// Tool calls of this run.
    pub tool_calls: u64,
    /// Children of this run.
    pub children: u64,
    /// Runs of the subtree, this one included.
    pub runs: u64,
}

/// The budgets of a team: the default of a run, and the caps of the whole tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budgets {
    /// Default caps of every run but the root.
    pub run: Caps,
    /// Caps of the tree; `tokens`, `time` and `runs` are the root's.
    pub tree: Caps,
    /// Deepest level that may run; the root is 0.
    pub depth: u32,
    /// Runs that work at the same time.
    pub concurrency: u32,
    /// Handoffs.
    pub hops: u32,
}

impl Default for Budgets {
    fn default() -> Budgets {
        const MINUTE: u64 = 60_000;
        Budgets {
            run: Caps {
                tokens: Some(400_000),
                time: Some(15 * MINUTE),
                turns: Some(30),
                tool_calls: Some(100),
                children: Some(20),
                ..Caps::default()
            },
            tree: Caps { tokens: Some(2_000_000), time: Some(60 * MINUTE), runs: Some(50), ..Caps::default() },
            depth: 3,
            concurrency: 4,
            hops: 5,
        }
    }
}

/// What a run and all below it have used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spend {
    /// All tokens.
    pub usage: Usage,
    /// Model calls, retries and repairs included.
    pub model_calls: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Runs.
    pub runs: u64,
    /// The tokens by role and model; they sum to `usage`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_model: Vec<ModelSpend>,
}

/// The tokens of one model under one role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSpend {
    /// The role that chose it; none when it was named outright.
    pub role: Option<String>,
    /// The model.
    pub model: ModelName,
    /// Its tokens.
    pub usage: Usage,
}

impl Spend {
    /// The spend of one model call.
    pub fn model_call(role: Option<&str>, model: &ModelName, usage: Usage) -> Spend {
        let by_model = vec![ModelSpend { role: role.map(str::to_string), model: model.clone(), usage }];
        Spend { usage, model_calls: 1, by_model, ..Spend::default() }
    }
    /// Adds another spend to this one.
    pub fn add(&mut self, other: &Spend) {
        self.usage.add(&other.usage);
        self.model_calls = self.model_calls.saturating_add(other.model_calls);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
        self.runs = self.runs.saturating_add(other.runs);
        for m in &other.by_model {
            match self.by_model.iter_mut().find(|x| x.role == m.role && x.model == m.model) {
                Some(x) => x.usage.add(&m.usage),
                None => self.by_model.push(m.clone()),
            }
        }
    }
    /// Takes off what was booked for the same attempt before, so that nothing is booked twice.
    pub fn less(&mut self, booked: &Spend) {
        self.usage.less(&booked.usage);
        self.model_calls = self.model_calls.saturating_sub(booked.model_calls);
        self.tool_calls = self.tool_calls.saturating_sub(booked.tool_calls);
        for m in &mut self.by_model {
            if let Some(b) = booked.by_model.iter().find(|b| b.role == m.role && b.model == m.model) {
                m.usage.less(&b.usage);
            }
        }
    }
}
