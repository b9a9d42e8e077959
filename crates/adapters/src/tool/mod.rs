//! Tools: the file tools of a workspace, one file each, and the registry that joins them with an embedding program's own.
//! Owns what a model may do to files. Does not own: which agent may use which tool, which the core's gate decides, and how
//! much of a result a model sees, which the driver bounds.
//!
//! A new file tool is one file with a [`Builtin`] and one line in [`BUILTIN`].

mod arguments;
mod aside;
mod edit_file;
mod glob;
mod grep;
mod lines;
mod ls;
mod pattern;
mod read_file;
mod registry;
mod search;
mod splice;
mod text;
mod workspace;
mod write_file;

pub use arguments::{Kind, Parameter};
pub use registry::{Registry, RegistryError};
pub use workspace::OpenError;

use arguments::Arguments;
use aside::Stop;
use deputize_core::definition::{Operation, PathArgument, ToolSpec};
use deputize_core::id::ToolName;
use deputize_core::policy::{Layers, Use};
use deputize_core::step::{EffectClass, Failure, Note};
use deputize_runtime::port::{Pending, Tools, Who};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use workspace::{Folder, Workspace, beneath};

/// Every file tool, in the order in which models are offered them.
pub const BUILTIN: &[Builtin] = &[ls::TOOL, read_file::TOOL, glob::TOOL, grep::TOOL, write_file::TOOL, edit_file::TOOL];

/// What a tool does for one call, on a thread that may block.
type Work<T> = fn(&Call<'_>) -> Result<T, Failure>;

/// A file tool.
#[derive(Clone, Copy)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// What it does, for the model.
    pub description: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Whether doing it twice does harm.
    pub effect: EffectClass,
    /// What it does to the world.
    pub operation: Operation,
    /// What it does with its argument `path`.
    pub uses: &'static [Use],
    /// What the world looks like before, for a tool that must tell its effect from its absence.
    prepare: Option<Work<Note>>,
    perform: Work<String>,
}

impl Builtin {
    /// The tool as the core knows it.
    pub fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: ToolName::new(self.name),
            description: self.description.into(),
            input_schema: arguments::schema(self.parameters),
            effect: self.effect,
            operation: self.operation,
            paths: vec![PathArgument { name: "path".into(), uses: self.uses.to_vec() }],
        }
    }
}

/// One call of a file tool.
struct Call<'a> {
    workspace: &'a Workspace,
    uses: &'static [Use],
    arguments: Arguments,
    note: Option<&'a Note>,
    /// The idempotency key of the attempt.
    key: &'a str,
    stop: &'a Stop,
}

/// The file tools of one workspace. Cheap to clone; clones share the workspace.
#[derive(Clone)]
pub struct FileTools(Arc<Folder>);

impl FileTools {
    /// Binds the tools to a folder.
    ///
    /// # Errors
    /// The folder does not exist, is no folder, or cannot be opened.
    pub fn open(workspace: &Path) -> Result<FileTools, OpenError> {
        FileTools::open_protecting(workspace, &[])
    }

    /// As [`FileTools::open`]; besides what the built-in rules protect, no tool writes these files or folders: a team's
    /// configuration and agent files that lie in unusual places. Relative paths start at the workspace.
    ///
    /// # Errors
    /// As [`FileTools::open`].
    pub fn open_protecting(workspace: &Path, protected: &[&Path]) -> Result<FileTools, OpenError> {
        Folder::open(workspace, protected).map(|folder| FileTools(Arc::new(folder)))
    }

    /// Starts work on a thread for it.
    fn start<'a, T: Send + 'static>(
        &self,
        who: &Who,
        tool: &Builtin,
        arguments: &Value,
        note: Option<&Note>,
        work: Work<T>,
    ) -> Pending<'a, Result<T, Failure>> {
        let arguments = match arguments::read(tool.name, tool.parameters, arguments) {
            Ok(arguments) => arguments,
            Err(failure) => return Box::pin(std::future::ready(Err(failure))),
        };
        let (folder, layers) = (Arc::clone(&self.0), who.permissions.clone());
        let (uses, key, note) = (tool.uses, who.key(), note.cloned());
        Box::pin(aside::aside(move |stop| {
            let workspace = Workspace::new(folder, layers);
            work(&Call { workspace: &workspace, uses, arguments, note: note.as_ref(), key: &key, stop })
        }))
    }
}

impl Tools for FileTools {
    fn specs(&self) -> Vec<ToolSpec> {
        BUILTIN.iter().map(Builtin::spec).collect()
    }

    fn prepare<'a>(
        &'a self,
        who: &'a Who,
        tool: &'a ToolName,
        arguments: &'a Value,
    ) -> Pending<'a, Result<Option<Note>, Failure>> {
        let tool = match find(tool) {
            Ok(tool) => tool,
            Err(failure) => return Box::pin(std::future::ready(Err(failure))),
        };
        let Some(prepare) = tool.prepare else { return Box::pin(std::future::ready(Ok(None))) };
        let note = self.start(who, tool, arguments, None, prepare);
        Box::pin(async move { note.await.map(Some) })
    }

    fn perform<'a>(
        &'a self,
        who: &'a Who,
        tool: &'a ToolName,
        arguments: &'a Value,
        note: Option<&'a Note>,
    ) -> Pending<'a, Result<String, Failure>> {
        match find(tool) {
            Ok(tool) => self.start(who, tool, arguments, note, tool.perform),
            Err(failure) => Box::pin(std::future::ready(Err(failure))),
        }
    }

    fn exists<'a>(&'a self, path: &'a str) -> Pending<'a, bool> {
        let (folder, path) = (Arc::clone(&self.0), path.to_string());
        Box::pin(async move {
            let look = move |_: &Stop| Workspace::new(folder, Layers::default()).find(&path, &[Use::Read]);
            let found = aside::aside(look).await;
            found.is_ok_and(|found| !matches!(found.place.kind, beneath::Kind::Missing(_)))
        })
    }
}

fn find(name: &ToolName) -> Result<&'static Builtin, Failure> {
    BUILTIN
        .iter()
        .find(|tool| tool.name == name.as_str())
        .ok_or_else(|| registry::unknown(name, BUILTIN.iter().map(|tool| tool.name)))
}
