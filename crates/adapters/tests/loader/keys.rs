//! Every key of both files: the table and the decoder are the same, and every value that is wrong is said with its place.
// covers F-02, E-02, E-03, E-26, D-10

use crate::support::{Folder, codes, has, lines};
use deputize_adapters::loader::Loaded;
use deputize_adapters::yaml;
use deputize_core::definition::decode::{self, Whose};
use deputize_core::definition::keys::{self, File, Key, Support};
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::{EvidenceMode, ModelChoice, ToolChoice};
use deputize_core::id::AgentName;
use std::collections::BTreeSet;

fn decoded(key: &Key) -> (Vec<Message>, BTreeSet<String>) {
    match key.file {
        File::Team => {
            let d = decode::team(&yaml::parse(key.example, 0).unwrap(), Whose::Project);
            (d.messages, d.asked)
        }
        File::Skill => {
            let text = if key.example.starts_with("name") {
                "description: y"
            } else if key.example.starts_with("description") {
                "name: x"
            } else {
                "name: x\ndescription: y"
            };
            let d = decode::skill(&yaml::parse(&format!("{text}\n{}", key.example), 0).unwrap());
            (d.messages, d.asked)
        }
        File::Agent => {
            let same = |line: &&str| line.split(':').next() == key.example.split(':').next();
            let required = ["name: x", "description: y"].into_iter().filter(|line| !same(line));
            let text = format!("{}\n{}", required.collect::<Vec<_>>().join("\n"), key.example);
            let d = decode::agent(&yaml::parse(&text, 0).unwrap());
            (d.messages, d.asked)
        }
    }
}

#[test]
fn every_example_is_read_as_the_table_says() {
    for key in [File::Team, File::Agent, File::Skill].into_iter().flat_map(keys::all) {
        let said: Vec<String> = decoded(key).0.iter().map(|m| format!("{:?} {}", m.level, m.code)).collect();
        let wanted: &[&str] = match key.support {
            Support::Here => &[],
            Support::Later => &["Error key.unsupported"],
            Support::LeftOut => &["Warning key.unsupported"],
            Support::NoEffect => &["Warning key.no_effect"],
        };
        assert_eq!(said, wanted, "{}: {}", key.path, key.example);
    }
}

#[test]
fn the_decoder_asks_for_the_keys_of_the_table_and_no_others() {
    for file in [File::Team, File::Agent, File::Skill] {
        let asked: BTreeSet<String> = keys::all(file).iter().flat_map(|key| decoded(key).1).collect();
        let here = keys::all(file).iter().filter(|k| k.support == Support::Here).map(|k| k.path.to_string());
        assert_eq!(asked, here.collect(), "{file:?}");
    }
}

/// What is said about an agent whose front matter has these lines beside the required ones.
fn agent(more: &str) -> Loaded {
    Folder::new().agent("reader", more).load()
}

fn team(text: &str) -> Loaded {
    Folder::new().agent("reader", "tools: []\n").file("deputize.yaml", text).load()
}

#[track_caller]
fn refused(loaded: &Loaded, code: &str, line: u32, words: &str) {
    let found = loaded.messages.iter().find(|m| m.level == Level::Error && m.code == code);
    let all = lines(&loaded.messages, Level::Error).join("\n");
    let message = found.unwrap_or_else(|| panic!("no {code}, but\n{all}"));
    assert_eq!(message.line, Some(line), "{all}");
    assert!(message.text.contains(words), "`{words}` is not in\n{all}");
}

#[test]
fn values_of_agent_files_that_are_refused() {
    // The lines begin on line 4 of the file.
    let table = [
        ("model: [a, b]\n", "key.type", "`model` must be a text, not a list"),
        ("identity: [one, two]\n", "key.type", "`identity` must be a text"),
        ("context: fork\n", "key.unsupported", "`context: fork` is not in this build; it has `isolated`"),
        ("pattern: lats\n", "key.unsupported", "`pattern: lats` is not in this build; it has `react`"),
        ("pattern: [react, lats]\n", "key.type", "`pattern` must be a text"),
        ("pattern: {max_turns: 3}\n", "key.value", "`pattern` has no `name`"),
        ("composition: debate\n", "key.unsupported", "it has `supervisor` and `single`"),
        ("composition: single\nagents: [reader]\n", "composition.agents", "exclude each other"),
        ("budget: {tokens: 0}\n", "budget.not_positive", "`budget.tokens`"),
        ("budget: {time: -5s}\n", "budget.not_positive", "`budget.time`"),
        ("budget: {turns: unlimited}\n", "budget.not_positive", "`budget.turns`"),
        ("budget: {tool_calls: null}\n", "budget.not_positive", "`budget.tool_calls`"),
        ("budget: {children: .nan}\n", "budget.not_positive", "`budget.children`"),
        ("budget: {tokens: lots}\n", "key.type", "not `lots`"),
        ("budget: {tokens: 99999999999999999999}\n", "key.value", "too big"),
        ("budget: {token: 5}\n", "key.unknown", "`budget.token` is no known key"),
        ("budget: {cost: unlimited}\n", "key.unsupported", "`budget.cost`"),
        ("maxTurns: 0\n", "budget.not_positive", "`maxTurns`"),
        ("timeout: soon\n", "key.type", "a duration such as"),
        ("output: [a]\n", "key.type", "`output` must be a JSON Schema or the path"),
        ("output: {type: array}\n", "output.schema", "type: object"),
        ("output: {type: nonsense}\n", "output.schema", "`output`"),
        ("output: nowhere.json\n", "output.schema", "cannot be read"),
        ("success: {}\n", "key.value", "names no condition"),
        ("success: {predicates: [{at: findings, exists: true}]}\n", "key.type", "a JSON pointer"),
        ("success: {predicates: [{at: /a}]}\n", "key.value", "a predicate is"),
        ("success: {predicates: [{at: /a, min_items: 1, max_items: 2}]}\n", "key.value", "a predicate is"),
        ("success: {predicates: [{at: /a, matches: \"[\"}]}\n", "key.value", "no regular expression"),
        ("success: {predicates: [{file_exists: ../x}]}\n", "key.type", "inside the workspace"),
        ("brief: {boundaries: \" \"}\n", "key.value", "`brief.boundaries` is blank"),
        ("evidence: cited\n", "key.type", "did you mean `cite`?"),
        ("permissionMode: plans\n", "key.type", "did you mean `plan`?"),
        ("project_context: \"true\"\n", "key.type", "`true` or `false`"),
        ("effort: huge\n", "key.type", "`low`, `medium`, `high`, `max`"),
        ("rules: Cite.\n", "key.type", "a list of texts"),
        ("tools:\n", "key.type", "`tools` must be a list of names (`[]` for none), not empty"),
        ("disallowedTools:\n", "key.type", "`disallowedTools` must be a list"),
        ("agents: {a: b}\n", "key.type", "`agents` must be a list"),
        ("tools: Read\nallowed-tools: Write\n", "key.twice", "`allowed-tools` says `tools` for the second time"),
        ("maxTurns: 3\nmax-turns: 4\n", "key.twice", "the first is on line 4"),
        ("model: fast\nmodel: think\n", "yaml.duplicate_key", "the first is on line 4"),
        ("agents: [writer]\n", "agent.unknown", "there is no agent `writer`"),
        ("tools: [Bash, TodoWrite]\n", "tools.empty", "`Bash`, `TodoWrite`"),
        ("tools: Write\npermissionMode: plan\n", "tools.empty", "`Write`"),
    ];
    for (more, code, words) in table {
        let second = ["key.twice", "yaml.duplicate_key"].contains(&code);
        refused(&agent(more), code, if second { 5 } else { 4 }, words);
    }
    refused(&agent("maxTurns: 3\nbudget: {turns: 4}\n"), "budget.turns_differ", 4, "4 and 3");
}

#[test]
fn values_of_the_configuration_that_are_refused() {
    let table = [
        ("budgt: {}", "key.unknown", "`budgt` is no known key"),
        ("version: 2", "version.newer", "newer program"),
        ("profile: relaxed", "key.type", "`strict` or `assisted`"),
        ("root: nobody", "root.unknown", "`nobody`"),
        ("load: agents", "key.type", "a list of texts"),
        ("user_agents: yes", "key.type", "`true` or `false`"),
        ("project_context: [missing.md]", "file.unreadable", "missing.md"),
        ("workspace: nowhere", "workspace.missing", "nowhere does not exist"),
        ("providers: {lab: {}}", "key.value", "needs a `kind`"),
        ("providers: {lab: {kind: cohere}}", "key.value", "not `cohere`"),
        ("providers: {openai: {base_url: localhost}}", "key.type", "an address such as"),
        ("providers: {openai: {base_url: \"http://me:pw@host/v1\"}}", "secret.in_file", "user or password"),
        ("providers: {openai: {api_key: sk-123}}", "secret.in_file", "a key itself never stands in a file"),
        ("providers: {openai: {api_key_env: sk-live-123}}", "secret.in_file", "must be the name of a variable"),
        ("providers: {openai: {headers: {Authorization: Bearer x}}}", "secret.in_file", "carries a credential"),
        ("providers: {openai: {body: [1]}}", "key.type", "must be a map"),
        ("providers: {openai: {timeout: {idle: 0}}}", "key.value", "`providers.openai.timeout.idle`"),
        ("providers: {openai: {retry: {attempts: 0}}}", "key.value", "`providers.openai.retry.attempts`"),
        ("providers: {openai: {limits: {concurrency: many}}}", "key.type", "a whole number"),
        ("providers: {openai: {timeouts: {}}}", "key.unknown", "`providers.openai.timeouts`"),
        ("providers: {scripted: {}}", "key.value", "needs a `script`"),
        ("providers: {scripted: {script: no.yaml}}", "path.missing", "no.yaml"),
        ("roles: {quick: \"openai:x\"}", "key.unknown", "`roles.quick`"),
        ("roles: {fast: gpt}", "key.type", "`provider:model`"),
        ("roles: {fast: \"lab:x\"}", "provider.unknown", "there is no provider `lab`"),
        ("aliases: {haiku: quick}", "key.type", "`provider:model`"),
        ("aliases: {fast: think}", "key.value", "has a meaning of its own"),
        ("models: {coder: {context: 1k}}", "model.unknown", "`provider:model`"),
        ("models: {\"openai:x\": {temperature: 9}}", "key.type", "from 0 to 2"),
        ("budget: {tree: {tokens: unlimited}}", "budget.not_positive", "`budget.tree.tokens`"),
        ("budget: {tree: {depth: 0}}", "budget.not_positive", "`budget.tree.depth`"),
        ("budget: {tree: null}", "key.type", "`budget.tree` must be a map, not empty"),
        ("budget: {run: {runs: 3}}", "key.unknown", "`budget.run.runs`"),
        ("output_limits: {tool_result: 0}", "key.value", "above 0"),
        ("tool_timeout: {grep: fast}", "key.type", "`tool_timeout.grep`"),
        ("in_doubt: ask", "key.unsupported", "it has `fail` and `retry`"),
        ("store: {sync: lazy}", "key.type", "`full` or `normal`"),
        ("check: {tools.inherit: quiet}", "key.type", "`error`, `warning` or `off`"),
        ("load: [\"agents/[\"]", "key.value", "is no glob"),
    ];
    for (text, code, words) in table {
        refused(&team(text), code, 1, words);
    }
    let nearest = team("budgt: {}\nproviders: {openai: {base_ulr: x}}");
    let hints: Vec<_> =
        nearest.messages.iter().filter_map(|m| m.hint.clone()).filter(|h| h.starts_with("did")).collect();
    assert_eq!(hints, ["did you mean `budget`?", "did you mean `base_url`?"]);
}

#[test]
fn what_an_agent_file_may_say_with_a_warning() {
    let table = [
        ("max-turns: 3\n", "key.spelling"),
        ("permissionmode: plan\n", "key.spelling"),
        ("zebra: yes\n", "key.unknown"),
        ("model:\n", "key.empty"),
        ("color: #f00\n", "key.empty"),
        ("background: true\n", "key.no_effect"),
        ("isolation: worktree\n", "key.no_effect"),
        ("hooks: {}\n", "key.no_effect"),
        ("trust: low\n", "key.no_effect"),
        ("skills: [a]\n", "key.unsupported"),
        ("mcpServers: {a: {}}\n", "key.unsupported"),
        ("memory: user\n", "key.unsupported"),
        ("permissionMode: bypassPermissions\n", "permission.not_widened"),
        ("permissionMode: acceptEdits\n", "permission.not_widened"),
        ("model: chronos-9-ultra\n", "model.unknown"),
        ("model: cohere:some\n", "model.unknown"),
        ("model: lab:some\n", "model.unknown"),
        ("fallback: [fast, \"lab:some\"]\n", "model.unknown"),
        ("fallback: nobody\n", "model.unknown"),
        ("composition: supervisor\n", "composition.agents"),
        ("tools: [Read, Reed]\n", "tool.unknown"),
        ("tools: [Read, delegate]\n", "tool.unknown"),
        ("tools: [Read, Bash]\n", "tool.unavailable"),
        ("tools: [Read, \"Write(docs/**)\"]\n", "tool.unavailable"),
        ("tools: Read, mcp__files__*\n", "tool.unavailable"),
        ("disallowedTools: Raed\n", "tool.unknown"),
    ];
    for (more, code) in table {
        let loaded = agent(more);
        assert_eq!(codes(&loaded), [code], "{more}");
        assert_eq!(loaded.messages.iter().find(|m| m.code == code).unwrap().line, Some(4));
        assert!(loaded.setup.is_some(), "{more}");
    }
    assert_eq!(codes(&agent("grant: [read_file, shell]\n")), ["key.no_effect", "tool.unavailable"]);
    assert!(has(&agent("tools: [Read, TodoWrite]\n"), Level::Info, "tool.no_counterpart"));
    for quiet in ["skills: []\n", "triggers: []\n", "permissionMode: dontAsk\n", "model: opus\n"] {
        assert_eq!(codes(&agent(quiet)), Vec::<&str>::new(), "{quiet}");
    }
}

#[test]
fn names_are_kept_slugged_or_refused() {
    let name = |written: &str| {
        let text = format!("---\nname: {written}\ndescription: d\n---\nBody.");
        let loaded = Folder::new().file("agents/a.md", text).load();
        match loaded.agents.iter().find(|a| a.file.is_some()) {
            Some(a) => format!("{}{}", a.name, if has(&loaded, Level::Warning, "name.slug") { " (slug)" } else { "" }),
            None => codes(&loaded).join(" "),
        }
    };
    let table = [
        ("doc-reader", "doc-reader"),
        ("no", "no"),
        ("12", "12"),
        ("\u{6c34}\u{624b}-\u{440}\u{443}\u{43b}", "\u{6c34}\u{624b}-\u{440}\u{443}\u{43b}"),
        ("Doc Reader", "doc-reader (slug)"),
        ("doc__reader", "doc-reader (slug)"),
        ("-doc--reader-", "doc-reader (slug)"),
        ("Gr\u{dc}n", "gr\u{fc}n (slug)"),
        ("a/b", "name.invalid"),
        ("..", "name.invalid"),
        ("\"a\\tb\"", "name.invalid"),
        ("'!!'", "name.invalid"),
        ("''", "name.invalid"),
        ("[a]", "key.type"),
        ("", "name.missing"),
    ];
    for (written, expected) in table {
        assert_eq!(name(written), expected, "{written}");
    }
    assert_eq!(name(&"x".repeat(80)), format!("{} (slug)", "x".repeat(64)));
}

#[test]
fn descriptions_must_be_there() {
    for (front, line) in [("name: a", 2), ("name: a\ndescription:", 3), ("description: \" \"\nname: a", 2)] {
        let loaded = Folder::new().file("agents/a.md", format!("---\n{front}\n---\nBody.")).load();
        refused(&loaded, "description.missing", line, "`description`");
    }
}

// covers E-03, D-10, E-26
#[test]
fn an_agent_that_says_nothing_has_printed_defaults() {
    let folder = Folder::new().agent("reader", "");
    let setup = folder.setup();
    let reader = &setup.team.agents[&AgentName::new("reader")];
    assert_eq!(reader.pattern, "react");
    assert_eq!((&reader.model, &reader.tools), (&ModelChoice::Inherit, &ToolChoice::Inherit));
    assert_eq!(reader.evidence, EvidenceMode::Derived);
    let said = lines(&folder.load().messages, Level::Info).join("\n");
    for words in ["pattern react", "composition single", "memory private", "context isolated", "budget budget.run"] {
        assert!(said.contains(words), "`{words}` is not in\n{said}");
    }
    assert!(said.contains("`reader` names no `tools` and gets ls, read_file, glob, grep"));
    let lead = Folder::new().agent("lead", "agents: [reader]\n").agent("reader", "").load();
    assert!(
        lines(&lead.messages, Level::Info)
            .iter()
            .any(|l| l.contains("`lead` has") && l.contains("composition supervisor"))
    );
}

// covers D-10
#[test]
fn an_agent_has_its_own_model_tools_prompt_and_caps() {
    let more = "model: think\ntools: [Read, write_file]\nidentity: A reader.\nrules: [One., Two.]\nbudget: {tokens: 100k, time: 1h30m}\n\
                maxTurns: 7\ngrant: '*'\nsuccess: {statements: [Done.]}\neffort: high\ntimeout: 90\nevidence: cite\n";
    let setup = Folder::new().agent("reader", more).setup();
    let reader = &setup.team.agents[&AgentName::new("reader")];
    assert_eq!(reader.model, ModelChoice::Named("think".into()));
    assert_eq!(reader.tools, ToolChoice::Listed(vec!["read_file".into(), "write_file".into()]));
    assert_eq!(reader.body, "You do reader.");
    assert_eq!(
        (reader.budget.tokens, reader.budget.time, reader.budget.turns),
        (Some(100_000), Some(5_400_000), Some(7))
    );
    assert_eq!((reader.identity.as_deref(), reader.rules.len()), (Some("A reader."), 2));
    assert_eq!((reader.timeout, reader.effort.as_deref()), (Some(90_000), Some("high")));
    assert_eq!(reader.grant.as_ref().map(Vec::len), Some(6));
    assert_eq!(reader.evidence, EvidenceMode::Cite);
}

// covers E-02
#[test]
fn two_of_what_an_agent_has_once_are_an_error() {
    for key in ["model", "identity", "tools", "pattern", "composition", "context", "output", "permissionMode"] {
        let twice = agent(&format!("{key}: react\n{key}: react\n"));
        assert!(has(&twice, Level::Error, "yaml.duplicate_key"), "{key}");
    }
    for key in ["model", "identity", "pattern", "composition", "context", "output", "permissionMode"] {
        assert!(has(&agent(&format!("{key}: [a, b]\n")), Level::Error, "key.type"), "{key}");
    }
}

#[test]
fn lists_take_commas_brackets_and_stars() {
    let tools = |more: &str| {
        let loaded = Folder::new().agent("a", "").agent("b", "").agent("reader", more).load();
        let reader =
            loaded.agents.iter().find(|a| a.name == "reader").map(|r| (r.tools.to_string(), r.agents.join(" ")));
        reader.unwrap_or_else(|| (codes(&loaded).join(" "), String::new()))
    };
    let table = [
        ("tools: Read, Grep\n", "[\"Read\",\"Grep\"]", ""),
        ("tools: [Read, \"Grep\"]\n", "[\"Read\",\"Grep\"]", ""),
        ("tools: Read\n", "[\"Read\"]", ""),
        ("tools: \"*\"\n", "\"all\"", ""),
        ("tools: [\"*\"]\n", "\"all\"", ""),
        ("tools: []\n", "[]", ""),
        ("", "null", ""),
        ("tools: Read, Agent(a, b)\n", "[\"Read\",\"Agent(a, b)\"]", "a b"),
        ("tools: [Read, Agent(a, b)]\n", "[\"Read\",\"Agent(a, b)\"]", "a b"),
        ("tools: Task(a)\n", "[\"Task(a)\"]", "a"),
        ("tools: Task, Read\n", "[\"Task\",\"Read\"]", "a b"),
        ("tools: Agent(a)\nagents: [b]\n", "[\"Agent(a)\"]", "b a"),
        ("agents: \"*\"\ndisallowedTools: Agent(a)\n", "null", "b"),
        ("agents: [B, a]\n", "null", "b a"),
        ("agents: \"*\"\ndisallowedTools: Task\n", "null", ""),
    ];
    for (more, written, agents) in table {
        assert_eq!(tools(more), (written.to_string(), agents.to_string()), "{more}");
    }
}

// covers F-06
#[test]
fn a_fallback_is_models_in_order_and_no_agent_yet() {
    let with = |fallback: &str| {
        let agent = format!("---\nname: a\ndescription: d\nfallback: {fallback}\n---\nBody.");
        let other = "---\nname: reader\ndescription: d\n---\nBody.";
        Folder::new().file("agents/a.md", agent).file("agents/b.md", other).load()
    };
    let loaded = with("[think, \"openai:b\"]");
    let team = loaded.setup.unwrap().team;
    assert_eq!(team.agents["a"].fallback, ["think", "openai:b"]);
    let loaded = with("reader");
    let message = loaded.messages.iter().find(|m| m.code == "key.unsupported").unwrap();
    assert_eq!((message.level, message.line), (Level::Error, Some(4)));
    assert!(message.text.contains("names an agent"), "{}", message.text);
}
