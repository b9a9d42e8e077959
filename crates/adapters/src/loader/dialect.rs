//! Agent files of other products, rewritten key by key into our form before they are decoded, so that there is one decoder.
//! Owns what a foreign key means; takes from [`keys::FOREIGN`] which there are. Nothing here ever widens: what another
//! product allows is not given, what it denies is taken away, and what it asks a person for is taken away, too.

use deputize_core::definition::keys::{self, Dialect, Treatment};
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::name;
use deputize_core::definition::node::{Entry, Kind, Node, Place};
use std::collections::BTreeMap;
use std::path::Path;

/// Folders whose files have a dialect, as ends of a path above the file.
const FOLDERS: [(&str, Dialect); 4] = [
    (".github/agents", Dialect::Copilot),
    (".gemini/agents", Dialect::Gemini),
    (".opencode/agents", Dialect::Opencode),
    (".opencode/agent", Dialect::Opencode),
];
/// The ending that says by itself whose file it is.
const COPILOT: &str = ".agent.md";

/// The dialect of a file, by its ending or by a folder above it.
pub(super) fn of(path: &Path) -> Option<Dialect> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.to_lowercase().ends_with(COPILOT) {
        return Some(Dialect::Copilot);
    }
    let folder = |above: &Path| FOLDERS.iter().find(|(end, _)| above.ends_with(end)).map(|(_, dialect)| *dialect);
    path.ancestors().skip(1).find_map(folder)
}

/// Why a file of a dialect is no agent, by its name alone.
pub(super) fn passed_over(dialect: Dialect, path: &Path) -> Option<&'static str> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let hidden = dialect == Dialect::Gemini && name.starts_with('_');
    hidden.then_some("no agent: Gemini CLI passes over files whose names begin with `_`, so this does, too")
}

/// A front matter in our form.
pub(super) struct Translated {
    pub(super) node: Node,
    pub(super) messages: Vec<Message>,
    /// Whether `*` does not mean it.
    pub(super) standalone: bool,
    /// Why it is not loaded at all.
    pub(super) skipped: Option<Message>,
}

/// Rewrites a front matter.
pub(super) fn translate(dialect: Dialect, path: &Path, node: Node) -> Translated {
    let at = node.at;
    let entries = match node.kind {
        Kind::Map(entries) => entries,
        Kind::Null => Vec::new(),
        other => {
            let node = Node { kind: other, at };
            return Translated { node, messages: Vec::new(), standalone: false, skipped: None };
        }
    };
    let mut t = Translator { at, ..Translator::default() };
    let mut read = BTreeMap::new();
    for mut entry in entries {
        match keys::foreign(dialect, &entry.key).map(|f| (f.key, f.treatment, f.doc)) {
            None => t.entries.push(entry),
            Some((_, Treatment::As(ours), _)) => {
                entry.key = ours.to_string();
                t.entries.push(entry);
            }
            Some((key, Treatment::NoEffect, doc)) => {
                t.say(Level::Warning, "key.no_effect", entry.at, format!("`{key}` has no effect here. {doc}"));
            }
            Some((key, Treatment::Read, _)) if entry.value.kind == Kind::Unreadable => {
                t.entries.push(Entry { key: key.to_string(), ..entry });
            }
            Some((key, Treatment::Read, _)) => {
                read.insert(key, entry);
            }
        }
    }
    match dialect {
        Dialect::Copilot => t.copilot(path, &mut read),
        Dialect::Gemini => t.gemini(&mut read),
        Dialect::Opencode => t.opencode(path, &mut read),
    }
    let node = Node { kind: Kind::Map(t.entries), at };
    Translated { node, messages: t.messages, standalone: t.standalone, skipped: t.skipped }
}

type Taken = BTreeMap<&'static str, Entry>;

#[derive(Default)]
struct Translator {
    /// Where the front matter begins: the place of what the file does not say itself.
    at: Place,
    entries: Vec<Entry>,
    messages: Vec<Message>,
    standalone: bool,
    skipped: Option<Message>,
}

fn text_node(text: impl Into<String>, at: Place) -> Node {
    Node { kind: Kind::Scalar { text: text.into(), quoted: true }, at }
}

fn word(node: &Node) -> &str {
    match &node.kind {
        Kind::Scalar { text, .. } => text,
        _ => "",
    }
}

impl Translator {
    fn say(&mut self, level: Level, code: &str, at: Place, text: String) {
        self.messages.push(Message::new(level, code, text).at(at));
    }

    fn add(&mut self, key: &str, at: Place, value: Node) {
        self.entries.push(Entry { key: key.to_string(), at, value });
    }

    /// `true` or `false`.
    fn flag(&mut self, entry: &Entry) -> bool {
        match word(&entry.value) {
            "true" | "True" | "TRUE" => true,
            "false" | "False" | "FALSE" => false,
            _ => {
                let text = format!("`{}` must be `true` or `false`", entry.key);
                self.say(Level::Error, "key.type", entry.at, text);
                false
            }
        }
    }

    fn copilot(&mut self, path: &Path, read: &mut Taken) {
        match read.remove("name") {
            Some(entry) => self.entries.push(entry),
            None => {
                let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let cut = file.len().saturating_sub(COPILOT.len());
                let stem = match file.get(cut..) {
                    Some(end) if end.eq_ignore_ascii_case(COPILOT) => file.get(..cut).unwrap_or_default(),
                    _ => file.rsplit_once('.').map_or(file.as_str(), |(stem, _)| stem),
                };
                self.name_of_file(stem);
            }
        }
        if let Some(entry) = read.remove("model") {
            self.first_model(entry);
        }
        for (key, closed) in [("disable-model-invocation", true), ("infer", false)] {
            if let Some(entry) = read.remove(key) {
                let closes = self.flag(&entry) == closed;
                self.standalone |= closes;
            }
        }
    }

    fn name_of_file(&mut self, stem: &str) {
        let name = name::normal(stem).map_or_else(|_| stem.to_string(), |n| n.name.to_string());
        self.add("name", self.at, text_node(name, self.at));
    }

    /// A list of models is a list of fallbacks.
    fn first_model(&mut self, mut entry: Entry) {
        if let Kind::List(models) = &entry.value.kind {
            let Some(first) = models.first().cloned() else { return };
            if models.len() > 1 {
                let text = format!("of `model` the first is used, `{}`; this build tries no other", word(&first));
                self.say(Level::Warning, "key.no_effect", entry.at, text);
            }
            entry.value = first;
        }
        self.entries.push(entry);
    }

    fn gemini(&mut self, read: &mut Taken) {
        if let Some(entry) = read.remove("kind") {
            match word(&entry.value) {
                "local" => {}
                "remote" => {
                    let text = "`kind: remote`: agents on other servers are not in this build; it is not loaded";
                    self.skipped = Some(Message::new(Level::Warning, "agent.unsupported", text).at(entry.at));
                }
                _ => self.say(Level::Error, "key.type", entry.at, "`kind` must be `local` or `remote`".into()),
            }
        }
        if let Some(entry) = read.remove("timeout_mins") {
            let at = entry.value.at;
            let value = match &entry.value.kind {
                Kind::Scalar { text, .. } => text_node(format!("{text}m"), at),
                _ => entry.value,
            };
            self.add("timeout", entry.at, value);
        }
    }

    fn opencode(&mut self, path: &Path, read: &mut Taken) {
        self.path_id(path);
        if let Some(entry) = read.remove("name") {
            let text = "`name` has no effect: opencode names an agent by its file".to_string();
            self.say(Level::Warning, "key.no_effect", entry.at, text);
        }
        if let Some(mut entry) = read.remove("model") {
            let at = entry.value.at;
            if let Some((provider, model)) = word(&entry.value).split_once('/') {
                let (model, variant) = model.split_once('#').map_or((model, None), |(m, v)| (m, Some(v)));
                let name = format!("{provider}:{model}");
                if let Some(variant) = variant {
                    let text = format!("the variant `{variant}` of the model has no effect");
                    self.messages.push(Message::new(Level::Warning, "key.no_effect", text).at(at));
                }
                entry.value = text_node(name, at);
            }
            self.entries.push(entry);
        }
        if let Some(entry) = read.remove("mode") {
            match word(&entry.value) {
                "primary" => self.standalone = true,
                "subagent" | "all" => {}
                _ => {
                    let text = "`mode` must be `primary`, `subagent` or `all`".to_string();
                    self.say(Level::Error, "key.type", entry.at, text);
                }
            }
        }
        if let Some(entry) = read.remove("disable")
            && self.flag(&entry)
        {
            let text = "no agent: `disable: true`";
            self.skipped = Some(Message::new(Level::Info, "file.skipped", text).at(entry.at));
        }
        self.rights(read);
    }

    /// The path below the folder of agents, without the ending.
    fn path_id(&mut self, path: &Path) {
        let of_folder = |above: &&Path| FOLDERS.iter().any(|(end, _)| above.ends_with(end));
        let base = path.ancestors().skip(1).find(of_folder).or_else(|| path.parent());
        let below = base.and_then(|b| path.strip_prefix(b).ok()).unwrap_or(path).with_extension("");
        let parts: Vec<String> = below.iter().map(|p| p.to_string_lossy().into_owned()).collect();
        self.name_of_file(&parts.join("-"));
    }

    /// `tools`, `permission` and `permissions`: what they take away.
    fn rights(&mut self, read: &mut Taken) {
        let mut rights = Rights::default();
        if let Some(entry) = read.remove("tools") {
            match &entry.value.kind {
                Kind::Map(tools) => self.switches(tools, &mut rights),
                _ => self.entries.push(entry),
            }
        }
        if let Some(entry) = read.remove("permission") {
            match &entry.value.kind {
                Kind::Map(actions) => {
                    actions.iter().for_each(|a| self.action(&a.key, a.at, &a.value, &mut rights));
                }
                _ => self.action("*", entry.at, &entry.value, &mut rights),
            }
        }
        if let Some(entry) = read.remove("permissions") {
            self.rules(entry, &mut rights);
        }
        self.apply(rights);
    }

    /// `{bash: false, write: true}`.
    fn switches(&mut self, tools: &[Entry], rights: &mut Rights) {
        for tool in tools {
            if self.flag(tool) {
                rights.allowed.push((tool.key.clone(), tool.at));
            } else {
                rights.denied.push((tool.key.clone(), tool.at));
            }
        }
    }

    /// A list `{action, resource, effect}`; any other list is ours.
    fn rules(&mut self, entry: Entry, rights: &mut Rights) {
        let Kind::List(rules) = &entry.value.kind else { return self.entries.push(entry) };
        let member = |rule: &Node, key: &str| match &rule.kind {
            Kind::Map(entries) => entries.iter().find(|e| e.key == key).map(|e| e.value.clone()),
            _ => None,
        };
        let read: Option<Vec<(Node, Node)>> =
            rules.iter().map(|r| member(r, "action").zip(member(r, "effect"))).collect();
        match read {
            Some(pairs) => {
                pairs.iter().for_each(|(action, effect)| self.action(word(action), action.at, effect, rights));
            }
            None => self.entries.push(entry),
        }
    }

    /// One action and its effect: a word, or words by pattern, of which the strictest holds for all.
    fn action(&mut self, action: &str, at: Place, effect: &Node, rights: &mut Rights) {
        let words: Vec<&str> = match &effect.kind {
            Kind::Map(patterns) => patterns.iter().map(|p| word(&p.value)).collect(),
            _ => vec![word(effect)],
        };
        if words.iter().any(|w| !["allow", "ask", "deny"].contains(w)) {
            let text = format!("the permission of `{action}` must be `allow`, `ask` or `deny`");
            return self.say(Level::Error, "key.type", at, text);
        }
        if words.iter().all(|w| *w == "allow") {
            return rights.allowed.push((action.to_string(), at));
        }
        if words.contains(&"ask") {
            let text = format!("`{action}: ask`: this build cannot ask a person, so it is denied");
            self.say(Level::Warning, "approval.unavailable", at, text);
        } else if words.contains(&"allow") {
            let text = format!("`{action}` is denied in part; this build has no such parts, so it is denied whole");
            self.say(Level::Warning, "permission.narrowed", at, text);
        }
        rights.denied.push((action.to_string(), at));
    }

    fn apply(&mut self, rights: Rights) {
        let Rights { allowed, mut denied } = rights;
        let list = |names: &[(String, Place)]| {
            names.iter().flat_map(|(name, at)| covered(name).map(|n| text_node(n, *at))).collect::<Vec<Node>>()
        };
        if let Some((_, at)) = denied.iter().find(|(name, _)| name == "*").cloned() {
            denied.retain(|(name, _)| name != "*");
            let named = self.entries.iter().any(|e| e.key == "tools");
            let kept: Vec<_> = allowed.into_iter().filter(|(name, _)| name != "*").collect();
            if !named {
                self.add("tools", at, Node { kind: Kind::List(list(&kept)), at });
            }
        }
        let Some((_, at)) = denied.first().cloned() else { return };
        let mut taken = list(&denied);
        match self.entries.iter_mut().find(|e| e.key == "disallowedTools") {
            Some(Entry { value: Node { kind: Kind::List(items), .. }, .. }) => items.append(&mut taken),
            Some(entry) => {
                let more: Vec<&str> = taken.iter().map(word).collect();
                let text = format!("{}, {}", word(&entry.value), more.join(", "));
                entry.value = text_node(text, entry.value.at);
            }
            None => self.add("disallowedTools", at, Node { kind: Kind::List(taken), at }),
        }
    }
}

/// What the keys of opencode say of tools, by its names.
#[derive(Default)]
struct Rights {
    allowed: Vec<(String, Place)>,
    denied: Vec<(String, Place)>,
}

/// The tools that an action of opencode covers. Two of its actions are about what no tool here can do.
fn covered(action: &str) -> impl Iterator<Item = String> {
    let names: &[&str] = match action {
        "edit" => &["edit", "write", "patch"],
        "external_directory" | "doom_loop" => &[],
        other => return vec![other.to_string()].into_iter(),
    };
    names.iter().map(ToString::to_string).collect::<Vec<_>>().into_iter()
}
