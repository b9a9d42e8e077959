//! Tests of the orders that stores share.

use super::{Head, after_prefix, depth_first};
use deputize_core::id::{RunId, Time};
use deputize_runtime::port::RunHead;

fn head(run: &str, parent: Option<&str>) -> Head {
    let line = RunHead {
        run: RunId::new(run),
        root: RunId::new("a"),
        agent: "worker".into(),
        team: String::new(),
        objective: String::new(),
        started: Time(0),
        updated: Time(0),
        status: None,
    };
    Head { line, parent: parent.map(RunId::new) }
}

#[test]
fn children_follow_their_parent() {
    let heads = [
        head("a/2", Some("a")),
        head("a/2/1", Some("a/2")),
        head("a", None),
        head("a/1", Some("a")),
        head("a/2/2", Some("a/2")),
    ];
    let sorted = depth_first(heads.into());
    let ids: Vec<&str> = sorted.iter().map(|line| line.run.as_str()).collect();
    assert_eq!(ids, ["a", "a/2", "a/2/1", "a/2/2", "a/1"]);
}

#[test]
fn a_child_without_its_parent_is_shown() {
    let sorted = depth_first(vec![head("a", None), head("a/1/1", Some("a/1"))]);
    assert_eq!(sorted.len(), 2);
}

#[test]
fn the_end_of_a_prefix_is_the_next_text() {
    for (prefix, end) in [
        ("a", Some("b")),
        ("az", Some("a{")),
        ("é", Some("ê")),
        ("\u{d7ff}", Some("\u{e000}")),
        ("a\u{10ffff}", Some("b")),
        ("\u{10ffff}", None),
        ("", None),
    ] {
        assert_eq!(after_prefix(prefix).as_deref(), end, "after {prefix:?}");
    }
}
