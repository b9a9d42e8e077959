//! Durable appends: the SQLite store against a plain file on the same disk, both with the same bytes, one event at a time
//! from each of several submitters that wait for it, as drivers do.

use crate::Plan;
use crate::measure::{Fault, Spread, interleaved, micros, short};
use crate::raw::{Direct, RawLog};
use crate::scene::Scene;
use crate::table::Table;
use deputize_adapters::store::sqlite::{SqliteStore, Sync};
use deputize_core::budget::Spend;
use deputize_core::event::{Event, Recorded, Started, VERSION};
use deputize_core::id::{Label, RunId, Time};
use deputize_core::message::Turn;
use deputize_core::step::Product;
use deputize_runtime::port::{Append, EventStore};
use futures_util::future::try_join_all;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SUBMITTERS: [usize; 3] = [1, 16, 64];

#[derive(Clone, Copy)]
enum Way {
    /// A plain file without hand-over to a thread.
    Direct,
    /// A plain file.
    Raw(usize),
    Sqlite(usize),
}

/// What came of one measurement.
struct Paced {
    /// Events a second.
    rate: f64,
    /// Microseconds of each append.
    waits: Vec<f64>,
}

pub(crate) async fn run(plan: &Plan) -> Result<Vec<Table>, Fault> {
    let scene = Scene::alone(1, 1, "look").await?;
    let Some(Event::RunStarted(started)) = scene.root_log().first().map(|r| &r.event) else {
        return Err("the log has no start".into());
    };
    let time = Duration::from_millis(plan.size(400, 40));
    let pairs = SUBMITTERS.iter().flat_map(|n| [Way::Raw(*n), Way::Sqlite(*n)]);
    let ways: Vec<Way> = std::iter::once(Way::Direct).chain(pairs).collect();
    let run = async |way: Way| {
        let folder = plan.folder()?;
        match way {
            Way::Direct => direct(&mut Direct::open(&folder.path().join("raw"))?, time),
            Way::Raw(n) => raw(RawLog::open(&folder.path().join("raw"))?, n, time).await,
            Way::Sqlite(n) => {
                let store = SqliteStore::open(folder.path().join("store.sqlite3"), Sync::Full)?;
                sqlite(store, n, started, time).await
            }
        }
    };
    let mut results = interleaved(plan.rounds, &ways, run).await?.into_iter();
    let head =
        ["submitters", "file, events/s", "SQLite, events/s", "SQLite / file", "file p50, p99", "SQLite p50, p99"];
    let about = format!(
        "Events of {} bytes, durable (fdatasync; SQLite: WAL, synchronous = FULL). Waits in ms, of all rounds.",
        serde_json::to_vec(&event(1))?.len()
    );
    let mut table = Table::new(about, &head);
    let direct: Vec<Paced> = results.next().unwrap_or_default();
    table.row(["1, no hand-over", &rates(&direct).1, "", "", &waits(&direct), ""].map(String::from));
    for n in SUBMITTERS {
        let (Some(raw), Some(sqlite)) = (results.next(), results.next()) else { break };
        let ((raw_rates, raw_text), (sqlite_rates, sqlite_text)) = (rates(&raw), rates(&sqlite));
        let ratio = Spread::of_ratios(&sqlite_rates, &raw_rates).to_string();
        table.row([n.to_string(), raw_text, sqlite_text, ratio, waits(&raw), waits(&sqlite)]);
    }
    Ok(vec![table])
}

fn rates(rounds: &[Paced]) -> (Vec<f64>, String) {
    let rates: Vec<f64> = rounds.iter().map(|paced| paced.rate).collect();
    let text = Spread::of(rates.iter().copied()).to_string();
    (rates, text)
}

fn waits(rounds: &[Paced]) -> String {
    let mut all: Vec<f64> = rounds.iter().flat_map(|paced| paced.waits.iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    let at = |percent: usize| all.get(all.len() * percent / 100).map_or(f64::NAN, |us| us / 1e3);
    format!("{}, {}", short(at(50)), short(at(99)))
}

/// An event of a usual size.
fn event(seq: u64) -> Recorded {
    let text = "The folder holds what its index says, and the index names no part that is missing. ".repeat(4);
    let product = Product::Turn(Arc::new(Turn { text, ..Turn::default() }));
    let label = Label::under("", &format!("t{seq}"));
    let event = Event::StepSucceeded { label, attempt: 1, product, spent: Spend::default() };
    Recorded { v: VERSION, seq, at: Time(1_000_000), event }
}

fn paced(began: Instant, waits: Vec<f64>) -> Paced {
    let events = f64::from(u32::try_from(waits.len()).unwrap_or(u32::MAX));
    Paced { rate: events / began.elapsed().as_secs_f64(), waits }
}

fn direct(file: &mut Direct, time: Duration) -> Result<Paced, Fault> {
    let (began, mut waits) = (Instant::now(), Vec::new());
    while began.elapsed() < time {
        let start = Instant::now();
        file.append(&line(waits.len() as u64 + 1)?)?;
        waits.push(micros(start.elapsed()));
    }
    Ok(paced(began, waits))
}

/// The same bytes as the store keeps, and a line end.
fn line(seq: u64) -> Result<Vec<u8>, Fault> {
    let mut bytes = serde_json::to_vec(&event(seq))?;
    bytes.push(b'\n');
    Ok(bytes)
}

async fn raw(log: RawLog, submitters: usize, time: Duration) -> Result<Paced, Fault> {
    let log = Arc::new(log);
    many((0..submitters).map(|_| Submitter::Raw(log.clone())), time).await
}

async fn sqlite(store: SqliteStore, submitters: usize, like: &Started, time: Duration) -> Result<Paced, Fault> {
    let mut all = Vec::new();
    for n in 0..submitters {
        let root = RunId::new(format!("r{n}"));
        let epoch = store.lease(&root).await?;
        let started = Started { run: root.clone(), ..like.clone() };
        let first = Recorded { event: Event::RunStarted(Box::new(started)), ..event(0) };
        store.append(&root, epoch, vec![Append { run: root.clone(), expected: 0, events: vec![first] }]).await?;
        all.push(Submitter::Sqlite { store: store.clone(), root, epoch });
    }
    many(all, time).await
}

/// Who appends to what.
enum Submitter {
    Raw(Arc<RawLog>),
    /// To the log of a tree of its own.
    Sqlite {
        store: SqliteStore,
        root: RunId,
        epoch: u64,
    },
}

impl Submitter {
    async fn append(&self, seq: u64) -> Result<(), Fault> {
        match self {
            Submitter::Raw(log) => log.append(line(seq)?).await,
            Submitter::Sqlite { store, root, epoch } => {
                let batch = vec![Append { run: root.clone(), expected: seq, events: vec![event(seq)] }];
                Ok(store.append(root, *epoch, batch).await?)
            }
        }
    }

    /// One event after the other until the time is over; microseconds of each.
    async fn submit(self, time: Duration) -> Result<Vec<f64>, Fault> {
        let (began, mut waits) = (Instant::now(), Vec::new());
        while began.elapsed() < time {
            let start = Instant::now();
            self.append(waits.len() as u64 + 1).await?;
            waits.push(micros(start.elapsed()));
        }
        Ok(waits)
    }
}

/// Several submitters at once, each in a task of its own.
async fn many(submitters: impl IntoIterator<Item = Submitter>, time: Duration) -> Result<Paced, Fault> {
    let began = Instant::now();
    let tasks: Vec<_> = submitters.into_iter().map(|one| tokio::spawn(one.submit(time))).collect();
    let waits: Vec<Vec<f64>> = try_join_all(tasks).await?.into_iter().collect::<Result<_, _>>()?;
    Ok(paced(began, waits.into_iter().flatten().collect()))
}
