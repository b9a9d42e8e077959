//! The conformance suite of the ports `EventStore` and `BlobStore`: one case for each sentence of their documentation.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a suite of tests: a surprise ends it")]

use super::sample::{append, child_start, finished, said, start, woke};
use deputize_core::digest;
use deputize_core::id::{Digest, RunId, Time};
use deputize_core::summary::Terminal;
use deputize_runtime::port::{Append, RunHead, Signal, Store, StoreError};

/// Holds a kind of store against its ports. `make` gives an empty store each time; anything wrong panics.
///
/// # Panics
/// The store does not keep a promise of its ports.
pub async fn conformance<S: Store>(make: impl Fn() -> S) {
    leases_count_up_by_tree(&make()).await;
    reads_what_was_appended(&make()).await;
    refuses_another_length(&make()).await;
    fences_earlier_epochs(&make()).await;
    keeps_all_logs_or_none(&make()).await;
    refuses_malformed_batches(&make()).await;
    keeps_heads(&make()).await;
    lists_trees_in_order(&make()).await;
    lists_newest_roots(&make()).await;
    finds_by_prefix(&make()).await;
    finds_no_wildcards(&make()).await;
    hands_signals_out_once(&make()).await;
    keeps_blobs(&make()).await;
    keeps_large_and_odd_texts(&make()).await;
    lets_one_of_two_win(&make()).await;
}

fn id(text: &str) -> RunId {
    RunId::new(text)
}

fn ids(heads: &[RunHead]) -> Vec<&str> {
    heads.iter().map(|head| head.run.as_str()).collect()
}

/// A root run with its first event.
async fn begin(store: &impl Store, run: &RunId, at: u64) -> u64 {
    let epoch = store.lease(run).await.unwrap();
    store.append(run, epoch, vec![append(run, vec![start(run, at)])]).await.unwrap();
    epoch
}

/// A child of a run in a tree that is leased already.
async fn begin_child(store: &impl Store, parent: &RunId, step: &str, at: u64) -> RunId {
    let first = child_start(parent, step, at);
    let child = parent.child(&super::sample::label(step));
    store.append(&parent.root(), 1, vec![append(&child, vec![first])]).await.unwrap();
    child
}

async fn length(store: &impl Store, run: &RunId) -> usize {
    store.read(run, 0).await.unwrap().len()
}

async fn leases_count_up_by_tree(store: &impl Store) {
    let (a, b) = (id("a"), id("b"));
    assert_eq!(store.lease(&a).await, Ok(1));
    assert_eq!(store.lease(&a).await, Ok(2));
    assert_eq!(store.lease(&b).await, Ok(1), "trees have epochs of their own");
    assert_eq!(store.lease(&a).await, Ok(3));
    assert_eq!(store.read(&a, 0).await, Ok(vec![]), "a lease alone makes no run");
    assert_eq!(store.tree(&a).await, Ok(vec![]));
    assert_eq!(store.roots(10).await, Ok(vec![]));
}

async fn reads_what_was_appended(store: &impl Store) {
    let run = id("a");
    let epoch = begin(store, &run, 5).await;
    let more = vec![woke(1, 6), said(2, 7, "x"), woke(3, 8)];
    store.append(&run, epoch, vec![append(&run, more.clone())]).await.unwrap();
    let mut all = vec![start(&run, 5)];
    all.extend(more);
    assert_eq!(store.read(&run, 0).await.unwrap(), all);
    assert_eq!(store.read(&run, 2).await.unwrap(), all[2..]);
    assert_eq!(store.read(&run, 4).await, Ok(vec![]), "nothing after the end");
    assert_eq!(store.read(&run, u64::MAX).await, Ok(vec![]));
    assert_eq!(store.read(&id("b"), 0).await, Ok(vec![]), "no such run");
    assert_eq!(store.read(&id(""), 0).await, Ok(vec![]));
    assert_eq!(store.tree(&id("b")).await, Ok(vec![]), "no such root");
}

async fn refuses_another_length(store: &impl Store) {
    let run = id("a");
    let epoch = begin(store, &run, 1).await;
    store.append(&run, epoch, vec![append(&run, vec![woke(1, 2), woke(2, 3)])]).await.unwrap();
    for expected in [1, 2, 4, 9] {
        let late = vec![append(&run, vec![woke(expected, 9)])];
        let conflict = StoreError::Conflict { run: run.clone(), expected, found: 3 };
        assert_eq!(store.append(&run, epoch, late).await, Err(conflict));
    }
    let again = store.append(&run, epoch, vec![append(&run, vec![start(&run, 9)])]).await;
    assert_eq!(again, Err(StoreError::Conflict { run: run.clone(), expected: 0, found: 3 }));
    let child = run.child(&super::sample::label("t1/c0"));
    let early = store.append(&run, epoch, vec![append(&child, vec![woke(1, 9)])]).await;
    assert_eq!(early, Err(StoreError::Conflict { run: child.clone(), expected: 1, found: 0 }));
    assert_eq!(length(store, &run).await, 3);
    assert_eq!(store.tree(&run).await.unwrap()[0].updated, Time(3), "what failed leaves no trace");
    store.append(&run, epoch, vec![append(&run, vec![woke(3, 10)])]).await.unwrap();
    assert_eq!(length(store, &run).await, 4);
}

async fn fences_earlier_epochs(store: &impl Store) {
    let (run, other) = (id("a"), id("b"));
    let next = |seq| vec![append(&run, vec![woke(seq, 9)])];
    let fenced = |epoch, found| Err(StoreError::Fenced { root: run.clone(), epoch, found });
    for epoch in [0, 1] {
        let unleased = store.append(&run, epoch, vec![append(&run, vec![start(&run, 1)])]).await;
        assert_eq!(unleased, fenced(epoch, 0), "no append without a lease");
    }
    let old = begin(store, &run, 1).await;
    let others = begin(store, &other, 1).await;
    let new = store.lease(&run).await.unwrap();
    assert_eq!(store.append(&run, old, next(1)).await, fenced(old, new));
    assert_eq!(store.append(&run, new + 1, next(1)).await, fenced(new + 1, new), "an epoch that nobody was given");
    assert_eq!(store.append(&run, old, next(7)).await, fenced(old, new), "who is fenced is not told about lengths");
    assert_eq!(length(store, &run).await, 1);
    store.append(&run, new, next(1)).await.unwrap();
    assert_eq!(length(store, &run).await, 2);
    store.append(&other, others, vec![append(&other, vec![woke(1, 2)])]).await.unwrap();
}

async fn keeps_all_logs_or_none(store: &impl Store) {
    let run = id("a");
    let epoch = begin(store, &run, 1).await;
    let child = run.child(&super::sample::label("t1/c0"));
    let both = |seq| {
        let to_child = append(&child, vec![child_start(&run, "t1/c0", 3), woke(1, 3)]);
        vec![append(&run, vec![woke(seq, 2)]), to_child, append(&run, vec![woke(seq + 2, 4)])]
    };
    let conflict = StoreError::Conflict { run: run.clone(), expected: 3, found: 2 };
    assert_eq!(store.append(&run, epoch, both(1)).await, Err(conflict));
    assert_eq!((length(store, &run).await, length(store, &child).await), (1, 0));
    assert_eq!(ids(&store.tree(&run).await.unwrap()), ["a"]);
    let mut good = both(1);
    good[2] = append(&run, vec![woke(2, 4)]);
    store.append(&run, epoch, good).await.unwrap();
    assert_eq!((length(store, &run).await, length(store, &child).await), (3, 2));
    assert_eq!(ids(&store.tree(&run).await.unwrap()), ["a", "a/t1/c0"]);
}

async fn refuses_malformed_batches(store: &impl Store) {
    let (run, other) = (id("a"), id("b"));
    let epoch = begin(store, &run, 1).await;
    let child = run.child(&super::sample::label("t1/c0"));
    let malformed = [
        vec![],
        vec![append(&run, vec![])],
        vec![append(&run, vec![woke(1, 2), woke(3, 2)])],
        vec![append(&run, vec![woke(1, 2), woke(1, 2)])],
        vec![Append { run: run.clone(), expected: 1, events: vec![woke(2, 2)] }],
        vec![append(&run, vec![woke(1, 2)]), append(&other, vec![start(&other, 2)])],
        vec![append(&run, vec![woke(1, 2)]), append(&child, vec![woke(0, 2)])],
        vec![append(&run, vec![woke(1, 2)]), append(&child, vec![start(&run, 2)])],
    ];
    for batch in malformed {
        let text = format!("{batch:?}");
        let result = store.append(&run, epoch, batch).await;
        assert!(matches!(result, Err(StoreError::Failed(_))), "{text} gave {result:?}");
    }
    assert_eq!(length(store, &run).await, 1);
    assert_eq!(ids(&store.find("", 10).await.unwrap()), ["a"]);
}

async fn keeps_heads(store: &impl Store) {
    let run = id("a");
    let epoch = begin(store, &run, 5).await;
    let child = begin_child(store, &run, "t1/c0", 7).await;
    let mut root_head = RunHead {
        run: run.clone(),
        root: run.clone(),
        agent: super::sample::AGENT.into(),
        team: super::sample::TEAM.into(),
        objective: "objective of a".into(),
        started: Time(5),
        updated: Time(5),
        status: None,
    };
    let mut child_head = RunHead {
        run: child.clone(),
        objective: "objective of a/t1/c0".into(),
        started: Time(7),
        updated: Time(7),
        ..root_head.clone()
    };
    assert_eq!(store.tree(&run).await, Ok(vec![root_head.clone(), child_head.clone()]));
    let end = finished(1, 9, &child, Terminal::MaxTurns);
    store.append(&run, epoch, vec![append(&child, vec![end]), append(&run, vec![woke(1, 10)])]).await.unwrap();
    (child_head.updated, child_head.status) = (Time(9), Some(Terminal::MaxTurns));
    root_head.updated = Time(10);
    assert_eq!(store.tree(&run).await, Ok(vec![root_head.clone(), child_head.clone()]));
    assert_eq!(store.roots(5).await, Ok(vec![root_head.clone()]));
    assert_eq!(store.find("a", 5).await, Ok(vec![root_head, child_head]));
    for (n, status) in Terminal::ALL.into_iter().enumerate() {
        let run = id(&format!("end{n}"));
        let epoch = store.lease(&run).await.unwrap();
        let whole = vec![start(&run, 1), finished(1, 2, &run, status)];
        store.append(&run, epoch, vec![append(&run, whole)]).await.unwrap();
        assert_eq!(store.tree(&run).await.unwrap()[0].status, Some(status), "also when one append is the whole run");
    }
}

async fn lists_trees_in_order(store: &impl Store) {
    let (root, other) = (id("a"), id("ab"));
    begin(store, &root, 1).await;
    begin(store, &other, 1).await;
    // By id the first child would come last, and its child is started after both.
    let first = begin_child(store, &root, "t2/c1", 2).await;
    let second = begin_child(store, &root, "t2/c0", 3).await;
    let same_time = begin_child(store, &root, "t1/c9", 3).await;
    let grandchild = begin_child(store, &first, "t1/c0", 4).await;
    let later = begin_child(store, &second, "t1/c0", 5).await;
    let tree = store.tree(&root).await.unwrap();
    let listed: Vec<RunId> = tree.iter().map(|head| head.run.clone()).collect();
    assert_eq!(listed.len(), 6, "{listed:?}");
    let place = |run: &RunId| listed.iter().position(|other| other == run).unwrap();
    assert_eq!(place(&root), 0);
    for (before, after) in
        [(&first, &second), (&second, &same_time), (&first, &grandchild), (&second, &later), (&root, &first)]
    {
        assert!(place(before) < place(after), "{before} before {after} in {listed:?}");
    }
    assert!(tree.iter().all(|head| head.root == root));
    assert_eq!(store.tree(&first).await, Ok(vec![]), "a child is the root of no tree");
}

async fn lists_newest_roots(store: &impl Store) {
    for (run, at) in [("m", 30), ("z", 10), ("a", 20), ("b", 20)] {
        begin(store, &id(run), at).await;
    }
    begin_child(store, &id("z"), "t1/c0", 99).await;
    assert_eq!(ids(&store.roots(10).await.unwrap()), ["m", "b", "a", "z"]);
    assert_eq!(ids(&store.roots(2).await.unwrap()), ["m", "b"]);
    assert_eq!(store.roots(0).await, Ok(vec![]));
    assert_eq!(store.roots(usize::MAX).await.unwrap().len(), 4);
}

async fn finds_by_prefix(store: &impl Store) {
    for run in ["abc", "abd", "b"] {
        begin(store, &id(run), 1).await;
    }
    begin_child(store, &id("abc"), "t1/c0", 2).await;
    let found = async |prefix: &str, most| store.find(prefix, most).await.unwrap();
    assert_eq!(ids(&found("ab", 10).await), ["abc", "abd", "abc/t1/c0"], "roots first");
    assert_eq!(ids(&found("ab", 2).await), ["abc", "abd"]);
    assert_eq!(ids(&found("abc", 10).await), ["abc", "abc/t1/c0"]);
    assert_eq!(ids(&found("abc/", 10).await), ["abc/t1/c0"]);
    assert_eq!(ids(&found("", 10).await), ["abc", "abd", "b", "abc/t1/c0"]);
    assert_eq!(found("ab", 0).await, []);
    assert_eq!(found("abcd", 10).await, []);
    assert_eq!(found("AB", 10).await, [], "case matters");
}

async fn finds_no_wildcards(store: &impl Store) {
    for run in ["a%b", "a_b", "axb", "a\\b", "a*b", "a[b", "a'b", "aé", "a\u{10ffff}b", "\u{d7ff}x"] {
        begin(store, &id(run), 1).await;
    }
    for (prefix, expected) in [
        ("a%", "a%b"),
        ("a_", "a_b"),
        ("a\\", "a\\b"),
        ("a*", "a*b"),
        ("a[", "a[b"),
        ("a'", "a'b"),
        ("aé", "aé"),
        ("a\u{10ffff}", "a\u{10ffff}b"),
        ("\u{d7ff}", "\u{d7ff}x"),
    ] {
        assert_eq!(ids(&store.find(prefix, 10).await.unwrap()), [expected], "for {prefix:?}");
    }
    for prefix in ["%", "_", "\u{10ffff}", "\u{e000}"] {
        assert_eq!(store.find(prefix, 10).await, Ok(vec![]), "for {prefix:?}");
    }
    assert_eq!(store.find("a", 20).await.unwrap().len(), 9);
}

async fn hands_signals_out_once(store: &impl Store) {
    let (run, other) = (id("a"), id("b"));
    begin(store, &run, 1).await;
    let cancel = |run: &str, by: &str| Signal::Cancel { run: id(run), by: by.into() };
    assert_eq!(take_signals(store, &run).await, Ok(vec![]));
    for by in ["z", "a", "a", "m\u{0}\"é"] {
        store.signal(&run, cancel("a/t1/c0", by)).await.unwrap();
    }
    store.signal(&other, cancel("b", "you")).await.unwrap();
    let expected = ["z", "a", "a", "m\u{0}\"é"].map(|by| cancel("a/t1/c0", by));
    let waiting = store.signals(&run).await.unwrap();
    assert_eq!(store.signals(&run).await.unwrap(), waiting, "again until they are acknowledged");
    assert!(waiting.is_sorted_by(|a, b| a.id < b.id));
    store.acknowledge(&other, waiting.iter().map(|w| w.id).collect()).await.unwrap();
    assert_eq!(store.signals(&run).await.unwrap(), waiting, "only by their own tree");
    assert_eq!(take_signals(store, &run).await.unwrap(), expected, "in order, equal ones too");
    assert_eq!(take_signals(store, &run).await, Ok(vec![]), "each once");
    store.signal(&run, cancel("a", "later")).await.unwrap();
    assert_eq!(take_signals(store, &run).await, Ok(vec![cancel("a", "later")]));
    assert_eq!(take_signals(store, &other).await, Ok(vec![cancel("b", "you")]), "trees have signals of their own");
    assert_eq!(take_signals(store, &id("nobody")).await, Ok(vec![]));
}

/// The signals of a tree, each acknowledged.
pub async fn take_signals(store: &impl Store, root: &RunId) -> Result<Vec<Signal>, StoreError> {
    let waiting = store.signals(root).await?;
    store.acknowledge(root, waiting.iter().map(|w| w.id).collect()).await?;
    Ok(waiting.into_iter().map(|w| w.signal).collect())
}

async fn keeps_blobs(store: &impl Store) {
    let large: Vec<u8> = (0..5_000_000u32).map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[1]).collect();
    for content in [b"text".to_vec(), vec![], vec![0, 159, 146, 150], large] {
        let name = store.put(content.clone()).await.unwrap();
        assert_eq!(name, digest::of_bytes(&content));
        assert_eq!(store.put(content.clone()).await.unwrap(), name, "the same twice is one");
        assert_eq!(store.get(&name).await, Ok(Some(content)));
    }
    assert_eq!(store.get(&digest::of_bytes(b"never kept")).await, Ok(None));
    assert_eq!(store.get(&Digest::new("no digest")).await, Ok(None));
    let (one, two) = tokio::join!(store.put(b"at once".to_vec()), store.put(b"at once".to_vec()));
    assert_eq!(one.unwrap(), two.unwrap());
}

async fn keeps_large_and_odd_texts(store: &impl Store) {
    let run = id("a");
    let epoch = begin(store, &run, 1).await;
    let large = "é\u{1F600}x\n".repeat(5_000_000 / 8);
    let texts = ["", "\u{0}", "\"\\\u{7f}\u{1}\r\n", "\u{feff}\u{202e}\u{10ffff}", "日本語 👩‍👩‍👧", &large];
    let events: Vec<_> = texts.iter().zip(1..).map(|(text, seq)| said(seq, 2, text)).collect();
    store.append(&run, epoch, vec![append(&run, events.clone())]).await.unwrap();
    assert_eq!(store.read(&run, 1).await.unwrap(), events);
}

async fn lets_one_of_two_win(store: &impl Store) {
    let run = id("a");
    let epoch = begin(store, &run, 1).await;
    let (one, two) = tokio::join!(
        store.append(&run, epoch, vec![append(&run, vec![said(1, 2, "one")])]),
        store.append(&run, epoch, vec![append(&run, vec![said(1, 2, "two")])]),
    );
    let conflict = Err(StoreError::Conflict { run: run.clone(), expected: 1, found: 2 });
    let winner = match (one, two) {
        (Ok(()), other) => {
            assert_eq!(other, conflict);
            "one"
        }
        (other, two) => {
            assert_eq!((other, two), (conflict, Ok(())));
            "two"
        }
    };
    assert_eq!(store.read(&run, 1).await.unwrap(), [said(1, 2, winner)]);
}
