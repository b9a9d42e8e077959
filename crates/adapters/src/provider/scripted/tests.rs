//! Tests of scripts: which line is played, what it answers, what the errors of a file say.

use super::{Call, Fault, Line, Script, Scripted, pieces};
use deputize_core::code;
use deputize_core::id::{AgentName, AgentPath, Label, ModelName, RunId};
use deputize_core::message::{Arguments, Message, Request, Stop, Usage};
use deputize_core::step::Retry;
use deputize_runtime::port::{Model, ModelFailure, Reply, Who};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn who(path: &str, label: &str, attempt: u32) -> Who {
    Who {
        run: RunId::new("r"),
        agent: AgentName::new("a"),
        path: AgentPath::new(path),
        label: Label::parse(label).unwrap(),
        attempt,
        permissions: Default::default(),
    }
}

fn request() -> Request {
    Request {
        model: ModelName::new("scripted:any"),
        tools: Vec::new(),
        system: "be brief".to_string(),
        messages: vec![Message::User { text: "go".to_string() }],
        schema: None,
        max_output: 100,
        temperature: None,
        effort: None,
    }
}

fn scripted(text: &str) -> Scripted {
    Scripted::new(Script::parse("x.script.yaml", text).unwrap())
}

async fn call(model: &Scripted, path: &str, label: &str, attempt: u32) -> Result<Reply, ModelFailure> {
    model.call(&who(path, label, attempt), &request(), Arc::new(|_| {})).await
}

async fn said(model: &Scripted, path: &str, label: &str, attempt: u32) -> String {
    match call(model, path, label, attempt).await {
        Ok(reply) => reply.turn.text,
        Err(e) => format!("{}", e.failure.code),
    }
}

const PATHS: &str = "
lead:
  turns: [{text: one}, {text: two}]
  closing: {text: closed}
  plan: {attempts: [{text: bad}, {text: good}]}
  s2: [{text: scoped}]
lead/reader: [{text: any}]
lead/reader#2: [{text: second}]
lead/writer#1/deep: [{text: nearer the root}]
lead/writer/deep#1: [{text: farther}]
lead/writer#2/deep#1: [{text: both}]
lead/writer/deep: [{text: neither}]
lead/reader/deep#1: [{text: deep}]
loop:
  rest: {text: again}
";

#[tokio::test]
async fn lines_are_chosen_by_path_label_and_attempt() {
    // covers L-27
    let model = scripted(PATHS);
    let table = [
        ("lead", "t2", 1, "two"),
        ("lead", "t1", 5, "one"),
        ("lead", "closing", 1, "closed"),
        ("lead", "plan", 1, "bad"),
        ("lead", "plan", 2, "good"),
        ("lead", "plan", 3, "model.script"),
        ("lead", "s2/t1", 1, "scoped"),
        ("lead", "s2/t2", 1, "model.script"),
        ("lead", "t3", 1, "model.script"),
        ("lead/reader#1", "t1", 1, "any"),
        ("lead/reader#2", "t1", 1, "second"),
        ("lead/reader#2", "t2", 1, "model.script"),
        ("lead/reader#7/deep#1", "t1", 1, "deep"),
        ("lead/other#1", "t1", 1, "model.script"),
        ("lead/writer#1/deep#1", "t1", 1, "nearer the root"),
        ("lead/writer#2/deep#1", "t1", 1, "both"),
        ("lead/writer#3/deep#1", "t1", 1, "farther"),
        ("lead/writer#3/deep#2", "t1", 1, "neither"),
        ("loop", "t99", 1, "again"),
    ];
    for (path, label, attempt, expect) in table {
        assert_eq!(said(&model, path, label, attempt).await, expect, "{path} {label} {attempt}");
    }
    assert_eq!(said(&scripted(PATHS), "lead", "t2", 1).await, "two", "a new process meets the same line");
}

#[tokio::test]
async fn the_books_name_missing_and_unplayed_lines_and_keep_every_call() {
    let model = scripted("lead: [{text: one}, {text: two}]\nlead/a: [{text: x}]\n");
    let error = call(&model, "lead", "t3", 1).await.unwrap_err();
    assert_eq!(error.failure.code, code::MODEL_SCRIPT);
    assert_eq!(error.failure.retry, Retry::Never);
    for part in ["x.script.yaml", "`lead`", "`t3`", "t1, t2"] {
        assert!(error.failure.why.contains(part), "{}", error.failure.why);
    }
    said(&model, "lead", "t1", 1).await;
    let left = ["x.script.yaml:1: `lead`, step `t2`", "x.script.yaml:2: `lead/a`, step `t1`"];
    assert_eq!(model.leftovers(), left);
    let calls: Vec<Call> = model.calls();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[1].label.as_str(), "t1");
    assert_eq!(*calls[1].request, request());
    assert!(scripted("lead: [{text: one}]").forgetful().calls().is_empty());
}

#[tokio::test]
async fn a_line_gives_calls_usage_and_a_stop() {
    let model = scripted(
        "
a:
  - text: looking
    calls:
      - read_file: {path: a.txt, lines: [1, 2.5, -3], deep: true, no: 'yes', also: no, none: }
      - {tool: grep, raw: '{\"pattern\": '}
      - ls:
    usage: {input: 100, cached: 60, output: 7}
  - {text: cut, stop: filter}
",
    );
    let reply = call(&model, "a", "t1", 1).await.unwrap();
    let expect = json!({"path": "a.txt", "lines": [1, 2.5, -3], "deep": true, "no": "yes", "also": "no", "none": null});
    assert_eq!(reply.turn.calls[0].arguments, Arguments::Json(expect));
    assert_eq!(reply.turn.calls[1].arguments, Arguments::Malformed("{\"pattern\": ".to_string()));
    assert_eq!(reply.turn.calls[2].arguments, Arguments::Json(json!({})));
    assert_eq!(reply.turn.stop, Stop::ToolCalls);
    assert_eq!(reply.usage, Usage { input_tokens: 100, cached_tokens: 60, output_tokens: 7 });
    let reply = call(&model, "a", "t2", 1).await.unwrap();
    assert_eq!(reply.turn.stop, Stop::Filter);
    assert!(reply.usage.input_tokens > 20, "estimated: {:?}", reply.usage);
}

#[tokio::test]
async fn faults_pass_after_their_times() {
    // covers F-07
    let table = [
        ("overloaded", code::MODEL_OVERLOADED, Retry::After(None)),
        ("server_error", code::MODEL_OVERLOADED, Retry::After(None)),
        ("rate_limited", code::MODEL_RATE_LIMITED, Retry::After(None)),
        ("unavailable", code::MODEL_UNAVAILABLE, Retry::After(None)),
        ("auth", code::MODEL_AUTH, Retry::Never),
        ("not_found", code::MODEL_NOT_FOUND, Retry::Never),
        ("context_full", code::CONTEXT_FULL, Retry::Never),
        ("cut", code::MODEL_CUT, Retry::After(None)),
        ("malformed", code::MODEL_MALFORMED, Retry::After(None)),
    ];
    for (name, code, retry) in table {
        let model = scripted(&format!("a: [{{fault: {name}, times: 2, text: fine}}]"));
        let failure = call(&model, "a", "t1", 2).await.unwrap_err().failure;
        assert_eq!((failure.code, failure.retry), (code, retry), "{name}");
        assert_eq!(said(&model, "a", "t1", 3).await, "fine", "{name}");
    }
    let model = scripted("a: [{fault: rate_limited, retry_after: 3s}]");
    assert_eq!(call(&model, "a", "t1", 9).await.unwrap_err().failure.retry, Retry::After(Some(3000)));
}

#[tokio::test]
async fn a_time_out_keeps_its_attempt_and_passes_all_the_same() {
    let model = scripted("a: [{fault: timeout, times: 2, text: fine}]");
    for _ in 0..2 {
        assert_eq!(call(&model, "a", "t1", 1).await.unwrap_err().failure.retry, Retry::Ambiguous);
    }
    assert_eq!(said(&model, "a", "t1", 1).await, "fine");
}

#[tokio::test]
async fn some_faults_are_answers() {
    let table = [
        ("{fault: refusal}", "I cannot help with that.", Stop::Refusal),
        ("{fault: refusal, text: No.}", "No.", Stop::Refusal),
        ("{fault: empty, text: x}", "", Stop::End),
        ("{fault: length, text: abcdef}", "abc", Stop::Length),
    ];
    for (line, text, stop) in table {
        let turn = call(&scripted(&format!("a: [{line}]")), "a", "t1", 1).await.unwrap().turn;
        assert_eq!((turn.text.as_str(), turn.stop), (text, stop), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn latency_is_virtual_and_a_hang_lasts() {
    let model = scripted("a: [{text: slow, latency: 90s}, {fault: hang}, {fault: stall, text: abcd}]");
    let start = tokio::time::Instant::now();
    assert_eq!(said(&model, "a", "t1", 1).await, "slow");
    assert_eq!(start.elapsed().as_secs(), 90);
    let hour = Duration::from_secs(3600);
    assert!(tokio::time::timeout(hour, call(&model, "a", "t2", 1)).await.is_err());
    let heard = Arc::new(Mutex::new(String::new()));
    let ear = heard.clone();
    let delta = Arc::new(move |piece: &str| ear.lock().unwrap().push_str(piece));
    let (who, request) = (who("a", "t3", 1), request());
    assert!(tokio::time::timeout(hour, model.call(&who, &request, delta)).await.is_err());
    assert_eq!(*heard.lock().unwrap(), "a");
}

#[tokio::test]
async fn a_panic_leaves_the_provider_usable() {
    let model = Arc::new(scripted("a: [{fault: panic}, {text: fine}]"));
    let other = model.clone();
    let broken = tokio::spawn(async move { call(&other, "a", "t1", 1).await }).await;
    assert!(broken.unwrap_err().is_panic());
    assert_eq!(said(&model, "a", "t2", 1).await, "fine");
}

#[test]
fn a_text_is_streamed_in_pieces() {
    for text in ["", "a", "äöüß", "one two three four five", "日本語のテキスト"] {
        let all = pieces(text, 4);
        assert_eq!(all.concat(), text);
        assert!(all.len() <= 4 && all.iter().all(|p| !p.is_empty()), "{all:?}");
    }
}

#[test]
fn errors_say_where_and_what_to_write() {
    let table = [
        ("- text: x", "1:1: a script is a map"),
        ("lead: x", "1:7: expected a list of lines"),
        ("'lead/': []", "1:1: `lead/` is no agent path"),
        ("lead/a#0: []", "1:1: `lead/a#0` is no agent path"),
        ("lead:\n  - txt: x", "2:5: `txt` is no key of a line; the keys are text, calls"),
        ("lead:\n  - x", "2:5: a line is a map"),
        ("lead:\n  turns: {text: x}", "2:10: `turns` is a list"),
        ("lead:\n  Plan: {text: x}", "2:3: `Plan` is no step label"),
        ("lead: [{fault: boom}]", "1:16: `boom` is no fault; write one of overloaded"),
        ("lead: [{stop: now}]", "1:15: `now` is no way to stop; write one of end"),
        ("lead: [{latency: soon}]", "1:18: `soon` is no duration: write it like 250ms"),
        ("lead: [{usage: {in: 3}}]", "1:17: `in` is no part of it; `usage` is"),
        ("lead: [{usage: {input: 3, cached: 4}}]", "`cached` is a part of `input`"),
        ("lead: [{times: 2}]", "1:8: `times` goes with a `fault`"),
        ("lead: [{calls: [{a: {}, b: {}}]}]", "two keys in one call"),
        ("lead: [{attempts: [{text: x}], text: y}]", "1:32: `text` cannot stand beside `attempts`"),
        ("lead: [{text: x}]\nlead: []", "2:1: the key `lead` stands here for the second time"),
    ];
    for (text, expect) in table {
        let error = Script::parse("f.yaml", text).unwrap_err().to_string();
        assert!(error.starts_with("f.yaml:") && error.contains(expect), "{text}\n{error}");
    }
    let missing = Script::load(std::path::Path::new("/nowhere/s.yaml")).unwrap_err().to_string();
    assert!(missing.contains("/nowhere/s.yaml"), "{missing}");
}

#[test]
fn lines_can_be_made_in_code() {
    assert_eq!(Line::say("x").turn(None).text, "x");
    assert_eq!(Line::call("ls", json!({})).turn(None).stop, Stop::ToolCalls);
}

#[test]
fn the_guide_lists_every_fault_and_its_examples_are_scripts() {
    let guide = include_str!("../../../../../docs/guide/scripts.md");
    for fault in Fault::ALL {
        let row = format!("| `{}` | {} |", fault.name(), fault.meaning());
        assert!(guide.contains(&row), "docs/guide/scripts.md lacks: {row}");
    }
    let blocks = guide.split("```yaml\n").skip(1).filter_map(|b| b.split("```").next());
    let scripts: Vec<&str> = blocks.filter(|b| !b.contains("providers:")).collect();
    assert!(scripts.len() >= 5);
    for script in scripts {
        assert!(Script::parse("guide", script).is_ok(), "{:?}\n{script}", Script::parse("guide", script));
    }
}
