//! Limits of a provider, in virtual time: shared by all that is built, fair, cancellable, and shut when the provider says so.

use crate::support::{request, who};
use deputize_adapters::provider::{Config, Limiters, Limits};
use deputize_core::code;
use deputize_core::id::Time;
use deputize_core::message::{Stop, Turn, Usage};
use deputize_core::step::{Failure, Retry};
use deputize_runtime::TokioClock;
use deputize_runtime::port::{Clock, Delta, Model, ModelFailure, Notice, Pending, Queued, Reply, Who};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// What a call to the server comes to.
type Outcome = Result<u64, Failure>;

/// A provider that takes a second for each call and gives up by itself after two.
#[derive(Default)]
struct Server {
    /// When each call arrived, in seconds, and its step.
    seen: Mutex<Vec<(u64, String)>>,
    now: Mutex<(usize, usize)>,
    /// What the next calls come to; then each uses ten tokens.
    next: Mutex<Vec<Outcome>>,
    start: Mutex<Option<Instant>>,
}

impl Server {
    fn seconds(&self) -> u64 {
        self.start.lock().unwrap().get_or_insert_with(Instant::now).elapsed().as_secs()
    }
    fn starts(&self) -> Vec<u64> {
        self.seen.lock().unwrap().iter().map(|(at, _)| *at).collect()
    }
    fn order(&self) -> Vec<String> {
        self.seen.lock().unwrap().iter().map(|(_, label)| label.clone()).collect()
    }
    fn most_at_once(&self) -> usize {
        self.now.lock().unwrap().1
    }
}

struct Door(Arc<Server>);

impl Model for Door {
    fn call<'a>(
        &'a self,
        who: &'a Who,
        _: &'a deputize_core::message::Request,
        _: Delta,
    ) -> Pending<'a, Result<Reply, ModelFailure>> {
        Box::pin(async move {
            let at = self.0.seconds();
            self.0.seen.lock().unwrap().push((at, who.label.to_string()));
            {
                let mut now = self.0.now.lock().unwrap();
                *now = (now.0 + 1, now.1.max(now.0 + 1));
            }
            let clock = TokioClock::at(Time(0));
            let work = clock.sleep_until(Time(1_000));
            tokio::time::timeout(Duration::from_secs(2), work).await.unwrap();
            self.0.now.lock().unwrap().0 -= 1;
            let mut next = self.0.next.lock().unwrap();
            let used = if next.is_empty() { Ok(10) } else { next.remove(0) };
            let usage = Usage { output_tokens: used?, ..Usage::default() };
            let turn = Turn { text: "ok".into(), stop: Stop::End, ..Turn::default() };
            Ok(Reply { turn, usage })
        })
    }
}

fn limits(concurrency: usize, requests: Option<u64>, tokens: Option<u64>) -> Limits {
    Limits { concurrency, requests_per_minute: requests, tokens_per_minute: tokens }
}

fn config(limits: Limits) -> Config {
    let base_url = "https://lab.example/v1".to_string();
    Config { name: "lab".into(), base_url, api_key_env: Some("LAB_KEY".into()), limits, ..Config::default() }
}

fn register() -> Limiters {
    let server = TokioClock::system();
    Limiters::new(Arc::new(server))
}

fn limited(limits: Limits) -> (Arc<Server>, Arc<dyn Model>) {
    let server = Arc::new(Server::default());
    server.seconds();
    let model = register().limit(&config(limits), Arc::new(Door(server.clone())));
    (server, model)
}

/// A call in the background. The tests' runtime has one thread, so calls queue up in the order in which they are made.
fn call(model: &Arc<dyn Model>, label: &str) -> JoinHandle<Result<Reply, ModelFailure>> {
    let (model, who) = (model.clone(), who("lead", label, 1));
    tokio::spawn(async move { model.call(&who, &request(), Arc::new(|_| {})).await })
}

async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

async fn all(calls: Vec<JoinHandle<Result<Reply, ModelFailure>>>) {
    for call in calls {
        call.await.unwrap().unwrap();
    }
}

fn refusal(result: Result<Reply, ModelFailure>) -> Failure {
    result.unwrap_err().failure
}

// covers F-07
#[tokio::test(start_paused = true)]
async fn trees_that_were_built_apart_share_the_limits_of_a_provider() {
    let (server, register) = (Arc::new(Server::default()), register());
    server.seconds();
    let build = |config: &Config| register.limit(config, Arc::new(Door(server.clone())));
    // The second tree's file allows more: the strictest holds.
    let (one, two) = (build(&config(limits(2, None, None))), build(&config(limits(5, None, None))));
    all((1..=3).flat_map(|n| [call(&one, &format!("t{n}")), call(&two, &format!("t{n}"))]).collect()).await;
    assert_eq!(server.most_at_once(), 2);
    assert_eq!(server.starts(), [0, 0, 1, 1, 2, 2]);
    // Once the strict one is gone, the other's word holds.
    drop(one);
    all((4..=8).map(|n| call(&two, &format!("t{n}"))).collect()).await;
    assert_eq!(server.most_at_once(), 5);
}

#[tokio::test(start_paused = true)]
async fn another_name_address_or_key_is_another_provider() {
    let (server, register) = (Arc::new(Server::default()), register());
    let own = config(limits(1, None, None));
    let others = [
        Config { name: "other".into(), ..own.clone() },
        Config { base_url: "https://lab.example/v2".into(), ..own.clone() },
        Config { api_key_env: Some("OTHER".into()), ..own.clone() },
    ];
    let build = |config: &Config| register.limit(config, Arc::new(Door(server.clone())));
    let models: Vec<_> = [own].iter().chain(&others).map(build).collect();
    all(models.iter().map(|model| call(model, "t1")).collect()).await;
    assert_eq!(server.most_at_once(), 4);
}

// A time-out of the call (two seconds here) does not run while the call waits, or the third would fail.
#[tokio::test(start_paused = true)]
async fn requests_over_the_rate_wait_in_order_and_do_not_time_out() {
    let (server, model) = limited(limits(8, Some(2), None));
    all((1..=5).map(|n| call(&model, &format!("t{n}"))).collect()).await;
    assert_eq!(server.starts(), [0, 0, 60, 60, 120]);
    assert_eq!(server.order(), ["t1", "t2", "t3", "t4", "t5"]);
}

#[tokio::test(start_paused = true)]
async fn tokens_are_reserved_before_a_call_and_settled_by_what_was_used() {
    // The request's estimate and its 100 of output fit twice, not three times.
    let bytes = serde_json::to_vec(&request()).unwrap().len();
    let one = deputize_core::context::tokens(bytes) + 100;
    let (server, model) = limited(limits(8, None, Some(one * 2 + 30)));
    all((1..=3).map(|n| call(&model, &format!("t{n}"))).collect()).await;
    assert_eq!(server.starts(), [0, 0, 1], "the third goes when the first has used but ten");
    // A call of which nothing is known counts in full.
    server.next.lock().unwrap().push(Err(Failure {
        code: code::MODEL_TIMEOUT,
        why: "late".into(),
        retry: Retry::Ambiguous,
    }));
    call(&model, "t4").await.unwrap().unwrap_err();
    all(vec![call(&model, "t5")]).await;
    call(&model, "t6").await.unwrap().unwrap();
    assert_eq!(server.starts(), [0, 0, 1, 2, 3, 60]);
}

#[tokio::test(start_paused = true)]
async fn who_gives_up_waiting_or_calling_holds_nobody_up() {
    let (server, model) = limited(limits(1, None, None));
    let [first, second, third] = ["t1", "t2", "t3"].map(|label| call(&model, label));
    settle().await;
    second.abort();
    first.abort();
    third.await.unwrap().unwrap();
    assert_eq!(server.order(), ["t1", "t3"]);
    assert_eq!(server.starts(), [0, 0], "an abandoned call frees its place at once");
}

// The provider's word that it takes no calls until T: nothing is sent before T, whoever asks.
#[tokio::test(start_paused = true)]
async fn no_request_is_made_before_a_reset_time_that_is_far() {
    let (server, model) = limited(limits(1, None, None));
    let hour = Some(3_600_000);
    server.next.lock().unwrap().push(Err(Failure::passing(code::MODEL_RATE_LIMITED, "429", hour)));
    let [first, queued] = ["t1", "t2"].map(|label| call(&model, label));
    assert_eq!(refusal(first.await.unwrap()).why, "429");
    let failure = refusal(queued.await.unwrap());
    assert_eq!((failure.code, failure.retry), (code::MODEL_RATE_LIMITED, Retry::After(hour)));
    assert_eq!(failure.why, "`lab` has said that it takes no calls for another 1 h 0 min: nothing was sent");
    tokio::time::advance(Duration::from_secs(600)).await;
    let later = refusal(call(&model, "t3").await.unwrap());
    assert_eq!(later.retry, Retry::After(Some(3_000_000)), "what is left of it");
    tokio::time::advance(Duration::from_secs(3_000)).await;
    call(&model, "t4").await.unwrap().unwrap();
    assert_eq!(server.order(), ["t1", "t4"]);
}

#[tokio::test(start_paused = true)]
async fn a_reset_time_that_is_near_is_waited_for_in_order() {
    let (server, model) = limited(limits(1, None, None));
    server.next.lock().unwrap().push(Err(Failure::passing(code::MODEL_OVERLOADED, "503", Some(20_000))));
    let calls = ["t1", "t2", "t3"].map(|label| call(&model, label));
    let mut results = Vec::new();
    for call in calls {
        results.push(call.await.unwrap().is_ok());
    }
    assert_eq!(results, [false, true, true]);
    assert_eq!(server.starts(), [0, 21, 22]);
}

#[tokio::test(start_paused = true)]
async fn other_failures_close_nothing() {
    let (server, model) = limited(limits(1, None, None));
    let failures = [
        Failure::passing(code::MODEL_OVERLOADED, "503 without a time", None),
        Failure::fixed(code::MODEL_RATE_LIMITED, "no money left"),
        Failure::passing(code::MODEL_CUT, "cut", Some(9_000_000)),
    ];
    server.next.lock().unwrap().extend(failures.map(Err));
    for label in ["t1", "t2", "t3"] {
        call(&model, label).await.unwrap().unwrap_err();
    }
    call(&model, "t4").await.unwrap().unwrap();
    assert_eq!(server.starts(), [0, 1, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn who_waits_is_said_once_with_what_is_before_it() {
    let (_, model) = limited(limits(1, Some(2), None));
    let heard: Arc<Mutex<Vec<(String, Queued)>>> = Arc::default();
    let calls: Vec<_> = ["t1", "t2", "t3"]
        .map(|label| {
            let (model, who, heard) = (model.clone(), who("lead", label, 1), heard.clone());
            let notice: Notice = Arc::new(move |q: &Queued| heard.lock().unwrap().push((label.to_string(), q.clone())));
            tokio::spawn(async move { model.call_in_turn(&who, &request(), Arc::new(|_| {}), notice).await })
        })
        .into();
    all(calls).await;
    let heard: Vec<_> = heard.lock().unwrap().iter().map(|(l, q)| format!("{l} {} {}", q.provider, q.ahead)).collect();
    assert_eq!(heard, ["t2 lab 0", "t3 lab 1"]);
}
