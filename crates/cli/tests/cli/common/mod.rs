//! A team in a temporary folder, the binary in it, and waiting for conditions. Nothing here sleeps: a process is waited
//! for by what it prints and by its end, each with a guard of 30 seconds.

use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The guard of every wait.
const GUARD: Duration = Duration::from_secs(30);
/// Between two looks at a condition that nobody announces.
const PAUSE: Duration = Duration::from_millis(20);

/// A folder with a team and a state folder of its own.
pub(crate) struct Place {
    folder: tempfile::TempDir,
    env: Vec<(String, String)>,
}

/// What a finished process left.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// The one document on standard output.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("no single document: {e}: {self:?}"))
    }
    /// Asserts the exit code.
    pub(crate) fn exits(self, code: i32) -> Ended {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }
    /// Asserts an error document with this code.
    pub(crate) fn fails(self, exit: i32, code: &str) -> Value {
        let ended = self.exits(exit);
        let doc = ended.json();
        assert_eq!(keys(&doc), set("schema error"));
        assert_eq!(keys(&doc["error"]), set("code message hint file line column"));
        assert_eq!(doc["error"]["code"], code, "{ended:?}");
        assert!(!doc["error"]["message"].as_str().unwrap().is_empty());
        doc["error"].clone()
    }
}

impl Place {
    /// An empty folder.
    pub(crate) fn empty() -> Place {
        Place { folder: tempfile::tempdir().unwrap(), env: Vec::new() }
    }
    /// A lead with a reader, strict, and this script at `play.yaml`.
    pub(crate) fn team(script: &str) -> Place {
        let place = Place::empty();
        place.write("deputize.yaml", "profile: assisted\nroot: lead\nroles: {default: 'play:any'}\nproviders: {play: {kind: scripted, script: play.yaml}}\n");
        place.write("play.yaml", script);
        place.agent("lead", "tools: [ls, read_file, write_file]\nagents: [reader]\n");
        place.agent("reader", "tools: [read_file]\n");
        place.write("one.txt", "the number is 1\n");
        place
    }
    /// An agent file.
    pub(crate) fn agent(&self, name: &str, more: &str) {
        let text = format!("---\nname: {name}\ndescription: the {name}\n{more}---\nYou are the {name}.\n");
        self.write(&format!("agents/{name}.md"), &text);
    }
    /// A file of the folder.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("work").join(path)
    }
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }
    /// A variable for every command.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Place {
        self.env.push((name.to_string(), value.to_string()));
        self
    }
    /// The binary in the folder. The environment is its own: no key, no server of this machine.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deputize"));
        std::fs::create_dir_all(self.path("")).unwrap();
        command.current_dir(self.path("")).args(words).env_clear();
        command.env("DEPUTIZE_HOME", self.state()).env("HOME", self.folder.path());
        command.env("DEPUTIZE_LOOPBACK_PORTS", "");
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
    /// Runs the binary to its end.
    pub(crate) fn deputize(&self, words: &[&str]) -> Ended {
        self.start(words).end()
    }
    /// Runs the binary with `--json`.
    pub(crate) fn json(&self, words: &[&str]) -> Ended {
        self.deputize(&[words, &["--json"]].concat())
    }
    /// The same with something on standard input.
    pub(crate) fn with_input(&self, words: &[&str], input: &str) -> Ended {
        let mut command = self.command(words);
        command.stdin(Stdio::piped());
        let mut running = Running::of(command);
        running.input.take().unwrap().write_all(input.as_bytes()).unwrap();
        running.end()
    }
    /// Starts the binary.
    pub(crate) fn start(&self, words: &[&str]) -> Running {
        Running::of(self.command(words))
    }
}

/// A process whose messages are read as they come.
pub(crate) struct Running {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    stdout: thread::JoinHandle<String>,
    seen: String,
}

impl Running {
    pub(crate) fn of(mut command: Command) -> Running {
        let mut child = command.spawn().unwrap();
        let (send, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        let mut stdout = child.stdout.take().unwrap();
        let stdout = thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).unwrap();
            text
        });
        Running { input: child.stdin.take(), child, lines, stdout, seen: String::new() }
    }
    /// Waits for a message that holds this text.
    pub(crate) fn until(&mut self, text: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(GUARD);
            let line = line.unwrap_or_else(|_| panic!("`{text}` was not said:\n{}", self.seen));
            self.seen.push_str(&line);
            self.seen.push('\n');
            if line.contains(text) {
                return line;
            }
        }
    }
    /// Sends a signal by its name (`KILL`, `INT`).
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }
    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ended {
        drop(self.input.take());
        let status: ExitStatus = wait_for("the process to end", || self.child.try_wait().unwrap());
        let rest: Vec<String> = self.lines.iter().collect();
        let stderr = format!("{}{}", self.seen, rest.join("\n"));
        Ended { code: status.code(), stdout: self.stdout.join().unwrap(), stderr }
    }
}

/// Waits until a condition gives something.
pub(crate) fn wait_for<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    // Nobody ever sends: the receiver is only there to wait without spinning.
    let (_keep, never) = channel::<()>();
    let start = Instant::now();
    loop {
        if let Some(found) = condition() {
            return found;
        }
        assert!(start.elapsed() < GUARD, "waited in vain for {what}");
        never.recv_timeout(PAUSE).ok();
    }
}

/// The members of an object.
pub(crate) fn keys(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap_or_else(|| panic!("no object: {value}")).keys().cloned().collect()
}

/// Words as a set.
pub(crate) fn set(words: &str) -> BTreeSet<String> {
    words.split_whitespace().map(str::to_string).collect()
}

/// The id of the run that a document is about.
pub(crate) fn id(doc: &Value) -> String {
    doc["run_id"].as_str().unwrap().to_string()
}

/// Whether a file is there, for conditions.
pub(crate) fn there(path: &Path) -> Option<()> {
    path.exists().then_some(())
}
