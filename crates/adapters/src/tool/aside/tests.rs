//! Work that nobody waits for any more is told to stop; work that breaks down is a failure of the call.

use super::aside;
use deputize_core::code;
use deputize_core::step::Failure;
use std::sync::mpsc;
use std::task::{Context, Waker};
use std::time::Duration;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

#[test]
fn dropping_the_future_stops_the_work() {
    let (begun, has_begun) = mpsc::channel();
    let (ended, has_ended) = mpsc::channel();
    runtime().block_on(async {
        let waiting = aside(move |stop| {
            begun.send(()).unwrap();
            while stop.check().is_ok() {
                std::thread::yield_now();
            }
            ended.send(()).unwrap();
            Ok::<(), Failure>(())
        });
        let mut waiting = Box::pin(waiting);
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        has_begun.recv().unwrap();
        drop(waiting);
        has_ended.recv_timeout(Duration::from_secs(30)).unwrap();
    });
}

#[test]
fn work_that_breaks_down_is_a_failure() {
    let got = runtime().block_on(aside::<()>(|_| panic!("boom")));
    assert_eq!(got.unwrap_err().code, code::TOOL_PANICKED);
}

#[test]
fn work_that_is_waited_for_runs_to_its_end() {
    let got = runtime().block_on(aside(|stop| stop.failing().map(|()| 7)));
    assert_eq!(got, Ok(7));
}
