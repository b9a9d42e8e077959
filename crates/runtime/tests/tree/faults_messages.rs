//! Reported faults of conversations: calls and results that do not match, messages that come in between, streams that
//! mix, and texts that are cut. Handoffs (04, 07) and forked contexts arrive later, and their tests with them.

use crate::support::*;
use deputize_core::event::Event;
use deputize_core::id::RunId;
use deputize_core::message::Message;
use deputize_core::summary::Terminal;
use deputize_runtime::port::{BlobStore, EventStore, Signal};
use deputize_runtime::{Control, Halt, Live};
use deputize_testkit::{Stage, team};
use std::collections::BTreeMap;

// A child that has used a tool is taken up twice, each time with a new message: every request is valid and begins with the
// task. (Going on with a child that is over arrives with the command that does it.)
// covers X-13
#[tokio::test(start_paused = true)]
async fn fault_01_a_child_that_used_a_tool_is_taken_up_twice_with_a_message() {
    let script = "
lead:
  - calls: [{delegate: {agent: worker, objective: find it}}]
  - text: done
lead/worker:
  - calls: [{look: {n: 1}}]
  - calls: [{slow: {n: 2}}]
  - calls: [{slow: {n: 3}}]
  - text: found
";
    let stage = Stage::new(team(&[("lead", &["worker"]), ("worker", &[])]), script);
    let (mut handle, mut live) = go(&stage).await;
    let child = RunId::new("r/t1/c0");
    for turn in ["t2/c0", "t3/c0"] {
        until(&mut live, "r/t1/c0", |e| matches!(e, Event::StepStarted(s) if s.label.as_str() == turn)).await;
        handle.control(Control::Interrupt);
        assert!(matches!(handle.wait().await, Ok(Halt::Interrupted)));
        (handle, live) = going(take_up(&stage).await);
        handle.say(&child, &format!("more in {turn}"), "a person");
    }
    assert!(matches!(handle.wait().await, Ok(Halt::Finished(s)) if s.status == Terminal::Succeeded));
    let requests = requests(&stage, "lead/worker#1");
    let first = &requests[0].messages[0];
    assert!(requests.iter().all(|r| r.messages.first() == Some(first)));
    let told: Vec<&str> =
        requests.last().unwrap().messages.iter().map(text).filter(|t| t.starts_with("more")).collect();
    assert_eq!(told, ["more in t2/c0", "more in t3/c0"]);
}

/// A lead whose third of four children takes a while.
fn four() -> Stage {
    let call = "        - delegate: {agent: worker, objective: one part}\n".repeat(4);
    let script = format!(
        "lead:\n    - calls:\n{call}    - text: all parts are in\n    - text: and what was said\n\
         lead/worker#3:\n    - text: late\n      latency: 5s\nlead/worker:\n    - text: a part\n"
    );
    Stage::new(team(&[("lead", &["worker"]), ("worker", &[])]), &script)
}

// What is said while children run stands behind all their results, in the order in which it was said.
// covers X-08
#[tokio::test(start_paused = true)]
async fn fault_03_a_message_waits_until_the_results_of_the_turn_are_in() {
    let stage = four();
    let (handle, mut live) = go(&stage).await;
    until(&mut live, "r/t1/c3", is_over).await;
    let root = RunId::new("r");
    handle.say(&root, "use metres", "a person");
    handle.say(&root, "and be short", "a person");
    until(&mut live, "r", |e| matches!(e, Event::MessageReceived { text, .. } if text == "and be short")).await;
    assert_eq!(requests(&stage, "lead").len(), 1, "nothing is asked before the third child is in");
    assert!(matches!(handle.wait().await, Ok(Halt::Finished(s)) if s.status == Terminal::Succeeded));
    let asked = requests(&stage, "lead").pop().unwrap();
    assert_eq!(roles(&asked), ["user", "assistant", "tool", "tool", "tool", "tool", "user", "user"]);
    let texts: Vec<&str> = asked.messages.iter().map(text).collect();
    assert!(texts[4].contains("late") && texts[6] == "use metres" && texts[7] == "and be short");
}

// The same over another process's signal and over a crash: the next request has the same bytes.
// covers X-13
#[tokio::test(start_paused = true)]
async fn fault_03_a_message_keeps_its_place_over_a_resume() {
    let mut bytes = Vec::new();
    for crash in [false, true] {
        let stage = four();
        let (mut handle, mut live) = go(&stage).await;
        until(&mut live, "r/t1/c3", is_over).await;
        let (root, text, by) = (RunId::new("r"), "use metres".to_string(), "another process".to_string());
        stage.store.signal(&root, Signal::Say { run: root.clone(), text, by }).await.unwrap();
        until(&mut live, "r", |e| matches!(e, Event::MessageReceived { .. })).await;
        if crash {
            handle.kill();
            handle = take_up(&stage).await.go();
        }
        assert!(matches!(handle.wait().await, Ok(Halt::Finished(_))));
        assert!(stage.store.signals(&root).await.unwrap().is_empty());
        bytes.push(serde_json::to_string(&requests(&stage, "lead").pop().unwrap().messages).unwrap());
    }
    assert_eq!(bytes[0], bytes[1]);
}

// What is said during the last answer makes another turn follow; what comes after the end is too late and changes nothing.
#[tokio::test(start_paused = true)]
async fn fault_03_a_message_during_the_last_answer_makes_another_turn() {
    let script = "solo:\n  - text: first\n    latency: 2s\n  - calls: [{look: {}}]\n  - text: second\n";
    let stage = Stage::new(team(&[("solo", &[])]), script);
    let (handle, mut live) = go(&stage).await;
    until(&mut live, "r", started).await;
    handle.say(&RunId::new("r"), "look again", "a person");
    handle.say(&RunId::new("r"), "  ", "a person");
    let Ok(Halt::Finished(summary)) = handle.wait().await else { panic!("it ends") };
    assert_eq!(summary.payload["result"], "second");
    let asked = requests(&stage, "solo");
    assert_eq!(roles(&asked[1]), ["user", "assistant", "user"]);
    assert_eq!(roles(&asked[2]), ["user", "assistant", "user", "assistant", "tool"]);
    let log = stage.log("r").await;
    let ready = take_up(&stage).await;
    let handle = ready.go();
    handle.say(&RunId::new("r"), "too late", "a person");
    assert!(matches!(handle.wait().await, Ok(Halt::Finished(_))));
    assert_eq!(stage.log("r").await.len(), log.len());
}

// A last synthesis at a cap reads what was said, too.
#[tokio::test(start_paused = true)]
async fn fault_03_a_closing_reads_what_was_said() {
    let mut team = team(&[("solo", &[])]);
    team.agents.get_mut("solo").unwrap().budget.turns = Some(1);
    let script = "solo:\n  t1: {calls: [{slow: {}}]}\n  closing: {text: short}\n";
    let stage = Stage::new(team, script);
    let (handle, mut live) = go(&stage).await;
    until(&mut live, "r", |e| matches!(e, Event::StepStarted(s) if s.label.as_str() == "t1/c0")).await;
    handle.say(&RunId::new("r"), "in French, please", "a person");
    assert!(matches!(handle.wait().await, Ok(Halt::Finished(s)) if s.status == Terminal::MaxTurns));
    let closing = requests(&stage, "solo").pop().unwrap();
    assert!(text(&closing.messages[0]).contains("You were told: in French, please"));
}

// covers X-07
#[tokio::test(start_paused = true)]
async fn fault_06_turns_without_text_stay_turns() {
    let script = "solo:\n  - calls: [{look: {n: 1}}]\n  - calls: [{put: {n: 2}}]\n  - text: done\n";
    let stage = Stage::new(team(&[("solo", &[])]), script);
    assert_eq!(stage.run().await.status, Terminal::Succeeded);
    let third = requests(&stage, "solo").pop().unwrap();
    assert_eq!(roles(&third), ["user", "assistant", "tool", "assistant", "tool"]);
    let called = |m: &Message| match m {
        Message::Assistant { calls, .. } => calls.iter().map(|c| c.name.clone()).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    assert_eq!(third.messages.iter().flat_map(called).collect::<Vec<_>>(), ["look", "put"]);
}

/// Two children of one agent that talk and work at the same time.
fn twins() -> Stage {
    let script = "
lead:
  - text: I hand out two parts
    calls: [{delegate: {agent: worker, objective: left}}, {delegate: {agent: worker, objective: right}}]
  - text: both parts are in
lead/worker#1:
  - text: left begins
    calls: [{look: {side: left}}]
  - text: left ends
lead/worker#2:
  - text: right begins
    calls: [{slow: {side: right}}]
  - text: right ends
";
    Stage::new(team(&[("lead", &["worker"]), ("worker", &[])]), script)
}

/// What was streamed by each run.
async fn streamed(stage: &Stage) -> (BTreeMap<String, String>, Vec<Live>) {
    let (handle, mut live) = go(stage).await;
    let (mut said, mut all): (BTreeMap<String, String>, Vec<Live>) = Default::default();
    loop {
        let item = live.recv().await.unwrap();
        all.push(item.clone());
        match item {
            Live::Delta { run, text, .. } => said.entry(run.to_string()).or_default().push_str(&text),
            Live::Event { run, record, .. } if run.as_str() == "r" && is_over(&record.event) => break,
            _ => {}
        }
    }
    assert!(handle.wait().await.is_ok());
    (said, all)
}

// covers U-07
#[tokio::test(start_paused = true)]
async fn fault_50_events_of_two_children_of_one_agent_are_told_apart() {
    let (said, all) = streamed(&twins()).await;
    assert_eq!(
        (said["r/t1/c0"].as_str(), said["r/t1/c1"].as_str()),
        ("left beginsleft ends", "right beginsright ends")
    );
    for item in all {
        let Live::Event { run, record, path } = item else { continue };
        let side = match run.as_str() {
            "r/t1/c0" => ("left", "right", "lead/worker#1", "t1/c0"),
            "r/t1/c1" => ("right", "left", "lead/worker#2", "t1/c1"),
            _ => continue,
        };
        let text = serde_json::to_string(&record).unwrap();
        assert!(!text.contains(side.1) && path.as_str() == side.2, "{run}: {text}");
        if let Event::RunStarted(started) = &record.event {
            let (parent, call) = started.parent.clone().unwrap();
            assert_eq!((parent.as_str(), call.as_str()), ("r", side.3));
            assert!(text.contains(side.0));
        }
    }
}

// covers U-07
#[tokio::test(start_paused = true)]
async fn fault_51_the_stream_of_the_root_is_the_text_of_its_model() {
    let (said, _) = streamed(&twins()).await;
    assert_eq!(said["r"], "I hand out two partsboth parts are in");
}

// An answer that the output limit cut is never taken for whole: it is rejected with its text, and the parent is told.
// covers X-11
#[tokio::test(start_paused = true)]
async fn fault_53_an_answer_that_was_cut_is_marked() {
    let script = "
lead:
  - calls: [{delegate: {agent: worker, objective: write}}]
  - text: done
lead/worker:
  - text: the first half of it
    stop: length
";
    let stage = Stage::new(team(&[("lead", &["worker"]), ("worker", &[])]), script);
    stage.run().await;
    let asked = requests(&stage, "lead").pop().unwrap();
    let told = text(asked.messages.last().unwrap());
    assert!(told.contains("\"status\":\"failed\"") && told.contains("model.length"), "{told}");
    assert!(told.contains("the first half of it") && told.contains("cut off at the output limit"), "{told}");
}

// The same of a long one: what the parent is shown says that it is cut and where the whole is, and the whole is there.
// covers X-11
#[tokio::test(start_paused = true)]
async fn fault_53_a_long_answer_that_was_cut_is_kept_whole() {
    let long = "a word and ".repeat(30_000);
    let script = format!(
        "lead:\n  - calls: [{{delegate: {{agent: worker, objective: write}}}}]\n  - text: done\n\
         lead/worker:\n  - text: {long}END\n    stop: length\n"
    );
    let mut team = team(&[("lead", &["worker"]), ("worker", &[])]);
    team.budget.tree.tokens = Some(5_000_000);
    let stage = Stage::new(team, &script);
    stage.run().await;
    let asked = requests(&stage, "lead").pop().unwrap();
    let told = text(asked.messages.last().unwrap());
    assert!(told.contains("model.length") && told.contains("cut off at the output limit"), "{told}");
    let (_, digest) = told.rsplit_once("kept as artifact ").unwrap();
    let digest: String = digest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == ':').collect();
    let digest = serde_json::from_value(serde_json::json!(digest)).unwrap();
    let whole = String::from_utf8(stage.store.get(&digest).await.unwrap().unwrap()).unwrap();
    assert!(whole.contains(&format!("{long}END")), "the whole answer is kept");
}

// Eight reports of 200 kB: each is bounded at a character, kept whole, and the parent's next turn is asked.
// covers X-11
#[tokio::test(start_paused = true)]
async fn fault_55_long_reports_do_not_overflow_the_parent() {
    let call = "        - delegate: {agent: worker, objective: one part}\n".repeat(8);
    let long = "\u{1F980}é".repeat(33_000);
    let script = format!("lead:\n    - calls:\n{call}    - text: all parts are in\nlead/worker:\n    - text: {long}\n");
    let mut team = team(&[("lead", &["worker"]), ("worker", &[])]);
    team.budget.tree.tokens = Some(5_000_000);
    let stage = Stage::new(team, &script);
    assert_eq!(stage.run().await.status, Terminal::Succeeded);
    let asked = requests(&stage, "lead").pop().unwrap();
    let results: Vec<&str> = asked.messages.iter().filter(|m| matches!(m, Message::Tool { .. })).map(text).collect();
    assert_eq!(results.len(), 8);
    let most = deputize_core::context::bytes(stage.team.output_limits.child_summary) + 1_000;
    assert!(results.iter().all(|r| r.len() <= most && r.contains("[cut:") && r.contains("artifact")), "{}", results[0]);
    assert!(!results.iter().any(|r| r.contains('\u{fffd}')));
}
