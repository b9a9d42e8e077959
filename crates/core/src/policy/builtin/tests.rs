//! The built-in table means what it says.

use super::{RULES, builtin, builtin_protecting};
use crate::policy::{Access, Glob, Permission};

#[test]
fn every_pattern_of_the_table_is_one() {
    for (_, _, paths, _) in RULES {
        for path in *paths {
            assert!(Glob::parse(path).is_ok(), "{path}");
        }
    }
}

// covers D-08, X-09
#[test]
fn what_steers_the_team_is_not_written_and_secrets_are_not_read() {
    let table = [
        (Access::Read, ".env", false),
        (Access::Read, "a/.ENV.local", false),
        (Access::Read, ".env.example", true),
        (Access::Read, ".env.EXAMPLE", false),
        (Access::Read, ".env.example/.env", false),
        (Access::Read, "keys/id_rsa", false),
        (Access::Read, "keys/id_rsa.pub", true),
        (Access::Read, "tls.KEY", false),
        (Access::Read, ".git/config", true),
        (Access::Read, "agents/a.md", true),
        (Access::Write, ".env", true),
        (Access::Write, ".git", false),
        (Access::Write, "sub/.GIT/hooks/x", false),
        (Access::Write, ".gitignore", true),
        (Access::Write, "agents/deep/a.md", false),
        (Access::Write, "agents/a.txt", true),
        (Access::Write, "docs/agents/a.md", true),
        (Access::Write, ".claude/agents", false),
        (Access::Write, "x/.github/agents/a.txt", false),
        (Access::Write, "deputize.yaml", false),
        (Access::Write, "x/.mcp.json", false),
        (Access::Write, "", true),
    ];
    for (access, path, open) in table {
        let mode = builtin().decide(access, path).mode;
        assert_eq!(mode == Permission::Allow, open, "{access:?} {path}");
    }
}

#[test]
fn further_paths_are_protected_as_they_are_written() {
    let layer = builtin_protecting(["team", "odd*name/x{1}"]);
    for (path, open) in
        [("team/a", false), ("TEAM", false), ("team2", true), ("odd*name/x{1}", false), ("oddname/x1", true)]
    {
        assert_eq!(layer.decide(Access::Write, path).mode == Permission::Allow, open, "{path}");
        assert_eq!(layer.decide(Access::Read, path).mode, Permission::Allow, "{path}");
    }
}
