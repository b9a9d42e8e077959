//! Which model speaks: the run's own, or the fallback that it has come to. A run moves along its agent's list and never
//! back: a provider that has just failed is not asked again for every turn, and the conversation keeps one voice.

use super::state::{RunState, Step};
use crate::code::{self, Code};
use crate::definition::{Chosen, ModelChoice, Team};
use crate::id::{Label, ModelName};
use crate::step::Outcome;

impl RunState {
    /// The model of the next model step.
    pub fn model(&self) -> Option<&ModelName> {
        self.model.as_ref().or_else(|| self.started.as_ref().map(|s| &s.model))
    }

    /// The model of the newest attempt of a step, with the role that chose it; a fallback is chosen by none.
    pub fn model_of(&self, step: &Step) -> Option<Chosen> {
        let started = self.started.as_ref()?;
        Some(match &step.model {
            Some(model) => Chosen { model: model.clone(), role: None },
            None => Chosen { model: started.model.clone(), role: started.role.clone() },
        })
    }

    /// What `inherit` means for a child: the model that the run has come to.
    pub(crate) fn chosen(&self) -> Option<Chosen> {
        let started = self.started.as_ref()?;
        Some(match &self.model {
            Some(model) => Chosen { model: model.clone(), role: None },
            None => Chosen { model: started.model.clone(), role: started.role.clone() },
        })
    }

    /// The model that takes a step over whose own failed by its provider; none when no other is left.
    pub(super) fn next_model(&self, team: &Team, step: &Step, code: &Code) -> Option<ModelName> {
        let started = self.started.as_ref().filter(|_| code.is_of_provider())?;
        let mut line = vec![started.model.clone()];
        for name in &team.agents.get(&started.agent)?.fallback {
            let chosen = team.models.resolve(&ModelChoice::Named(name.clone()), None);
            line.extend(chosen.ok().map(|c| c.model).filter(|model| !line.contains(model)));
        }
        let place = |model: &ModelName| line.iter().position(|m| m == model).unwrap_or(0);
        let (failed, reached) = (place(&self.model_of(step)?.model), place(self.model()?));
        line.get(reached.max(failed + 1)).cloned()
    }

    /// The run goes on with another model.
    pub(super) fn fall_back(&mut self, label: &Label, last: &Outcome, model: ModelName) {
        let failed = self.steps.get(label).and_then(|step| self.model_of(step));
        let (from, why) = match (failed, last) {
            (Some(from), Outcome::Failed { code, .. }) => (from.model, code.to_string()),
            _ => return,
        };
        let text =
            format!("`{from}` could not take the step ({why}); `{model}` takes it and every later one of this run");
        self.note(Some(label), &code::MODEL_FALLBACK, &text);
        self.model = Some(model);
    }

    /// The next attempt of a step has all its retries again.
    pub(super) fn new_series(&mut self, label: &Label) {
        if let Some(step) = self.steps.get_mut(label) {
            (step.failures, step.anew) = (0, true);
        }
    }
}
