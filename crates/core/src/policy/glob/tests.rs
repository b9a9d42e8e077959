//! Patterns by table: what they match, what is refused, how two of them relate.

use super::{Glob, fold};

fn glob(text: &str) -> Glob {
    Glob::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"))
}

fn names(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !name.is_empty()).collect()
}

#[test]
fn a_pattern_matches_what_the_table_says() {
    // pattern, paths it matches, paths it does not
    let table: &[(&str, &[&str], &[&str])] = &[
        ("/", &["", "a", ".env", "a/.b/c"], &[]),
        ("/**", &["", "a", "a/b"], &[]),
        ("/docs", &["docs"], &["", "docs/a", "doc", "a/docs", "docs2"]),
        ("/docs/", &["docs", "docs/a", "docs/.a/b"], &["", "docs2", "a/docs", "Docs"]),
        ("/docs/**", &["docs", "docs/a", "docs/.env"], &["", "docs2"]),
        ("/docs/*", &["docs/a", "docs/.a"], &["docs", "docs/a/b"]),
        ("/*", &["a", ".a"], &["", "a/b"]),
        ("/*/", &["a", "a/b", ".a/b/c"], &[""]),
        ("/*.md", &["a.md", ".md"], &["a/b.md", "a.mdx"]),
        ("/**/*.md", &["a.md", "a/b/.c.md"], &["a.txt", ""]),
        ("/**/.env", &[".env", "a/b/.env"], &["a.env", ".env/x"]),
        ("/a/**/b", &["a/b", "a/x/y/b"], &["a", "b", "a/b/c"]),
        ("/a/**/b/", &["a/b", "a/x/b/c"], &["a"]),
        ("/a?c", &["abc", "a.c", "a\u{e9}c"], &["ac", "abbc", "a/c"]),
        ("/{a,b/c}/d", &["a/d", "b/c/d"], &["b/d", "a/c/d"]),
        ("/x.{rs,to{ml,m}}", &["x.rs", "x.toml", "x.tom"], &["x.to", "x."]),
        ("/*a*b*c", &["abc", "xaxbxc", "aabbcc"], &["acb", "abcx"]),
        ("/ ", &[" "], &["a", ""]),
    ];
    for (pattern, matching, others) in table {
        for path in *matching {
            assert!(glob(pattern).matches(&names(path)), "{pattern} must match {path:?}");
        }
        for path in *others {
            assert!(!glob(pattern).matches(&names(path)), "{pattern} must not match {path:?}");
        }
    }
}

// A pattern that backtracks would take longer than the age of the world.
#[test]
fn a_hostile_pattern_is_matched_in_no_time() {
    let stars = glob(&format!("/{}b", "*a".repeat(400)));
    assert!(!stars.matches(&[&"a".repeat(5_000)]));
    let deep = glob(&format!("/{}b", "**/a/".repeat(30)));
    assert!(!deep.matches(&vec!["a"; 5_000]));
}

#[test]
fn a_text_that_is_no_pattern_says_what_to_write() {
    let table = [
        ("docs/", "write `/docs/`"),
        ("./docs", "write `/docs`"),
        ("", "begins with `/`"),
        ("~/x", "`~` is not expanded"),
        ("/~/x", "`~` is not expanded"),
        ("/a/../b", "`..` is not allowed"),
        ("/{a,..}/b", "`..` is not allowed"),
        ("/a/./b", "leave it out"),
        ("/a//b", "leave it out"),
        ("//", "leave it out"),
        ("/**.md", "write `**/*.md`"),
        ("/[ab]", "`[` has no meaning"),
        ("/a\\*", "has no meaning"),
        ("/{a,b", "not closed"),
        ("/a}b", "no `{` before"),
    ];
    for (text, part) in table {
        let why = Glob::parse(text).unwrap_err().to_string();
        assert!(why.contains(part), "{text:?}: {why}");
    }
    let many = format!("/{}", "{a,b}".repeat(20));
    assert!(Glob::parse(&many).unwrap_err().to_string().contains("more than 64"));
    assert!(Glob::parse(&format!("/{}", "a/".repeat(70))).is_err());
    assert!(Glob::parse(&format!("/{}", "a".repeat(2_000))).is_err());
}

#[test]
fn letter_case_and_invisible_characters_fold_to_one_form() {
    for same in ["secrets", "SECRETS", "\u{17f}ecrets", "Sec\u{200c}rets"] {
        assert_eq!(fold(same), "secrets", "{same:?}");
        assert!(glob("/Secrets/").matches_folded(&[&fold(same), "a"]), "{same:?}");
    }
}

#[test]
fn a_folder_on_the_way_is_told_from_one_beside_it() {
    let table = [
        ("/docs/", "", true),
        ("/docs/", "docs", true),
        ("/docs/", "src", false),
        ("/docs/a.md", "docs", true),
        ("/docs/a.md", "docs/a.md", false),
        ("/**/x", "any/where", true),
        ("/a*/b", "abc", true),
    ];
    for (pattern, folder, expected) in table {
        assert_eq!(glob(pattern).may_match_below(&names(folder)), expected, "{pattern} below {folder:?}");
    }
}

#[test]
fn patterns_are_held_against_each_other() {
    // a, b, a matches all of b, some path may be in both
    let table = [
        ("/", "/a/b", true, true),
        ("/a/", "/a/**/*.md", true, true),
        ("/a/", "/a", true, true),
        ("/a", "/a/", false, true),
        ("/a/*", "/a/", false, true),
        ("/*/", "/a/", true, true),
        ("/a/", "/b/", false, false),
        ("/**/*.md", "/a/b.md", true, true),
        ("/**/*.md", "/a/*.md", true, true),
        ("/**/*.md", "/a/*.txt", false, true),
        ("/**/*.md", "/a.txt", false, false),
        ("/{a,b}/", "/a/x", true, true),
        ("/a/x", "/{a,b}/x", false, true),
        ("/A/", "/a/", false, true),
        ("/a/*", "/a/b", true, true),
        ("/a/**/z", "/a/z", true, true),
    ];
    for (a, b, covers, meets) in table {
        assert_eq!(glob(a).covers(&glob(b)), covers, "{a} covers {b}");
        assert_eq!(glob(a).meets(&glob(b)), meets, "{a} meets {b}");
        assert_eq!(glob(b).meets(&glob(a)), meets, "{b} meets {a}");
    }
}

#[test]
fn a_pattern_in_a_log_is_its_text() {
    let written = serde_json::to_string(&glob("/a/{b,c}/")).unwrap();
    assert_eq!(written, "\"/a/{b,c}/\"");
    assert_eq!(serde_json::from_str::<Glob>(&written).unwrap(), glob("/a/{b,c}/"));
    assert!(serde_json::from_str::<Glob>("\"../x\"").is_err());
    assert_eq!(glob("/a/b.md").exactly().as_deref(), Some("a/b.md"));
    for wide in ["/a/", "/a/*", "/{a,b}", "/"] {
        assert_eq!(glob(wide).exactly(), None, "{wide}");
    }
}
