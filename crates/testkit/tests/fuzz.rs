//! A corpus and a fixed number of seeded mutations for each fuzz target. `DEPUTIZE_FUZZ_INPUTS` and `DEPUTIZE_FUZZ_SEED`
//! change number and seed; a finding prints the seed and the number that lead to it again.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use deputize_testkit::fuzz::{FrontMatter, Mutator, event, sse};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn files(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(at(folder)).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == ending));
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Feeds the corpus as it is, then mutations of it.
fn feed(corpus: Vec<Vec<u8>>, words: &[&'static str], inputs: u64, target: impl Fn(&[u8])) {
    let seed = setting("DEPUTIZE_FUZZ_SEED", 1);
    corpus.iter().for_each(|input| target(input));
    let mut mutator = Mutator::new(seed, corpus, words);
    for n in 0..setting("DEPUTIZE_FUZZ_INPUTS", inputs) {
        let input = mutator.input();
        if catch_unwind(AssertUnwindSafe(|| target(&input))).is_err() {
            panic!("seed {seed}, input {n}:\n{}", String::from_utf8_lossy(&input));
        }
    }
}

// covers F-05
#[test]
fn events() {
    let log = String::from_utf8(std::fs::read(at("core/tests/fixtures/log-v1.jsonl")).unwrap()).unwrap();
    let lines = log.lines().map(|line| line.as_bytes().to_vec());
    let corpus = [log.clone().into_bytes()].into_iter().chain(lines).collect();
    let words = [
        "\"then\":\"final\"",
        "\"attempt\":0,",
        "\"label\":\"t1/c0\",",
        "\"v\":2,",
        "\"type\":\"woke\",",
        "\"seq\":9,",
        "null",
        "\\ud800",
        "[[[[",
        "{\"a\":",
    ];
    feed(corpus, &words, 300_000, event);
}

// covers X-15, X-16
#[test]
fn front_matter() {
    let folder = tempfile::tempdir().unwrap();
    let target = FrontMatter::new(folder.path());
    let words = [
        "---\n",
        "\ntools: []\n",
        "\ntools: Read\n",
        "disallowedTools: Bash\n",
        "\nname: x\n",
        "description: |\n  a\n",
        ": ",
        "<example>\n",
        "&a [*a, *a]",
        "!!binary ",
        "\u{feff}",
        "\r\n",
        "\u{202e}",
        "? ",
        "- ",
    ];
    feed(files("adapters/tests/fixtures/agent-files", "md"), &words, 15_000, |input| target.check(input));
}

#[test]
fn server_sent_events() {
    let corpus = [
        "\u{3}data: {\"choices\":[{\"delta\":{\"content\":\"h\u{e9}llo\"}}]}\n\ndata: [DONE]\n\n",
        "\u{1}: comment\r\n\r\nevent: message_start\r\ndata: {\"type\":\"message_start\"}\r\n\r\n",
        "\u{7}\u{feff}data: a\ndata: b\n\nid: 1\nretry: 5\n\ndata:c\r\rdata\n\n",
        "\u{5}data: {\"text\":\"\u{1f600}\"}\n\n: ping\n\ndata: cut off",
    ];
    let corpus = corpus.map(|text| text.as_bytes().to_vec()).to_vec();
    let words = ["data: ", "data:", "\n\n", "\r\n", "\r", ": ", "[DONE]", "\u{feff}", "event: x\n"];
    feed(corpus, &words, 400_000, sse);
}
