//! One failing, hanging or panicking part hurts nobody else; every fault is an outcome in the log.

use deputize_core::code;
use deputize_core::event::Event;
use deputize_core::step::Then;
use deputize_core::summary::Terminal;
use deputize_testkit::{Stage, team};

fn three(fault: &str) -> Stage {
    let team = team(&[("lead", &["good", "bad"]), ("good", &[]), ("bad", &[])]);
    let script = format!(
        "
  lead:
    - calls:
        - delegate: {{agent: good, objective: one}}
        - delegate: {{agent: bad, objective: two, budget: {{time_s: 30}}}}
        - delegate: {{agent: good, objective: three}}
    - text: two of three
  lead/good:
    - text: fine
  lead/bad:
    - {fault}
"
    );
    Stage::new(team, &script)
}

// covers F-07, E-60, L-14
#[tokio::test(start_paused = true)]
async fn a_child_that_fails_panics_or_hangs_is_a_result_with_a_status() {
    let cases = [
        ("fault: auth", Terminal::Failed, Some(code::MODEL_AUTH)),
        ("fault: panic", Terminal::Failed, Some(code::MODEL_PANICKED)),
        ("fault: hang", Terminal::Deadline, Some(code::BUDGET_TIME)),
        ("fault: empty", Terminal::Failed, Some(code::SUMMARY_EMPTY)),
        ("fault: refusal", Terminal::Failed, Some(code::MODEL_REFUSED)),
        ("fault: overloaded", Terminal::Failed, Some(code::MODEL_OVERLOADED)),
    ];
    for (fault, status, reason) in cases {
        let stage = three(fault);
        let summary = stage.run().await;
        assert_eq!(summary.status, Terminal::Succeeded, "{fault}");
        let tree = stage.tree().await;
        let ended: Vec<_> = tree.runs().iter().map(|r| r.state.summary().unwrap()).collect();
        assert_eq!(ended.len(), 4, "{fault}: every run has a summary");
        assert_eq!((ended[2].status, ended[2].reason_code.clone()), (status, reason), "{fault}");
        assert!([1, 3].iter().all(|i| ended[*i].status == Terminal::Succeeded), "{fault}: the siblings are unhurt");
        let request = &stage.model.calls().into_iter().rfind(|c| c.path.as_str() == "lead").unwrap().request;
        let told = serde_json::to_string(&request.messages[3]).unwrap();
        assert!(
            told.contains(&format!("{{\\\"status\\\":\\\"{}\\\",\\\"unverified\\\"", status.word())),
            "{fault}: {told}"
        );
    }
}

// covers F-07
#[tokio::test(start_paused = true)]
async fn a_tool_that_fails_panics_or_hangs_is_a_result_and_the_loop_goes_on() {
    let cases = [("broken", code::TOOL_FAILED), ("crash", code::TOOL_PANICKED), ("hang", code::TOOL_TIMEOUT)];
    for (tool, reason) in cases {
        let script = format!("  solo:\n    - calls: [{{{tool}: {{n: 1}}}}, {{look: {{}}}}]\n    - text: went on\n");
        let stage = Stage::new(team(&[("solo", &[])]), &script);
        assert_eq!(stage.run().await.status, Terminal::Succeeded, "{tool}");
        let found = stage.events("r").await.into_iter().find_map(|e| match e {
            Event::StepFailed { code, then: Then::Final, .. } => Some(code),
            _ => None,
        });
        assert_eq!(found, Some(reason), "{tool}");
    }
}

// what is large lands beside the log, a bounded preview and a reference travel on.
// covers L-07
#[tokio::test(start_paused = true)]
async fn a_large_result_is_kept_whole_beside_the_log() {
    let script = "  solo:\n    - calls: [{flood: {}}]\n    - text: seen\n";
    let stage = Stage::new(team(&[("solo", &[])]), script);
    stage.run().await;
    let output = stage.events("r").await.into_iter().find_map(|e| match e {
        Event::StepSucceeded { product: deputize_core::step::Product::Output(o), .. } => Some(o),
        _ => None,
    });
    let output = output.unwrap();
    let whole = output.whole.clone().unwrap();
    assert_eq!(whole.len, 200_000);
    assert!(output.text.len() < 60_000 && output.text.contains("[cut:"));
    let kept = deputize_runtime::port::BlobStore::get(&stage.store, &whole.sha256).await.unwrap().unwrap();
    assert_eq!(kept.len(), 200_000);
    let request = stage.model.calls().pop().unwrap().request;
    assert!(serde_json::to_string(&request.messages).unwrap().contains(whole.sha256.as_str()));
}

// each attempt is an event; Retry-After is obeyed within the total bound.
// covers E-61
#[tokio::test(start_paused = true)]
async fn retries_are_events_and_obey_the_provider() {
    let script = "
  solo:
    - fault: rate_limited
      retry_after: 7s
      times: 2
      text: at last
";
    let stage = Stage::new(team(&[("solo", &[])]), script);
    assert_eq!(stage.run().await.status, Terminal::Succeeded);
    let log = stage.log("r").await;
    let failed = log.iter().filter(|r| matches!(r.event, Event::StepFailed { then: Then::Retry { .. }, .. })).count();
    assert_eq!(failed, 2);
    let starts: Vec<_> = log.iter().filter(|r| matches!(r.event, Event::StepStarted(_))).map(|r| r.at).collect();
    assert_eq!(starts.len(), 3);
    assert!(starts.windows(2).all(|w| w[1].since(w[0]) >= 7_000), "{starts:?}");
    assert_eq!(stage.model.calls().iter().map(|c| c.attempt).collect::<Vec<_>>(), [1, 2, 3]);
}

// covers E-21
#[tokio::test(start_paused = true)]
async fn a_run_out_of_time_ends_with_what_exists() {
    let mut team = team(&[("solo", &[])]);
    team.budget.tree.time = Some(5_000);
    let script = "  solo:\n    - text: half of it\n      calls: [{look: {}}]\n    - fault: hang\n";
    let stage = Stage::new(team, script);
    let summary = stage.run().await;
    assert_eq!((summary.status, summary.limit.as_deref(), summary.partial), (Terminal::Deadline, Some("time"), true));
    assert_eq!(summary.payload["result"], "half of it");
    let log = stage.log("r").await;
    assert_eq!(log.last().unwrap().at.since(log[0].at), 5_000);
}

// What a provider counts is data: a figure beyond all sense ends the run at its cap, and nothing overflows.
// covers E-21
#[tokio::test(start_paused = true)]
async fn absurd_usage_ends_the_run_at_its_cap() {
    let script = "
lead:
  - calls: [{delegate: {agent: worker, objective: one}}]
    usage: {input: 10, output: 10}
  - text: never asked
lead/worker:
  - calls: [{look: {}}]
    usage: {input: 9223372036854775807, output: 9223372036854775807}
  - text: never asked
";
    let stage = Stage::new(team(&[("lead", &["worker"]), ("worker", &[])]), script);
    let summary = stage.run().await;
    assert_eq!((summary.status, summary.limit.as_deref()), (Terminal::BudgetExhausted, Some("tokens")));
    let tree = stage.tree().await;
    let worker = tree.runs()[1].state.summary().unwrap();
    assert_eq!((worker.status, worker.limit.as_deref()), (Terminal::BudgetExhausted, Some("tokens")));
    assert!(worker.findings.iter().any(|f| f.code == code::SPEND_EXCESS));
}
