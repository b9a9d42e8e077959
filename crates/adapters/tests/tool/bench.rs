//! A workspace beside a folder that must stay out of reach, and the one check that all tests use.

use deputize_adapters::tool::FileTools;
use deputize_core::code::Code;
use deputize_core::id::{AgentName, AgentPath, Label, RunId, ToolName};
use deputize_core::policy::{Access, Glob, Layer, Layers, Permission, Rule, Source};
use deputize_core::step::{Failure, Note};
use deputize_runtime::port::{Tools, Who};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A text that stands in files outside the workspace or under a rule, and may never be in an answer.
pub(crate) const CANARY: &str = "canary-7f3a";

/// What a call must come to.
pub(crate) enum Expect<'a> {
    /// Exactly this text.
    Is(&'a str),
    /// A text with all these parts.
    Says(&'a [&'a str]),
    /// A failure with this code and all these parts in its sentence.
    Fails(Code, &'a [&'a str]),
}

pub(crate) struct Bench {
    pub(crate) dir: TempDir,
    pub(crate) tools: FileTools,
    /// The lists of rules that hold for the run that calls.
    pub(crate) layers: Layers,
}

impl Bench {
    /// Files as (path, content); a content `-> TARGET` makes a link, a path that ends in `/` a folder.
    pub(crate) fn new(files: &[(&str, &str)]) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().join("ws");
        fs::create_dir(&workspace).unwrap();
        fs::create_dir(dir.path().join("out")).unwrap();
        fs::write(dir.path().join("out/secret.txt"), CANARY).unwrap();
        for (path, content) in files {
            let path = workspace.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match content.strip_prefix("-> ") {
                Some(target) => symlink(target.replace("$OUT", &dir.path().display().to_string()), path).unwrap(),
                None if path.to_str().unwrap().ends_with('/') => fs::create_dir_all(path).unwrap(),
                None => fs::write(path, content).unwrap(),
            }
        }
        let tools = FileTools::open(&workspace).unwrap();
        Bench { dir, tools, layers: Layers::default() }
    }

    /// Under these rules of the project: operations (`r`, `w`, `rw`), mode, paths.
    pub(crate) fn under(mut self, rules: &[(&str, Permission, &[&str])]) -> Bench {
        self.layers = Layers::new([Layer { source: Source::Project, rules: rules.iter().map(rule).collect() }]);
        self
    }

    fn who(&self) -> Who {
        Who { permissions: self.layers.clone(), ..who() }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join("ws").join(path)
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Result<String, Failure> {
        self.call_noted(tool, arguments, None)
    }

    pub(crate) fn call_noted(&self, tool: &str, arguments: &Value, note: Option<&Note>) -> Result<String, Failure> {
        wait(self.tools.perform(&self.who(), &ToolName::new(tool), arguments, note))
    }

    pub(crate) fn prepare(&self, tool: &str, arguments: &Value) -> Result<Option<Note>, Failure> {
        wait(self.tools.prepare(&self.who(), &ToolName::new(tool), arguments))
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        wait(self.tools.exists(path))
    }

    /// Performs a call and compares; no answer may hold the canary or tell of the place outside.
    pub(crate) fn check(&self, tool: &str, arguments: &Value, expect: &Expect<'_>) {
        let got = self.call(tool, arguments);
        let text = match &got {
            Ok(text) => text,
            Err(failure) => &failure.why,
        };
        let call = format!("{tool} {arguments}");
        assert!(!text.contains(CANARY), "{call} gave the canary: {text}");
        let outside = self.dir.path().join("out").display().to_string();
        assert!(!text.contains(&outside), "{call} told where a link leads: {text}");
        match (&got, expect) {
            (Ok(text), Expect::Is(wanted)) => assert_eq!(text, wanted, "{call}"),
            (Ok(text), Expect::Says(parts)) => contains(text, parts, &call),
            (Err(failure), Expect::Fails(code, parts)) => {
                assert_eq!(failure.code, *code, "{call}: {}", failure.why);
                contains(&failure.why, parts, &call);
            }
            (got, _) => panic!("{call} came to {got:?}"),
        }
    }

    /// Everything below the temporary folder: kind and mode, and the content or the target.
    pub(crate) fn tree(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut tree = BTreeMap::new();
        collect(self.dir.path(), &mut tree);
        tree
    }
}

fn rule((operations, mode, paths): &(&str, Permission, &[&str])) -> Rule {
    let both = [('r', Access::Read), ('w', Access::Write)];
    let operations = both.into_iter().filter(|(c, _)| operations.contains(*c)).map(|(_, access)| access).collect();
    let paths = paths.iter().map(|path| Glob::parse(path).unwrap()).collect();
    Rule { operations, paths, mode: *mode, reason: None }
}

fn contains(text: &str, parts: &[&str], call: &str) {
    for part in parts {
        assert!(text.contains(part), "{call}: no {part:?} in {text:?}");
    }
}

fn collect(folder: &Path, tree: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let facts = path.symlink_metadata().unwrap();
        let content = if facts.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else if facts.is_file() {
            fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        if facts.is_dir() {
            collect(&path, tree);
        }
        tree.insert(path, (facts.permissions().mode(), content));
    }
}

/// A call of the first step of a run.
pub(crate) fn who() -> Who {
    Who {
        run: RunId::new("r1"),
        agent: AgentName::new("lead"),
        path: AgentPath::new("lead"),
        label: Label::parse("t1/c0").unwrap(),
        attempt: 1,
        permissions: Layers::default(),
    }
}

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}
