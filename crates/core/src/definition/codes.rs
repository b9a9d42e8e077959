//! Every code of a message about files and flags: one list. `check:` of `deputize.yaml` accepts these, the reference of
//! messages is made of them, and a test compares them with what the loader says.

use std::fmt::Write as _;

/// A code and what it says.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// `area.what`.
    pub code: &'static str,
    /// Its level, or the levels that it may have.
    pub level: &'static str,
    /// One sentence.
    pub doc: &'static str,
}

macro_rules! codes {
    ($($code:literal $level:literal $doc:literal;)*) => {
        /// Every code, in alphabetic order.
        pub const CODES: &[Code] = &[$(Code { code: $code, level: $level, doc: $doc },)*];
    };
}

codes! {
    "agent.defaults" "info" "What an agent gets where its file is silent.";
    "agent.list_long" "warning" "The descriptions that one agent chooses from are long together; they are in each of its requests.";
    "agent.many" "warning" "An agent chooses among more agents than a model chooses well from.";
    "agent.overlap" "warning" "Two agents that one agent chooses from have nearly the same words in their descriptions.";
    "agent.shadowed" "warning" "Two files have one name; the one that is found first is used.";
    "agent.too_deep" "warning" "An agent stands deeper below the root than may run.";
    "agent.unknown" "error" "An agent that is named was not loaded.";
    "agent.unreachable" "warning" "No agent below the root may delegate to it.";
    "agent.unsupported" "warning" "An agent of a kind that this build cannot run; it is not loaded.";
    "approval.unavailable" "warning" "A person should be asked, and this build cannot ask: it is denied.";
    "body.empty" "info" "An agent has no prompt.";
    "budget.deep" "warning" "More levels may run than a tree has use for.";
    "budget.not_positive" "error" "A cap is zero, negative or without end.";
    "budget.turns_differ" "error" "The turns of an agent are given twice and differ.";
    "check.kept" "warning" "`check` cannot lower an error.";
    "check.unknown" "error" "`check` names a code that no message has.";
    "composition.agents" "error, warning" "`composition` and `agents` do not fit together.";
    "context.given" "info" "Files that agents are given as project context.";
    "context.outside" "error, warning" "A context file lies outside the project, or is a secret by its name.";
    "description.cut" "info" "A description is longer than lists of agents show.";
    "description.missing" "error" "A description is missing or blank.";
    "env.base_url" "error" "A variable of the environment holds no address.";
    "file.kind" "error" "No regular file.";
    "file.more" "error" "There are more messages about a file than are shown.";
    "file.not_utf8" "error, warning" "The file is not UTF-8.";
    "file.nul" "error, warning" "The file holds a NUL character.";
    "file.shape" "error" "The file is no map of keys to values.";
    "file.skipped" "info" "The file is no agent.";
    "file.too_big" "error, warning" "The file is longer than is read.";
    "file.unreadable" "error, warning" "The file or folder cannot be read.";
    "flag.no_effect" "warning" "A flag changes nothing here.";
    "flag.unknown" "error" "There is no such flag.";
    "flag.unsupported" "error" "The value of a flag is not in this build.";
    "flag.value" "error" "The value of a flag has the wrong form.";
    "foreign.cap" "info" "What a run in a folder without `deputize.yaml` may cost.";
    "foreign.ceiling" "info" "What agents may do in a folder without `deputize.yaml`.";
    "foreign.mapped" "info" "Tools by their names here.";
    "frontmatter.late" "warning" "Lines stand before the front matter, so the file is no agent.";
    "frontmatter.open" "error" "The front matter never closes.";
    "frontmatter.repaired" "warning" "A value is no YAML and was read in the only way it can be meant.";
    "key.empty" "warning" "A key has no value and is read as if it were not there.";
    "key.no_effect" "warning" "A key has no effect here.";
    "key.not_here" "error" "A key belongs into another file.";
    "key.spelling" "warning" "A key has another spelling.";
    "key.twice" "error" "A key stands twice, in two spellings.";
    "key.type" "error" "A value has the wrong type.";
    "key.unknown" "error, warning" "There is no such key: an error in `deputize.yaml`, a warning in the files of agents.";
    "key.unsupported" "error, warning" "A key belongs to a capability that this build lacks.";
    "key.value" "error" "A value cannot be used.";
    "load.fallback" "info" "Agents are read from another product's folder, since there is no other.";
    "load.missing" "warning" "A folder of `load` is not there.";
    "load.too_deep" "warning" "A folder is too deep to be searched.";
    "load.too_many" "error" "There are more files or folders than are searched.";
    "mcp.expansion" "error, warning" "A `${VARIABLE}` is not closed, or names no variable.";
    "mcp.found" "info" "Servers that `.mcp.json` names; none is started.";
    "mcp.server" "error" "A server in `.mcp.json` cannot be used.";
    "mcp.syntax" "error" "`.mcp.json` is no JSON.";
    "mcp.unset" "warning" "A variable of `.mcp.json` is not set and has no default.";
    "mcp.wrapper" "warning" "The servers stand at the top of `.mcp.json`; they belong below `mcpServers`.";
    "model.script" "info" "Every model is a script.";
    "model.unknown" "error, warning" "There is no such model; before a run this is an error unless a flag replaces it.";
    "name.invalid" "error" "A name cannot be used.";
    "name.missing" "error" "A name is missing.";
    "name.slug" "warning" "A name is read in its normal form.";
    "output.schema" "error" "An output schema cannot be used.";
    "path.kind" "error" "A path is no folder, no configuration and no agent file.";
    "path.missing" "error" "A file or folder is not there.";
    "permission.default" "info" "A rule denies what is denied anyway, since no rule after it allows any of it.";
    "permission.empty" "warning" "A list of rules is empty, so it allows nothing.";
    "permission.exact" "warning" "A path of a rule is a folder, or may become one, and is written without the final `/`.";
    "permission.incomplete" "error" "A rule names no operations or no paths.";
    "permission.interrupt" "warning" "`interrupt` is read as `ask`.";
    "permission.narrowed" "warning" "A permission on parts of a tool is not in this build; the tool is taken away whole.";
    "permission.never" "warning" "A path of a rule is one of the disk, not one from the workspace down.";
    "permission.no_effect" "warning" "A list above closes all that a rule allows.";
    "permission.no_read" "warning" "A list of rules allows writing and no reading.";
    "permission.not_widened" "warning" "A mode would widen what an agent may do; it does not.";
    "permission.only_deny" "warning" "No rule of a list allows anything.";
    "permission.operation" "error" "A rule names an operation that there is not.";
    "permission.path" "error" "A path of a rule is no pattern.";
    "permission.shadowed" "warning" "Rules before it decide on all that a rule, or one of its paths, matches.";
    "profile.chosen" "info" "Who fills the texts of a brief.";
    "provider.address" "info" "The address of the environment is used instead of the file's.";
    "provider.invalid" "error" "A provider or its script cannot be used as it is set.";
    "provider.unknown" "error" "There is no such provider.";
    "role.unknown" "error" "There is no such role.";
    "root.chosen" "info" "Which agent a run starts with, and why.";
    "root.unknown" "error, warning" "The agent that a run should start with was not loaded.";
    "secret.elsewhere" "error, warning" "A key of the environment would go to an address that the project chose; it does not.";
    "secret.in_file" "error" "A credential stands in a file.";
    "secret.in_mcp" "warning" "What looks like a credential stands in `.mcp.json`.";
    "secret.sent" "warning, info" "A key goes to an address that the project chose, as the project says.";
    "skill.found" "info" "Skills that were found; they are not used yet.";
    "skill.long" "warning" "A skill is longer than is good for it.";
    "skill.name" "warning" "The name of a skill is not that of its folder, or is no name.";
    "store.path" "error" "The path of the store is no file that logs can be kept in.";
    "task_type.shared" "warning" "Two agents have one task type.";
    "tool.ceiling" "warning" "A tool is beyond the ceiling of the team.";
    "tool.no_counterpart" "info" "A tool of another product has no counterpart here.";
    "tool.unavailable" "warning" "A tool is known and not in this build.";
    "tool.unknown" "error, warning" "There is no such tool: an error as a key of `deputize.yaml`, else a warning.";
    "tools.empty" "error" "Nothing is left of a list of tools.";
    "tools.inherit" "info" "What an agent without `tools` gets.";
    "tools.none_left" "warning" "An agent that names tools holds none of them where it stands.";
    "version.newer" "error" "The file needs a newer program.";
    "workspace.missing" "error" "The workspace is no folder.";
    "yaml.alias" "error" "Aliases stand for too much, or for themselves.";
    "yaml.depth" "error" "The text is nested too deep.";
    "yaml.documents" "error" "There is more than one document.";
    "yaml.duplicate_key" "error" "A key stands twice.";
    "yaml.key" "error" "A list or map stands as a key.";
    "yaml.nodes" "error" "The text has more values than are read.";
    "yaml.syntax" "error" "The text is no YAML.";
    "yaml.tab" "error" "A tab stands as indentation.";
    "yaml.tag" "error" "A tag has no meaning here.";
}

/// Whether a message may have this code.
pub fn is_code(code: &str) -> bool {
    CODES.iter().any(|c| c.code == code)
}

/// `docs/reference/messages.md`.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Messages about files and flags\n\n\
         `deputize check` gives them all; `run` starts only without errors. `check:` in `deputize.yaml` sets the level of a\n\
         code: `{tools.inherit: off}`, `{key.unknown: error}`. An error cannot be lowered.\n\n| code | level | says |\n|---|---|---|\n",
    );
    for Code { code, level, doc } in CODES {
        let _ = writeln!(out, "| `{code}` | {level} | {doc} |");
    }
    out
}
