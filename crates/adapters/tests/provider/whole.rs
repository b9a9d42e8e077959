//! Whole runs over every kind of provider: turns, a tool, a child, a pause that outlives the process, and another kind of
//! provider that takes a conversation over. Every request keeps to the rules of its protocol.

use crate::dialect::{Dialect, Said, Seen, Spoken, all};
use crate::fake::{Fake, Given};
use deputize_adapters::loader::{LoadRequest, load};
use deputize_adapters::provider::{Config, Limiters, Router, Secret, build_within};
use deputize_adapters::store::MemoryStore;
use deputize_adapters::tool::{BUILTIN, Builtin, FileTools};
use deputize_core::definition::Team;
use deputize_core::id::{RunId, Time};
use deputize_core::message::{Stop, Usage};
use deputize_core::summary::{Summary, Terminal};
use deputize_runtime::port::{Ids, Model};
use deputize_runtime::{Halt, Launch, TokioClock, World, resume, start};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

struct OneId;
impl Ids for OneId {
    fn run(&self) -> RunId {
        RunId::new("r")
    }
}

/// What one answer costs, each another amount.
fn usage(n: u64) -> Usage {
    Usage { input_tokens: 900 + n, cached_tokens: 300 + n, output_tokens: 9 + n }
}

fn spoken(n: u64, pieces: &[&'static str], calls: &[(&'static str, Value)]) -> Spoken {
    let Usage { input_tokens, cached_tokens, output_tokens } = usage(n);
    let usage = Some([json!(input_tokens), json!(cached_tokens), json!(output_tokens)]);
    let stop = if calls.is_empty() { Stop::End } else { Stop::ToolCalls };
    Spoken { pieces: pieces.to_vec(), calls: calls.to_vec(), reasoning: true, stop, usage }
}

/// The four answers of a tree: the lead delegates, the child looks and says, the lead says.
fn answers(dialect: &dyn Dialect) -> Vec<Given> {
    let said = [
        spoken(1, &[], &[("delegate", json!({"agent": "reader", "objective": "look"}))]),
        spoken(2, &[], &[("ls", json!({"path": "."}))]),
        spoken(3, &["there is ", "one file"], &[]),
        spoken(4, &["all is read"], &[]),
    ];
    said.iter().map(|said| dialect.given(said, true)).collect()
}

fn team(folder: &Path, first: &str, fallback: &str) -> Arc<Team> {
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text).unwrap();
    std::fs::create_dir(folder.join("agents")).unwrap();
    write("one.txt", "1".to_string());
    let provider =
        |name: &str| format!("{name}: {{kind: openai, base_url: 'http://127.0.0.1:1/v1', retry: {{total: 1s}}}}");
    let providers = format!("{}, {}", provider("lab"), provider("other"));
    write(
        "deputize.yaml",
        format!("profile: assisted\nroot: lead\nroles: {{default: '{first}'}}\nproviders: {{{providers}}}\n"),
    );
    let head = "description: reads things";
    write("agents/lead.md", format!("---\nname: lead\n{head}\ntools: [ls]\nagents: [reader]\n{fallback}---\nLead.\n"));
    write("agents/reader.md", format!("---\nname: reader\n{head}\ntools: [ls]\n---\nRead.\n"));
    let tools = BUILTIN.iter().map(Builtin::spec).collect();
    let loaded = load(&LoadRequest { cwd: folder.to_path_buf(), tools, ..LoadRequest::default() });
    Arc::new(loaded.setup.unwrap().team)
}

/// What one process has; its store outlives it.
fn world(folder: &Path, store: &Arc<MemoryStore>, now: u64, served: &[(&str, &dyn Dialect, &Fake)]) -> World {
    let clock = Arc::new(TokioClock::at(Time(now)));
    let limiters = Limiters::new(clock.clone());
    let provider = |(name, dialect, fake): &(&str, &dyn Dialect, &Fake)| {
        let base_url = format!("{}{}", fake.address(), dialect.root());
        let config = Config { name: name.to_string(), kind: dialect.kind(), base_url, ..Config::default() };
        let model = build_within(&config, Some(Secret::new("key-of-a-test")), Path::new("."), &limiters).unwrap();
        (name.to_string(), model)
    };
    let models: BTreeMap<String, Arc<dyn Model>> = served.iter().map(provider).collect();
    let tools = Arc::new(FileTools::open(folder).unwrap());
    World { model: Arc::new(Router::new(models)), tools, store: store.clone(), clock, ids: Arc::new(OneId) }
}

async fn begin(world: World, team: &Arc<Team>) -> Halt {
    let objective = "read all".to_string();
    let launch = Launch { team: team.clone(), setup: b"whole".to_vec(), objective, choices: Vec::new() };
    start(world, launch).await.unwrap().run().await.unwrap()
}

async fn go_on(world: World, team: &Arc<Team>) -> Halt {
    let setup = deputize_core::digest::of_bytes(b"whole");
    resume(world, &RunId::new("r"), team.clone(), setup).await.unwrap().run().await.unwrap()
}

fn over(halt: Halt) -> Arc<Summary> {
    let summary = match halt {
        Halt::Finished(summary) => Some(summary),
        Halt::Interrupted | Halt::Waiting { .. } => None,
    };
    summary.unwrap()
}

/// What was sent, each request by the rules of its protocol.
fn seen(dialect: &dyn Dialect, fake: &Fake) -> Vec<Seen> {
    let check = |sent| {
        assert_eq!(dialect.check(&sent), Ok(()), "{:?}", dialect.kind());
        dialect.read(&sent)
    };
    fake.sent().into_iter().map(check).collect()
}

fn results(seen: &Seen) -> Vec<&str> {
    let mut texts = Vec::new();
    for said in &seen.talk {
        if let Said::Result { text, .. } = said {
            texts.push(text.as_str());
        }
    }
    texts
}

fn reasoning(seen: &Seen) -> Vec<Value> {
    let blocks = |said: &Said| match said {
        Said::Assistant { reasoning, .. } => reasoning.clone(),
        _ => Vec::new(),
    };
    seen.talk.iter().flat_map(blocks).collect()
}

fn used(summary: &Summary) -> BTreeMap<String, Usage> {
    summary.spent.by_model.iter().map(|spend| (spend.model.to_string(), spend.usage)).collect()
}

fn sum(all: &[u64]) -> Usage {
    all.iter().map(|n| usage(*n)).fold(Usage::default(), |a, b| Usage {
        input_tokens: a.input_tokens + b.input_tokens,
        cached_tokens: a.cached_tokens + b.cached_tokens,
        output_tokens: a.output_tokens + b.output_tokens,
    })
}

// covers U-02
#[tokio::test]
async fn a_tree_parks_over_every_kind_of_provider_and_goes_on_in_another_process() {
    for dialect in all() {
        let dialect = dialect.as_ref();
        let folder = TempDir::new().unwrap();
        let name = format!("lab:{}", dialect.model());
        let team = team(folder.path(), &name, "");
        let store = Arc::new(MemoryStore::new());
        let mut script = answers(dialect);
        let error = dialect.error(429, "slow down").to_string();
        script.insert(2, Given::body(429, "application/json", error).header("retry-after", "7200"));
        let fake = Fake::start(script).await;
        let at = |now: u64| world(folder.path(), &store, now, &[("lab", dialect, &fake)]);

        let halt = begin(at(1_000_000), &team).await;
        let Halt::Waiting { until: Some(until) } = halt else { panic!("{:?}: {halt:?}", dialect.kind()) };
        assert!(until.0 >= 8_200_000, "{until:?}");
        assert_eq!(fake.sent().len(), 3);
        let early = go_on(at(until.0 - 60_000), &team).await;
        assert!(matches!(early, Halt::Waiting { until: Some(same) } if same == until), "{early:?}");
        assert_eq!(fake.sent().len(), 3, "nothing is sent before its moment");

        let summary = over(go_on(at(until.0), &team).await);
        assert_eq!(summary.status, Terminal::Succeeded, "{:?}: {summary:?}", dialect.kind());
        let expect = sum(&[1, 2, 3, 4]);
        let counted = &used(&summary)[&name];
        assert_eq!((counted.input_tokens, counted.output_tokens), (expect.input_tokens, expect.output_tokens));
        let seen = seen(dialect, &fake);
        assert_eq!(seen.len(), 5, "no step is made again");
        assert_eq!(seen[2], seen[3], "the call that was refused, unchanged");
        assert!(results(&seen[3])[0].contains("one.txt"), "{:?}", seen[3]);
        assert!(results(&seen[4])[0].contains("there is one file"), "{:?}", seen[4]);
        for turn in [&seen[3], &seen[4]] {
            assert_eq!(reasoning(turn), dialect.reasoning(), "{:?}", dialect.kind());
        }
    }
}

#[tokio::test]
async fn any_kind_takes_a_conversation_over_from_any_other() {
    let kinds = all();
    for (one, two) in kinds.iter().flat_map(|one| kinds.iter().map(move |two| (one.as_ref(), two.as_ref()))) {
        let folder = TempDir::new().unwrap();
        let (first, second) = (format!("lab:{}", one.model()), format!("other:{}", two.model()));
        let team = team(folder.path(), &first, &format!("fallback: ['{second}']\n"));
        let store = Arc::new(MemoryStore::new());
        let mut script = answers(one);
        script[3] = Given::body(401, "application/json", one.error(401, "no such key").to_string());
        let (fake, other) = (Fake::start(script).await, Fake::start(vec![answers(two).remove(3)]).await);
        let served: [(&str, &dyn Dialect, &Fake); 2] = [("lab", one, &fake), ("other", two, &other)];
        let summary = over(begin(world(folder.path(), &store, 1_000_000, &served), &team).await);

        let pair = format!("{:?} to {:?}", one.kind(), two.kind());
        assert_eq!(summary.status, Terminal::Succeeded, "{pair}: {summary:?}");
        let [last] = <[Seen; 1]>::try_from(seen(two, &other)).unwrap();
        assert_eq!(last.model, two.model(), "{pair}");
        assert!(results(&last)[0].contains("there is one file"), "{pair}: {last:?}");
        assert_eq!(reasoning(&last), Vec::<Value>::new(), "{pair}: reasoning is of one model");
        assert!(!other.sent()[0].text.contains(&dialect_mark(one)), "{pair}");
        let (expect, used) = (sum(&[1, 2, 3]), used(&summary));
        assert_eq!(used[&first].input_tokens, expect.input_tokens, "{pair}");
        assert_eq!(used[&second].output_tokens, usage(4).output_tokens, "{pair}");
        assert_eq!(seen(one, &fake).len(), 4, "{pair}");
    }
}

/// The text of a block of reasoning; something that is nowhere, if there is none.
fn dialect_mark(dialect: &dyn Dialect) -> String {
    let text =
        |block: &Value| ["signature", "thinking"].iter().find_map(|key| Some(block.get(*key)?.as_str()?.to_string()));
    dialect.reasoning().iter().find_map(text).filter(|text| text.len() > 4).unwrap_or("not in any text".to_string())
}
