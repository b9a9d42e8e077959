//! `demo --prove`: the review over HTTP against a model server in a process of its own, killed three times in the midst of
//! its work and taken up again. Owns the moments of the kills and what is shown; the verdict is in `verdict`.

use super::OBJECTIVE;
use super::bundle::Place;
use super::process::Process;
use super::verdict::{self, Asked, Kill, Repeated, Settled};
use super::{program, quoted};
use crate::ambient::Ambient;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::interrupt::Interrupts;
use crate::out::Out;
use crate::past::{self, Shelf};
use crate::wire;
use deputize_adapters::mock::Entry;
use deputize_api::{RunBody, run_doc, text};
use deputize_core::id::RunId;
use deputize_core::projection::{RunView, Tree};
use deputize_core::step::Ask;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// The run is killed when the server has logged the first request for this step of this agent. One: two other specialists
/// are at work or done. Two: the second wave, after all of the first. Three: only the lead's last answer is missing.
const KILLS: [(&str, &str); 3] = [("lead/clarity#1", "t2"), ("lead/security#2", "t2"), ("lead", "t4")];
/// Longer than anything here takes on a busy machine.
const GUARD: Duration = Duration::from_secs(60);

/// Runs the proof and ends with 1 if it fails.
pub(super) async fn run(place: &Place, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let mut interrupts = Interrupts::listen(false)?;
    let proven = tokio::select! {
        // Dropping the other future kills its processes.
        () = interrupts.next() => return Ok(Exit::Interrupted),
        proven = prove(place, ambient, out) => proven?,
    };
    let doc = proven.doc();
    let good = doc.proved;
    out.either(&doc, || proven.told(place, ambient));
    Ok(if good { Exit::Good } else { Exit::Refused })
}

/// Everything that there is to show.
struct Proven {
    root: RunId,
    tree: Tree,
    served: Vec<Entry>,
    asked: Vec<Asked>,
    kills: Vec<Kill>,
    settled: Vec<Settled>,
    repeated: Vec<Repeated>,
}

async fn prove(place: &Place, ambient: &Ambient, out: &Out) -> Result<Proven, Fault> {
    let access = place.folder.join("access.jsonl");
    let (script, log) = (place.script().display().to_string(), access.display().to_string());
    let words = ["__mock-model", "--script", &script, "--log", &log, "--while-input"];
    let mut server = Process::start(&words, &place.folder, "server")?;
    let address = server.first_line(GUARD).await?;
    place.configure(&provider(&address))?;
    out.note(&format!("a model server of its own process answers at {address}"));
    let (team, sample) = (place.team.display().to_string(), place.sample().display().to_string());
    let home = place.home.display().to_string();
    let first = ["run", &team, OBJECTIVE, "--workspace", &sample, "--home", &home];
    let again = ["resume", "last", "--home", &home];
    let mut kills: Vec<Kill> = Vec::new();
    for (number, (agent, label)) in (1..).zip(KILLS) {
        let words: &[&str] = if number == 1 { &first } else { &again };
        let mut run = Process::start(words, &place.folder, &format!("run-{number}"))?;
        run.until(GUARD, || is_there(&served(&access), agent, label)).await?;
        run.kill();
        let settled = settled(&newest(ambient).await?.1);
        let asked = served(&access).len();
        out.note(&format!(
            "kill {number}: SIGKILL at request {asked} ({agent}, {label}); the log has {} answers",
            settled.len()
        ));
        kills.push(Kill { asked, settled });
    }
    let mut last = Process::start(&again, &place.folder, "run-last")?;
    let status = last.end(GUARD).await?;
    if !status.success() {
        return Err(last.broke(&format!("ended with {status}")));
    }
    let (root, tree) = newest(ambient).await?;
    let served = served(&access);
    let asked: Vec<Asked> = served.iter().filter_map(asked).collect();
    let (settled, repeated) = (settled(&tree), verdict::repeated(&asked, &kills));
    Ok(Proven { root, tree, served, asked, kills, settled, repeated })
}

/// The provider, to be added to the team's configuration.
fn provider(address: &str) -> String {
    format!(
        "providers:\n  mock: {{kind: openai, base_url: \"{address}\", headers: {{x-agent-path: \"{{path}}\"}}}}\n\
         roles: {{default: \"mock:scripted\"}}\n"
    )
}

/// The access log so far; a line that is still being written is left for later.
fn served(file: &Path) -> Vec<Entry> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let whole = text.rfind('\n').and_then(|end| text.get(..end)).unwrap_or_default();
    whole.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn is_there(served: &[Entry], agent: &str, label: &str) -> bool {
    let ends = |key: &str| verdict::key(key).is_some_and(|(step, _)| step.rsplit('/').next() == Some(label));
    served.iter().any(|entry| entry.agent == agent && ends(&entry.key))
}

fn asked(entry: &Entry) -> Option<Asked> {
    let (step, attempt) = verdict::key(&entry.key)?;
    Some(Asked { n: entry.n, agent: entry.agent.clone(), step, attempt })
}

async fn newest(ambient: &Ambient) -> Result<(RunId, Tree), Fault> {
    let shelf = Shelf::open(ambient, None, wire::Sync::Full)?;
    let heads = shelf.store.roots(1).await?;
    let root = heads.into_iter().next().ok_or_else(|| past::unknown("last"))?.run;
    let tree = past::tree(&shelf, &root).await?;
    Ok((root, tree))
}

/// Outcomes of model calls; those of tools reach no server.
fn settled(tree: &Tree) -> Vec<Settled> {
    let models = |run: &RunView| {
        let all = verdict::settled(&run.id, &run.log).into_iter();
        let own = run.state.steps().filter(|(_, step)| matches!(&*step.ask, Ask::Model { .. }));
        let own: BTreeSet<String> = own.map(|(label, _)| format!("{}/{label}", run.id)).collect();
        all.filter(move |settled| own.contains(&settled.step)).collect::<Vec<_>>()
    };
    tree.runs().iter().flat_map(models).collect()
}

/// `demo --prove --json`.
#[derive(Serialize)]
struct ProofDoc {
    schema: u32,
    proved: bool,
    kills: Vec<KillDoc>,
    requests: Vec<RequestDoc>,
    run: Option<RunBody>,
}

#[derive(Serialize)]
struct KillDoc {
    /// Requests that the server had logged.
    requests: usize,
    /// Answers that the log of the run held.
    recorded: usize,
}

#[derive(Serialize)]
struct RequestDoc {
    n: u64,
    agent: String,
    step: String,
    attempt: u32,
    status: Option<u16>,
    /// The place in the log of the run of this step; null when its answer was lost in a kill.
    recorded: Option<u64>,
    /// The kill that lost its answer, from 1.
    lost: Option<usize>,
    /// Whether its answer was recorded before an earlier kill: then it should not have been made.
    repeated: bool,
}

impl Proven {
    fn doc(&self) -> ProofDoc {
        let kills = self.kills.iter().map(|kill| KillDoc { requests: kill.asked, recorded: kill.settled.len() });
        let all = self.asked.len() == self.served.len();
        ProofDoc {
            schema: deputize_api::SCHEMA,
            proved: all && self.repeated.is_empty() && self.kills.len() == KILLS.len(),
            kills: kills.collect(),
            requests: self.requests(),
            run: run_doc(&self.tree, &self.root, false).map(|doc| doc.run),
        }
    }

    /// Every request, and what became of its answer.
    fn requests(&self) -> Vec<RequestDoc> {
        let one = |(at, asked): (usize, &Asked)| {
            let same = |other: &&Asked| other.step == asked.step && other.attempt == asked.attempt;
            let last = !self.asked.iter().skip(at + 1).any(|other| same(&other));
            let known = self.settled.iter().find(|s| s.step == asked.step && s.attempt == asked.attempt);
            // A request that the server logged just after a kill was sent just before it.
            let kill = self.kills.iter().position(|kill| at < kill.asked).map_or(self.kills.len(), |at| at + 1);
            let recorded = known.filter(|_| last).map(|s| s.seq);
            RequestDoc {
                n: asked.n,
                agent: asked.agent.clone(),
                step: asked.step.clone(),
                attempt: asked.attempt,
                status: self.served.get(at).and_then(|entry| entry.status),
                recorded,
                lost: recorded.is_none().then_some(kill),
                repeated: self.repeated.iter().any(|r| r.n == asked.n),
            }
        };
        self.asked.iter().enumerate().map(one).collect()
    }

    fn told(&self, place: &Place, ambient: &Ambient) -> String {
        let (deputize, home) = (program(ambient), quoted(&place.home));
        let mut all = self.table();
        let lost = self.requests().iter().filter(|r| r.lost.is_some()).count();
        let (requests, recorded) = (self.asked.len(), self.asked.len() - lost);
        let _ = writeln!(
            all,
            "\n{requests} requests: {recorded} answers recorded, {lost} lost in a kill and asked for again."
        );
        all.push_str(&self.sentence());
        if let Some(doc) = run_doc(&self.tree, &self.root, false) {
            let word = text::people_word(doc.run.status, doc.run.partial);
            let _ = writeln!(all, "The run is {word}: {}.", text::usage(&doc.run.usage));
            all.push_str(
                "An answer that was lost may have been paid for: it is booked as if it had used all it could.\n",
            );
        }
        let _ = writeln!(all, "\n  {deputize} show {} --home {home}", self.root);
        let _ = writeln!(all, "  {deputize} trace {} --home {home}", self.root);
        let _ = writeln!(all, "  {}  the access log", quoted(&place.folder.join("access.jsonl")));
        let _ = writeln!(all, "\nAll of this is in {}: delete it when you are done.", quoted(&place.folder));
        all
    }

    fn table(&self) -> String {
        let mut all = String::new();
        let server = "the access log of the model server";
        let _ = writeln!(all, "{server:<54}the logs of run {}", self.root);
        for (at, request) in self.requests().iter().enumerate() {
            for (number, _) in (1..).zip(&self.kills).filter(|(_, kill)| kill.asked == at) {
                let _ = writeln!(all, "      ------ kill {number}: SIGKILL, then deputize resume ------");
            }
            let _ = writeln!(all, "{}", line(&self.root, request));
        }
        all
    }

    fn sentence(&self) -> String {
        match self.repeated.first() {
            None => "No request came again whose answer was recorded.\n".to_string(),
            Some(first) => format!(
                "FAILED: {} requests came again though their answers were recorded; the first is {} ({}), before kill {}.\n",
                self.repeated.len(),
                first.n,
                first.step,
                first.kill
            ),
        }
    }
}

fn line(root: &RunId, request: &RequestDoc) -> String {
    let status = request.status.map_or_else(|| "-".to_string(), |s| s.to_string());
    let step = request.step.strip_prefix(root.as_str()).unwrap_or(&request.step).trim_start_matches('/');
    let fate = match (request.recorded, request.lost) {
        _ if request.repeated => "RECORDED BEFORE, ASKED AGAIN".to_string(),
        (Some(seq), _) => format!("recorded, event {seq}"),
        (None, Some(kill)) => format!("lost, under way at kill {kill}"),
        (None, None) => "not there".to_string(),
    };
    format!("{:>4}  {status:>3}  {:<20}  {step:<12} #{:<4}   {fate}", request.n, request.agent, request.attempt)
}
