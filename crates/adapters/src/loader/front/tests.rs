//! Tests of the repair of front matter: what has one reading is read, everything else is an error with its line.

use super::{Form, Split, read, split};
use deputize_core::definition::keys::File;
use deputize_core::definition::node::Kind;

/// `key=value` of all texts, then the lines of the repairs; or the errors.
fn outcome(yaml: &str) -> String {
    let read = read(yaml, Form { file: File::Agent, dialect: None });
    if !read.errors.is_empty() {
        let said: Vec<String> = read.errors.iter().map(|m| format!("{} {}", m.code, m.line.unwrap_or(0))).collect();
        return format!("error {}", said.join(", "));
    }
    let Kind::Map(entries) = &read.node.kind else { return "no map".into() };
    let value = |kind: &Kind| match kind {
        Kind::Scalar { text, .. } => text.clone(),
        Kind::List(items) => format!("{} items", items.len()),
        _ => "-".into(),
    };
    let said: Vec<String> = entries.iter().map(|e| format!("{}={}", e.key, value(&e.value.kind))).collect();
    let lines: Vec<String> = read.repairs.iter().map(|m| m.line.unwrap_or(0).to_string()).collect();
    format!("{} | {}", said.join("; "), lines.join(" "))
}

#[test]
fn what_has_one_reading_is_read() {
    let table = [
        ("name: a\ndescription: x", "name=a; description=x | "),
        ("name: a\ndescription: On: 'x', y\ntools: Read", "name=a; description=On: 'x', y; tools=Read | 3"),
        ("tools: *\nname: a", "tools=*; name=a | 2"),
        ("tools: *, Read", "tools=*, Read | 2"),
        ("tools:\n\t- Read\n\t- Grep\nname: a", "tools=2 items; name=a | 2"),
        ("description: \"He said \"hi\" to: me\"\nname: a", "description=He said \"hi\" to: me; name=a | 2"),
        ("description: a: b\\nc", "description=a: b\nc | 2"),
        // What other products add before the first key.
        ("id: 7\ndescription: a: b", "id=7; description=a: b | 3"),
        ("description: \"open: a\ntools: Read", "description=open: a; tools=Read | 2"),
        ("description: |\n<b>Not</b> indented\nname: a", "description=<b>Not</b> indented; name=a | 2"),
        (
            "description: When. Examples:\n\n<example>\nContext: Three\nuser: \"Make\"\n</example>\n\nmodel: fast",
            "description=When. Examples:\n\n<example>\nContext: Three\nuser: \"Make\"\n</example>; model=fast | 2",
        ),
    ];
    for (yaml, expected) in table {
        assert_eq!(outcome(yaml), expected, "{yaml}");
    }
}

#[test]
fn what_could_mean_two_things_stays_an_error() {
    let table = [
        // A known key that is indented would vanish in the text.
        ("description: a: b\n tools: Read\nname: x", "error yaml.syntax 2"),
        // A slip of a known key would vanish, too.
        ("description: a: b\ntool: Read\nname: x", "error yaml.syntax 2"),
        // The quote may close behind a key, which then would be a part of the text.
        ("description: \"do: this\ntools: Bash it\"\nname: a: b", "error yaml.syntax 2, yaml.syntax 4"),
        ("tools: [Read\nname: a", "error yaml.syntax 2"),
        ("tools: [Read, *]", "error yaml.syntax 2"),
        ("model: a: b", "error yaml.syntax 2"),
        ("budget: {tokens: 5\nname: a: b", "error yaml.syntax 2, yaml.syntax 3"),
        ("nonsense here: [\nname: a", "error yaml.syntax 3"),
        ("name: a\nname: b", "error yaml.duplicate_key 3"),
        ("description: a: b\nname: a\nname: b", "error yaml.duplicate_key 4"),
        ("description: a: b\nname: a\ndescription: c", "error yaml.duplicate_key 4"),
    ];
    for (yaml, expected) in table {
        assert_eq!(outcome(yaml), expected, "{yaml}");
    }
}

#[test]
fn the_fences() {
    let front = |yaml: &str, body: &str| Split::Front { yaml: yaml.into(), body: body.into() };
    let table = [
        ("---\na: b\n---\nBody\n", front("a: b\n", "Body")),
        ("---  \na: b\n---\t\n\nBody\n---\nMore\n\n", front("a: b\n", "Body\n---\nMore")),
        ("---\n---", front("", "")),
        ("---\na: b\n-----\nBody", Split::Open),
        ("---", Split::Open),
        ("\n\n---\na: b\n---\n", Split::Late),
        ("# Title\n---\n", Split::None),
        ("----\na: b\n---\n", Split::None),
        ("", Split::None),
    ];
    for (text, expected) in table {
        assert_eq!(split(text), expected, "{text}");
    }
}
