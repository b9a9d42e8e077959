//! Clocks, interleaved rounds and their statistics. A harness of our own, because what is compared here are whole
//! programs with setup, disk and other threads: criterion and divan time one closure after the other, so that a
//! neighbour's load falls on one variant and not on the next, and they know wall time only.

use rustix::time::{ClockId, clock_gettime};
use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Whatever stops a benchmark.
pub(crate) type Fault = Box<dyn std::error::Error + Send + Sync>;

/// CPU time of all threads of this process so far.
fn process_cpu() -> Duration {
    cpu(ClockId::ProcessCPUTime)
}

/// CPU time of this thread so far.
pub(crate) fn thread_cpu() -> Duration {
    cpu(ClockId::ThreadCPUTime)
}

fn cpu(clock: ClockId) -> Duration {
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}

/// What something took, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) cpu: f64,
    pub(crate) wall: f64,
}

/// A started measurement.
pub(crate) struct Watch {
    cpu: Duration,
    wall: Instant,
}

impl Watch {
    pub(crate) fn start() -> Watch {
        Watch { cpu: process_cpu(), wall: Instant::now() }
    }
    pub(crate) fn stop(&self) -> Cost {
        Cost { wall: micros(self.wall.elapsed()), cpu: micros(process_cpu().saturating_sub(self.cpu)) }
    }
}

pub(crate) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Every variant once in each round, in an order that moves on by one; a first round warms up and is not kept. One list of
/// results for each variant; results of the same place belong to the same round.
pub(crate) async fn interleaved<V: Copy, T>(
    rounds: usize,
    variants: &[V],
    run: impl AsyncFn(V) -> Result<T, Fault>,
) -> Result<Vec<Vec<T>>, Fault> {
    let mut all: Vec<Vec<T>> = variants.iter().map(|_| Vec::new()).collect();
    for round in 0..=rounds {
        for step in 0..variants.len() {
            let at = (round + step) % variants.len();
            let (Some(variant), Some(kept)) = (variants.get(at), all.get_mut(at)) else { continue };
            let result = run(*variant).await?;
            if round > 0 {
                kept.push(result);
            }
        }
    }
    Ok(all)
}

/// CPU microseconds of one call, from as many calls as fill `least`.
pub(crate) fn per_call<T>(least: Duration, mut call: impl FnMut() -> T) -> f64 {
    let mut calls = 1_u32;
    loop {
        let before = thread_cpu();
        for _ in 0..calls {
            black_box(call());
        }
        let took = thread_cpu().saturating_sub(before);
        if took >= least || calls >= 1 << 24 {
            return micros(took) / f64::from(calls);
        }
        calls *= 2;
    }
}

/// Least, median and most of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) least: f64,
    pub(crate) median: f64,
    pub(crate) most: f64,
}

impl Spread {
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Spread {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let at = |i: usize| values.get(i).copied().unwrap_or(f64::NAN);
        let middle = values.len() / 2;
        let median = if values.len().is_multiple_of(2) {
            f64::midpoint(at(middle.saturating_sub(1)), at(middle))
        } else {
            at(middle)
        };
        Spread { least: at(0), median, most: at(values.len().saturating_sub(1)) }
    }
    /// Of the quotients of results of the same round.
    pub(crate) fn of_ratios(these: &[f64], those: &[f64]) -> Spread {
        Spread::of(these.iter().zip(those).map(|(this, that)| this / that))
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} to {})", short(self.median), short(self.least), short(self.most))
    }
}

/// A number with about three digits.
pub(crate) fn short(number: f64) -> String {
    let digits = match number.abs() {
        n if n >= 100.0 => 0,
        n if n >= 10.0 => 1,
        _ => 2,
    };
    format!("{number:.digits$}")
}
