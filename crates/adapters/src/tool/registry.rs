//! Several sets of tools behind one door: the file tools and those of an embedding program.

use super::text;
use deputize_core::code;
use deputize_core::definition::{DELEGATE, ToolSpec};
use deputize_core::id::ToolName;
use deputize_core::step::{Failure, Note};
use deputize_runtime::port::{Pending, Tools, Who};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why sets of tools cannot be joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// Two tools have one name.
    #[error("two tools are called `{0}`: rename one of them")]
    Duplicate(ToolName),
    /// The name stands for a delegation.
    #[error("no tool may be called `{DELEGATE}`: that is how agents delegate")]
    Reserved,
}

/// Several sets of tools as one.
#[derive(Clone, Default)]
pub struct Registry {
    sets: Vec<Arc<dyn Tools>>,
    /// Which set performs a tool.
    by_name: BTreeMap<ToolName, Arc<dyn Tools>>,
}

impl Registry {
    /// No tools.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Adds a set. Its tools are asked for once, here; a name that it gives later is unknown.
    ///
    /// # Errors
    /// A name is taken or reserved; then nothing of the set is added.
    pub fn with(mut self, tools: Arc<dyn Tools>) -> Result<Registry, RegistryError> {
        for spec in tools.specs() {
            if spec.name.as_str() == DELEGATE {
                return Err(RegistryError::Reserved);
            }
            if self.by_name.insert(spec.name.clone(), Arc::clone(&tools)).is_some() {
                return Err(RegistryError::Duplicate(spec.name));
            }
        }
        self.sets.push(tools);
        Ok(self)
    }

    fn find(&self, name: &ToolName) -> Result<&Arc<dyn Tools>, Failure> {
        self.by_name.get(name).ok_or_else(|| unknown(name, self.by_name.keys().map(ToolName::as_str)))
    }
}

impl Tools for Registry {
    fn specs(&self) -> Vec<ToolSpec> {
        let specs = self.sets.iter().flat_map(|set| set.specs());
        specs.filter(|spec| self.by_name.contains_key(&spec.name)).collect()
    }

    fn prepare<'a>(
        &'a self,
        who: &'a Who,
        tool: &'a ToolName,
        arguments: &'a Value,
    ) -> Pending<'a, Result<Option<Note>, Failure>> {
        match self.find(tool) {
            Ok(set) => set.prepare(who, tool, arguments),
            Err(failure) => Box::pin(std::future::ready(Err(failure))),
        }
    }

    fn perform<'a>(
        &'a self,
        who: &'a Who,
        tool: &'a ToolName,
        arguments: &'a Value,
        note: Option<&'a Note>,
    ) -> Pending<'a, Result<String, Failure>> {
        match self.find(tool) {
            Ok(set) => set.perform(who, tool, arguments, note),
            Err(failure) => Box::pin(std::future::ready(Err(failure))),
        }
    }

    /// A path exists when one of the sets says so.
    fn exists<'a>(&'a self, path: &'a str) -> Pending<'a, bool> {
        Box::pin(async move {
            for set in &self.sets {
                if set.exists(path).await {
                    return true;
                }
            }
            false
        })
    }
}

/// The failure of a call of a tool that is not there.
pub(super) fn unknown<'a>(name: &ToolName, names: impl Iterator<Item = &'a str>) -> Failure {
    let near = text::nearest(name.as_str(), names, 1).pop();
    let hint = near.map_or_else(String::new, |near| format!(", did you mean `{near}`?"));
    Failure::fixed(code::TOOL_UNKNOWN, format!("there is no tool {}{hint}", text::shown(name.as_str())))
}
