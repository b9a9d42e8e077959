//! What is stored with a tree so that any process can take it up: the setup, and the files that no agent may change.
//! Holds no secret. Owns the form of that blob.

use crate::fault::Fault;
use crate::past::Shelf;
use deputize_adapters::loader::Setup;
use deputize_core::id::{Digest, RunId};
use deputize_core::run::RunState;
use deputize_runtime::secret::Redactor;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The blob.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// The setup.
    #[serde(flatten)]
    pub(crate) setup: Setup,
    /// Files that no agent may change, absolute.
    #[serde(default)]
    pub(crate) protected: Vec<PathBuf>,
    /// Where the team was read from, absolute: what was named, else the folder. Earlier versions did not keep it.
    #[serde(default)]
    pub(crate) source: Option<PathBuf>,
}

impl Stored {
    /// The variables that providers of this setup take their keys from.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        let providers = self.setup.providers.values();
        providers.flat_map(|provider| [&provider.api_key_env, &provider.proxy_auth_env]).filter_map(Option::as_deref)
    }
    /// Takes secrets out of the texts of the team, before they are stored or sent. Returns whether there were any.
    pub(crate) fn clean(&mut self, redactor: &Redactor) -> Result<bool, Fault> {
        let unstorable = |e| Fault::new("team.invalid", format!("the team cannot be stored: {e}"));
        let mut value = serde_json::to_value(&*self).map_err(unstorable)?;
        let providers = value.get("providers").cloned().unwrap_or_default();
        if redactor.finds_in(&providers) {
            let text = "the settings of a provider hold a key itself";
            return Err(Fault::new("secret.in_file", text).hint("name its variable with `api_key_env: NAME`"));
        }
        let found = redactor.finds_in(&value);
        if found {
            redactor.value(&mut value);
            *self = serde_json::from_value(value).map_err(unstorable)?;
        }
        Ok(found)
    }
    /// As bytes.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, Fault> {
        serde_json::to_vec(self).map_err(|e| Fault::new("team.invalid", format!("the team cannot be stored: {e}")))
    }
    /// What a tree goes on with, and its digest: what was stored when it began, or what it has adopted since.
    pub(crate) async fn of(shelf: &Shelf, root: &RunId) -> Result<(Stored, Digest), Fault> {
        let log = shelf.store.read(root, 0).await?;
        let Some(started) = RunState::fold(&log).started().cloned() else {
            let text = format!("the log of {root} does not begin with the start of a run");
            return Err(Fault::new("store.damaged", text));
        };
        let digest = started.team.clone();
        let lost = |why: String| {
            Fault::new("run.setup", format!("run {root} cannot go on: what it was started with {why}"))
                .hint(format!("deputize trace {root} still shows all of it"))
        };
        let blob = shelf.store.get(&digest).await?.ok_or_else(|| lost("is not in the store".to_string()))?;
        let stored = serde_json::from_slice(&blob)
            .map_err(|e| lost(format!("cannot be read by this version of the program ({e})")))?;
        Ok((stored, digest))
    }
}
