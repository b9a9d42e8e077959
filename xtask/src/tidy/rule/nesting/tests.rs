//! Bodies and the depth they count as.

use super::super::super::tests::findings;
use super::{LIMIT, check};

/// Wraps a body in so many loops that it passes or fails by its own depth.
#[track_caller]
fn depth_is(body: &str, depth: usize) {
    let wrapped = |loops: usize| {
        let (open, close) = ("loop {".repeat(loops), "}".repeat(loops));
        let text = format!("fn f() {{ {open} {body} {close} }}");
        findings(check, &[("crates/core/src/a.rs", &text)])
    };
    assert_eq!(wrapped(LIMIT - depth), [], "{body} is deeper than {depth}");
    let found = wrapped(LIMIT - depth + 1);
    let measures: Vec<_> = found.iter().map(|finding| finding.measure).collect();
    assert_eq!(measures, [Some(LIMIT + 1)], "{body} is not {depth} deep");
}

#[test]
fn straight_code_is_flat() {
    depth_is("a(|x| x + 1); let y = S { a: 1 };", 0);
}

#[test]
fn each_block_is_a_level() {
    depth_is("if a { b() }", 1);
    depth_is("for a in b { c() }", 1);
    depth_is("while a { b() }", 1);
    depth_is("a(|x| { x + 1 });", 1);
    depth_is("let a = async { b };", 1);
    depth_is("{ a() }", 1);
    depth_is("let Some(a) = b else { return };", 1);
    depth_is("if a { for b in c { d() } }", 2);
}

#[test]
fn a_chain_of_conditions_is_one_level() {
    depth_is("if a { b() } else if c { d() } else if e { f() } else { g() }", 1);
}

#[test]
fn the_braces_of_an_arm_belong_to_the_match() {
    depth_is("match a { B => c(), D => { e() } }", 1);
    depth_is("match a { B if c => match d { E => { f() } }, G => h() }", 2);
}

#[test]
fn code_inside_macros_counts() {
    depth_is("assert!(a.iter().all(|b| { c(b) }), \"text\");", 1);
    depth_is("tokio::select! { a = b => { c() } }", 2);
    depth_is("json!({\"a\": {\"b\": {\"c\": {}}}});", 0);
}

#[test]
fn a_function_inside_a_function_starts_anew() {
    depth_is("fn g() { if a { if b { c() } } }", 0);
}
