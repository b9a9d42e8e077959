//! Budgets: caps are positive numbers, always.

use super::amount;
use super::{Decoder, Field, Fields};
use crate::budget::Caps;
use crate::definition::spec::BudgetSpec;

/// The code of a cap that is zero, negative, empty, or a word for "no limit".
pub const NOT_POSITIVE: &str = "budget.not_positive";

impl Decoder {
    fn cap(&mut self, fields: &mut Fields<'_>, key: &'static str) -> Option<u64> {
        let field = fields.take(self, key)?;
        let (read, what): (fn(&str) -> _, _) = match key {
            "time" => (amount::duration, "a duration such as `90s`, `15m` or `1h30m`"),
            _ => (amount::count, "a number such as `30`, `200k` or `2M`"),
        };
        self.amount(&field, read, what, NOT_POSITIVE)
    }

    fn small_cap(&mut self, fields: &mut Fields<'_>, key: &'static str) -> Option<u32> {
        let field = fields.take(self, key)?;
        self.turns_like(&field)
    }

    /// A whole number with the code of caps.
    pub(super) fn turns_like(&mut self, field: &Field<'_>) -> Option<u32> {
        self.amount(field, amount::whole, "a whole number above 0", NOT_POSITIVE)
    }

    /// The caps of a run, under `budget` of an agent or `budget.run` of a team.
    pub(super) fn run_caps(&mut self, field: &Field<'_>, table: &str) -> Caps {
        let mut fields = self.fields(field, table);
        Caps {
            tokens: self.cap(&mut fields, "tokens"),
            time: self.cap(&mut fields, "time"),
            turns: self.cap(&mut fields, "turns"),
            model_calls: self.cap(&mut fields, "model_calls"),
            tool_calls: self.cap(&mut fields, "tool_calls"),
            children: self.cap(&mut fields, "children"),
            runs: None,
        }
    }

    /// `budget` of a team.
    pub(super) fn budget(&mut self, field: &Field<'_>) -> BudgetSpec {
        let mut fields = self.fields(field, "budget");
        let mut spec = BudgetSpec::default();
        if let Some(run) = fields.take(self, "run") {
            spec.run = self.run_caps(&run, "budget.run");
        }
        if let Some(tree) = fields.take(self, "tree") {
            let mut tree = self.fields(&tree, "budget.tree");
            spec.tree.tokens = self.cap(&mut tree, "tokens");
            spec.tree.time = self.cap(&mut tree, "time");
            spec.tree.runs = self.cap(&mut tree, "runs");
            spec.depth = self.small_cap(&mut tree, "depth");
            spec.concurrency = self.small_cap(&mut tree, "concurrency");
            spec.hops = self.small_cap(&mut tree, "hops");
        }
        spec
    }
}
