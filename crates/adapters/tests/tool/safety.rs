//! The built-in safety rules, through every tool that they hold for.
// covers D-08 S-14

use crate::bench::{Bench, CANARY, Expect::*};
use deputize_adapters::tool::FileTools;
use deputize_core::code::PERMISSION_DENIED;
use serde_json::json;
use std::path::Path;

fn secrets() -> Bench {
    Bench::new(&[
        ("a.txt", "public\n"),
        (".env", CANARY),
        (".env.local", CANARY),
        (".env.example", "KEY=\n"),
        ("sub/.ENV", CANARY),
        ("venv/.env/deep/file", CANARY),
        ("keys/server.PEM", CANARY),
        ("keys/id_ed25519", CANARY),
        ("keys/id_ed25519.pub", "ssh-ed25519 public\n"),
        ("link-to-env", "-> .env"),
        ("link-to-keys", "-> keys"),
        ("link-out", "-> $OUT/out/secret.txt"),
    ])
}

#[test]
fn secrets_are_not_read_in_any_letter_case_or_through_a_link() {
    let bench = secrets();
    let before = bench.tree();
    let denied = [
        ".env",
        "./.env",
        "/.env",
        ".Env",
        ".ENV.production",
        ".env.local",
        ".env/x",
        "sub/.env",
        "sub/.ENV",
        "venv/.env",
        "venv/.env/deep/file",
        "keys/server.pem",
        "keys/server.PEM",
        "keys/id_ed25519",
        "ID_RSA",
        "x/id_ecdsa_sk",
        "tls.key",
        "store.p12",
        ".env.EXAMPLE",
        ".env.example/.env",
        "link-to-env",
        "link-to-keys/id_ed25519",
        "link-to-keys/server.PEM",
        ".e\u{200c}nv",
    ];
    for path in denied {
        let why: &[&str] = &[path, "may not be read"];
        let why = if path.contains('\u{200c}') { &why[1..] } else { why };
        bench.check("read_file", &json!({"path": path}), &Fails(PERMISSION_DENIED, why));
        bench.check("grep", &json!({"pattern": ".", "path": path}), &Fails(PERMISSION_DENIED, why));
        bench.check("edit_file", &json!({"path": path, "old": "a", "new": "b"}), &Fails(PERMISSION_DENIED, why));
        assert!(!bench.exists(path), "{path}");
    }
    bench.check("ls", &json!({"path": "venv/.env"}), &Fails(PERMISSION_DENIED, &["environment files hold secrets"]));
    bench.check("glob", &json!({"pattern": "*", "path": "venv/.env"}), &Fails(PERMISSION_DENIED, &["secrets"]));
    bench.check("read_file", &json!({"path": ".env.example"}), &Is("KEY=\n"));
    bench.check("read_file", &json!({"path": "keys/id_ed25519.pub"}), &Is("ssh-ed25519 public\n"));
    assert_eq!(bench.tree(), before);
}

#[test]
fn bulk_tools_leave_secrets_out_and_say_how_many() {
    let bench = secrets();
    bench.check("ls", &json!({}), &Says(&["file   .env.example", "file   a.txt", "[4 entries are withheld"]));
    bench.check(
        "ls",
        &json!({"path": "keys"}),
        &Is("file   id_ed25519.pub (19 bytes)\n\
         [2 entries are withheld: closed by a rule, or a link out of the workspace]\n"),
    );
    bench.check("ls", &json!({"path": "link-to-keys"}), &Says(&["id_ed25519.pub", "[2 entries are withheld"]));
    bench.check(
        "glob",
        &json!({"pattern": "**"}),
        &Is(".env.example\na.txt\nkeys/id_ed25519.pub\n\
         [8 entries are withheld: closed by a rule, or a link out of the workspace]\n"),
    );
    bench.check(
        "grep",
        &json!({"pattern": "canary|public"}),
        &Is("a.txt:1:public\nkeys/id_ed25519.pub:1:ssh-ed25519 public\n\
         [6 entries are withheld: closed by a rule, or a link out of the workspace]\n"),
    );
    let only = json!({"pattern": "**", "path": "venv"});
    bench.check("glob", &only, &Says(&["Nothing matches `**`", "[1 entry is withheld"]));
}

#[test]
fn near_names_of_a_missing_file_do_not_tell_of_secrets() {
    let bench = secrets();
    let got = bench.call("read_file", &json!({"path": "keys/id_ed25519.pu"})).unwrap_err();
    assert!(got.why.ends_with("near it: `keys/id_ed25519.pub`"), "{}", got.why);
}

#[test]
fn what_steers_the_team_is_not_written() {
    let bench = Bench::new(&[
        (".git/config", "[core]\n"),
        ("agents/lead.md", "---\nname: lead\n---\n"),
        ("deputize.yaml", "version: 1\n"),
        ("hooks", "-> .git/hooks"),
        ("git", "-> .git"),
        ("lead.txt", "-> agents/lead.md"),
        ("docs/agents/guide.md", "text\n"),
    ]);
    let before = bench.tree();
    let denied = [
        ".git",
        ".git/config",
        ".GIT/config",
        ".Git/hooks/pre-commit",
        "sub/.git/config",
        "git/config",
        "git/new",
        "agents/lead.md",
        "Agents/LEAD.MD",
        "agents/deep/er/new.md",
        ".claude/agents/x.md",
        ".claude/agents",
        ".CLAUDE/Agents/x.txt",
        ".github/agents/x.agent.md",
        ".gemini/agents/x.md",
        ".opencode/agents/x.md",
        "deputize.yaml",
        "DEPUTIZE.yaml",
        "nested/deputize.yaml",
        ".mcp.json",
        "nested/.MCP.json",
        "lead.txt",
        "agent\u{17f}/x.md",
    ];
    for path in denied {
        let why: &[&str] = &["may not be written", path];
        bench.check("write_file", &json!({"path": path, "content": "x"}), &Fails(PERMISSION_DENIED, why));
        let edit = json!({"path": path, "old": "e", "new": "x"});
        bench.check("edit_file", &edit, &Fails(PERMISSION_DENIED, why));
        assert_eq!(bench.prepare("edit_file", &edit).unwrap_err().code, PERMISSION_DENIED, "{path}");
    }
    // A link to a folder that does not exist yet is no way to make it.
    assert!(bench.call("write_file", &json!({"path": "hooks/pre-commit", "content": "x"})).is_err());
    assert_eq!(bench.tree(), before);
    bench.check("read_file", &json!({"path": ".git/config"}), &Is("[core]\n"));
    bench.check("read_file", &json!({"path": "agents/lead.md"}), &Says(&["name: lead"]));
    bench.check("write_file", &json!({"path": "docs/agents/guide.md", "content": "new\n"}), &Says(&["Replaced"]));
    bench.check("write_file", &json!({"path": "agents/notes.txt", "content": "new\n"}), &Says(&["Created"]));
    bench.check("write_file", &json!({"path": ".gitignore", "content": "target\n"}), &Says(&["Created"]));
}

#[test]
fn a_refusal_names_the_reason_and_never_the_target() {
    let bench = secrets();
    bench.check(
        "read_file",
        &json!({"path": "link-to-env"}),
        &Fails(
            PERMISSION_DENIED,
            &[
                "`link-to-env` may not be read: it leads to a place where rule 1 of the built-in rules",
                "environment files",
            ],
        ),
    );
    let got = bench.call("read_file", &json!({"path": "link-to-keys/id_ed25519"})).unwrap_err();
    assert!(!got.why.contains("`keys"), "{}", got.why);
}

#[test]
fn further_files_can_be_protected() {
    let bench = Bench::new(&[("team/agents.md", "x\n"), ("conf/team.yaml", "x\n")]);
    let conf = bench.path("conf");
    let tools = FileTools::open_protecting(&bench.path(""), &[Path::new("team"), &conf]).unwrap();
    let bench = Bench { tools, ..bench };
    for path in ["team/agents.md", "team/new.md", "TEAM", "conf/team.yaml", "conf"] {
        let why: &[&str] = &["may not be written"];
        bench.check("write_file", &json!({"path": path, "content": "y"}), &Fails(PERMISSION_DENIED, why));
    }
    bench.check("read_file", &json!({"path": "conf/team.yaml"}), &Is("x\n"));
    bench.check("write_file", &json!({"path": "team2", "content": "y"}), &Says(&["Created"]));
}

#[test]
fn writing_a_secret_is_no_way_to_guess_it() {
    let bench = secrets();
    bench.check("write_file", &json!({"path": ".env", "content": CANARY}), &Says(&["Replaced `.env`"]));
}
