//! Models that take over: which failures lead on, what is recorded, and what stays exact.

use crate::crash::sweep;
use deputize_core::definition::RetryPolicy;
use deputize_core::event::Event;
use deputize_core::id::ModelName;
use deputize_core::step::Then;
use deputize_core::summary::Terminal;
use deputize_core::{code, projection};
use deputize_testkit::store::Cut;
use deputize_testkit::{Stage, team};

/// A lead with a worker whose first model fails in this way; two others stand by.
fn stage(fault: &str) -> Stage {
    let mut team = team(&[("lead", &["worker"]), ("worker", &[])]);
    team.retry.insert("scripted".into(), RetryPolicy { attempts: 2, ..RetryPolicy::default() });
    team.agents.get_mut("worker").unwrap().fallback = vec!["spare:second".into(), "spare:third".into()];
    let script = format!(
        "
lead:
  - calls: [{{look: {{}}}}, {{delegate: {{agent: worker, objective: one}}}}]
  - text: done
lead/worker:
  - calls: [{{look: {{}}}}]
    usage: {{input: 100, output: 10}}
  - {{{fault}, text: half, calls: [{{put: {{n: 1}}}}], usage: {{input: 20, output: 1}}}}
  - text: one
    usage: {{input: 300, output: 30}}
"
    );
    Stage::new(team, &script)
}

fn models(stage: &Stage) -> Vec<String> {
    let own = |c: &deputize_adapters::provider::scripted::Call| c.path.as_str() == "lead/worker#1";
    stage.model.calls().iter().filter(|c| own(c)).map(|c| c.request.model.to_string()).collect()
}

// covers F-06, F-07
#[tokio::test(start_paused = true)]
async fn the_next_model_takes_the_step_and_every_later_one() {
    let stage = stage("fault: auth, times: 1");
    let summary = stage.run().await;
    assert_eq!((summary.status, summary.payload["result"].as_str()), (Terminal::Succeeded, Some("done")));
    assert_eq!(models(&stage), ["scripted:script", "scripted:script", "spare:second", "spare:second"]);
    let events = stage.events("r/t1/c1").await;
    let started = events.iter().filter_map(|e| match e {
        Event::StepStarted(s) if s.digest.is_some() => Some((s.label.to_string(), s.attempt, s.model.clone())),
        _ => None,
    });
    let spare = || Some(ModelName::new("spare:second"));
    let want = [("t1", 1, None), ("t2", 1, None), ("t2", 2, spare()), ("t3", 1, spare())];
    assert_eq!(started.collect::<Vec<_>>(), want.map(|(label, n, model)| (label.to_string(), n, model)));
    let tree = stage.tree().await;
    let run = tree.run(&"r/t1/c1".into()).unwrap();
    let named: Vec<String> = projection::steps(run).into_iter().filter(|s| s.kind == "model").map(|s| s.name).collect();
    assert_eq!(named, ["scripted:script", "spare:second", "spare:second"], "the trace names who answered");
    let spent = |model: &str| {
        let of = run.own.by_model.iter().filter(|m| m.model.as_str() == model).map(|m| m.usage.tokens());
        of.sum::<u64>()
    };
    assert_eq!((spent("scripted:script"), spent("spare:second")), (110 + 21, 21 + 330));
    let finding = run.state.findings().iter().find(|f| f.code == code::MODEL_FALLBACK).unwrap();
    assert!(finding.text.contains("scripted:script") && finding.text.contains("spare:second"), "{}", finding.text);
}

// Retries of each model come before the next one; a wait that is named does not, and it does not park the tree.
// covers F-06, U-02
#[tokio::test(start_paused = true)]
async fn retries_are_counted_by_model_and_a_fallback_comes_before_a_wait() {
    let overloaded = stage("fault: overloaded, times: 4");
    assert_eq!(overloaded.run().await.status, Terminal::Succeeded);
    let two = |model: &str| [model.to_string(), model.to_string()];
    let want = [two("scripted:script"), ["scripted:script".into(), "spare:second".into()]].concat();
    assert_eq!(models(&overloaded)[..4], want, "two attempts with the run's own model");
    let limited = stage("fault: rate_limited, retry_after: 2h, times: 1");
    assert_eq!(limited.run().await.status, Terminal::Succeeded);
    assert_eq!(models(&limited)[1..3], ["scripted:script", "spare:second"]);
    let all = stage("fault: rate_limited, retry_after: 2h");
    let halt = all.ready_on(all.world()).await.unwrap().run().await;
    assert!(matches!(halt, Ok(deputize_runtime::Halt::Waiting { until: Some(_) })), "when none is left: {halt:?}");
    assert_eq!(models(&all)[1..], ["scripted:script", "spare:second", "spare:third"]);
}

// covers F-06
#[tokio::test(start_paused = true)]
async fn what_would_be_the_same_elsewhere_is_final() {
    for (fault, code) in [("fault: refusal", code::MODEL_REFUSED), ("fault: context_full", code::CONTEXT_FULL)] {
        let script = format!("solo: [{{{fault}, text: no}}]");
        let mut team = team(&[("solo", &[])]);
        team.agents.get_mut("solo").unwrap().fallback = vec!["spare:second".into()];
        let stage = Stage::new(team, &script);
        let summary = stage.run().await;
        assert_eq!((summary.status, summary.reason_code.clone()), (Terminal::Failed, Some(code)));
        assert_eq!(stage.model.calls().len(), 1, "{fault}");
        let went_on = |e: &Event| matches!(e, Event::StepFailed { then: Then::Fallback { .. }, .. });
        assert!(!stage.events("r").await.iter().any(went_on));
    }
}

// covers F-05, F-06
#[tokio::test(start_paused = true)]
async fn a_crash_at_any_event_of_a_fallback_repeats_nothing() {
    sweep(|| stage("fault: auth, times: 1"), Cut::After).await;
    sweep(|| stage("fault: auth, times: 1"), Cut::AfterAppend).await;
}
