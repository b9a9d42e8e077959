//! The reference of all keys as Markdown, generated from the table.

use super::{FOREIGN, File, ForeignKey, Key, Support, Treatment, all};
use std::fmt::Write as _;

/// `docs/reference/config.md`.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Configuration reference\n\n\
         Generated from the table of keys that the decoder uses (`definition::keys`). Every key is optional but `name` and\n\
         `description` of an agent file.\n\n\
         A *duration* is `500ms`, `90s`, `15m`, `2h`, `1h30m`; a bare integer is seconds. A *count* is an integer, `200k` or\n\
         `2M`. Zero, negative numbers and `unlimited` are errors. Paths are relative to the file they stand in.\n",
    );
    let files = [
        (File::Team, "`deputize.yaml`"),
        (File::Agent, "Front matter of an agent file"),
        (File::Skill, "Front matter of a `SKILL.md`"),
    ];
    for (file, title) in files {
        let _ = write!(out, "\n## {title}\n\n| key | type | default | example | |\n|---|---|---|---|---|\n");
        for key in all(file) {
            row(&mut out, key);
        }
    }
    foreign(&mut out);
    out
}

fn foreign(out: &mut String) {
    out.push_str(
        "\n## Keys of other products' agent files\n\n\
         Beside the keys above, files in the folders of these products may hold their own.\n\n| product | key | here |\n|---|---|---|\n",
    );
    for ForeignKey { dialect, key, treatment, doc } in FOREIGN {
        let here = match treatment {
            Treatment::As(ours) => format!("`{ours}`. "),
            Treatment::Read => String::new(),
            Treatment::NoEffect => "No effect, a warning. ".to_string(),
        };
        let _ = writeln!(out, "| {} | `{key}` | {here}{doc} |", dialect.name());
    }
}

fn row(out: &mut String, key: &Key) {
    let cell = |text: &str| text.replace('|', "\\|");
    let mark = match key.support {
        Support::Here => "",
        Support::Later => " *Not in this build: an error.*",
        Support::LeftOut => " *Not in this build: left out with a warning.*",
        Support::NoEffect => " *No effect: a warning.*",
    };
    let Key { path, kind, default, example, doc, .. } = key;
    let (kind, default, example) = (cell(kind), cell(default), cell(example));
    let _ = writeln!(out, "| `{path}` | {kind} | {default} | `{example}` | {doc}{mark} |");
}
