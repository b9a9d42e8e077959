//! What runs together, what runs alone, and in which order results come back.

use deputize_core::event::Event;
use deputize_core::message::Message;
use deputize_core::message::Request;
use deputize_core::summary::Terminal;
use deputize_runtime::Live;
use deputize_runtime::port::{Delta, Model, ModelFailure, Notice, Pending, Queued, Reply, Who};
use deputize_runtime::secret::Redactor;
use deputize_testkit::{Stage, team};

/// A lead that hands out ten tasks in one turn, each of which takes 1,000 ms.
fn ten(concurrency: u32) -> Stage {
    let mut team = team(&[("lead", &["worker"]), ("worker", &[])]);
    team.budget.concurrency = concurrency;
    let call = "        - delegate: {agent: worker, objective: one part}\n".repeat(10);
    let script = format!(
        "  lead:\n    - calls:\n{call}    - text: all parts are in\n  lead/worker:\n    - text: a part\n      latency: 1s\n"
    );
    Stage::new(team, &script)
}

async fn took(stage: &Stage) -> u64 {
    let log = stage.log("r").await;
    log.last().unwrap().at.since(log[0].at)
}

// covers E-07, E-28
#[tokio::test(start_paused = true)]
async fn ten_slots_take_the_time_of_one_task_and_one_slot_that_of_ten() {
    let wide = ten(10);
    assert_eq!(wide.run().await.status, Terminal::Succeeded);
    assert_eq!(took(&wide).await, 1_000);
    let narrow = ten(1);
    assert_eq!(narrow.run().await.status, Terminal::Succeeded);
    assert_eq!(took(&narrow).await, 10_000);
}

// a run that only waits for children holds no slot, so one slot is enough for any depth.
// covers E-07
#[tokio::test(start_paused = true)]
async fn waiting_for_children_holds_no_slot() {
    let mut team = team(&[("a", &["b"]), ("b", &["c"]), ("c", &[])]);
    team.budget.concurrency = 1;
    let script = "
  a:
    - calls: [{delegate: {agent: b, objective: down}}]
    - text: done
  a/b:
    - calls: [{delegate: {agent: c, objective: down}}]
    - text: done
  a/b/c:
    - text: bottom
";
    assert_eq!(Stage::new(team, script).run().await.status, Terminal::Succeeded);
}

// covers F-09
#[tokio::test(start_paused = true)]
async fn reads_run_together_effects_alone_and_results_come_in_call_order() {
    let script = "
  solo:
    - calls: [{slow: {n: 1}}, {look: {n: 2}}, {put: {n: 3}}, {send: {n: 4}}, {slow: {n: 5}}, {look: {n: 6}}]
    - text: done
";
    let stage = Stage::new(team(&[("solo", &[])]), script);
    assert_eq!(stage.run().await.status, Terminal::Succeeded);
    // slow+look together (100), put alone (100), send alone (100), slow+look together (100)
    assert_eq!(took(&stage).await, 400);
    let mut open = Vec::new();
    let mut together = Vec::new();
    for event in stage.events("r").await {
        match event {
            Event::StepStarted(s) if s.label.as_call().is_some() => {
                open.push(s.label.to_string());
                together.push(open.clone());
            }
            Event::StepSucceeded { label, .. } => open.retain(|l| *l != label.to_string()),
            _ => {}
        }
    }
    assert_eq!(together.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 1, 1, 1, 2]);
    let request = stage.model.calls().pop().unwrap().request;
    let results: Vec<&str> = request
        .messages
        .iter()
        .filter_map(|m| match m {
            Message::Tool { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    for (i, text) in results.iter().enumerate() {
        assert!(text.contains(&format!("\"n\":{}", i + 1)), "result {i} is {text}");
    }
}

// covers F-10
#[tokio::test(start_paused = true)]
async fn a_turn_that_asks_for_more_calls_than_are_left_gets_what_is_left_and_a_result_for_each() {
    let mut team = team(&[("solo", &[])]);
    team.budget.tree.tool_calls = Some(10);
    let calls = "        - look: {n: 1}\n".repeat(50);
    let script = format!("  solo:\n    turns:\n    - calls:\n{calls}    closing:\n      text: ten of fifty\n");
    let stage = Stage::new(team, &script);
    let summary = stage.run().await;
    assert_eq!((summary.status, summary.limit.as_deref()), (Terminal::BudgetExhausted, Some("tool_calls")));
    assert!(summary.partial);
    assert_eq!(summary.payload["result"], "ten of fifty");
    assert_eq!(stage.tools.done().len(), 10);
    let events = stage.events("r").await;
    assert_eq!(
        events.iter().filter(|e| matches!(e, Event::StepDenied { label, .. } if label.as_call().is_some())).count(),
        40
    );
}

#[tokio::test(start_paused = true)]
async fn observers_see_every_event_in_order_and_text_as_it_is_said() {
    let stage = Stage::new(team(&[("solo", &[])]), "  solo:\n    - text: one two three four\n");
    let ready = stage.ready_on(stage.world()).await.unwrap();
    let mut live = ready.watch();
    deputize_testkit::stage::finished(ready.run().await);
    let (mut seqs, mut said) = (Vec::new(), String::new());
    while let Ok(item) = live.try_recv() {
        match item {
            Live::Event { record, .. } => seqs.push(record.seq),
            Live::Delta { text, .. } => said.push_str(&text),
            Live::Queued { .. } => {}
        }
    }
    assert_eq!(seqs, (0..stage.log("r").await.len() as u64).collect::<Vec<_>>());
    assert_eq!(said, "one two three four");
}

/// A provider at which every call has to wait for its turn first.
struct Busy(std::sync::Arc<dyn Model>);

impl Model for Busy {
    fn call<'a>(
        &'a self,
        who: &'a Who,
        request: &'a Request,
        delta: Delta,
    ) -> Pending<'a, Result<Reply, ModelFailure>> {
        self.0.call(who, request, delta)
    }
    fn call_in_turn<'a>(
        &'a self,
        who: &'a Who,
        request: &'a Request,
        delta: Delta,
        queued: Notice,
    ) -> Pending<'a, Result<Reply, ModelFailure>> {
        queued(&Queued { provider: "busybox".into(), ahead: 2, until: None });
        self.call(who, request, delta)
    }
}

#[tokio::test(start_paused = true)]
async fn observers_see_a_call_that_waits_for_its_turn_and_the_log_does_not_know() {
    let stage = Stage::new(team(&[("solo", &[])]), "  solo:\n    - text: at last\n");
    let mut world = stage.world();
    world.model = std::sync::Arc::new(Busy(world.model));
    let world = world.guarded(&Redactor::default());
    let ready = stage.ready_on(world).await.unwrap();
    let mut live = ready.watch();
    deputize_testkit::stage::finished(ready.run().await);
    let mut waited = Vec::new();
    while let Ok(item) = live.try_recv() {
        if let Live::Queued { path, label, queued, .. } = item {
            waited.push(format!("{path} {label} {} {}", queued.provider, queued.ahead));
        }
    }
    assert_eq!(waited, ["solo t1 busybox 2"]);
    assert!(stage.log("r").await.iter().all(|record| !format!("{record:?}").contains("busybox")));
}
