//! A run in the background: the same program with the same arguments in a process group of its own, its messages in a log
//! file of the state folder. Owns how the new process tells its run's id to the one that started it.
//!
//! The first line of the new process's standard output is [`MARK`] and the id, once the run exists; if it never does, the
//! output is what a run in the foreground would have printed.

use crate::ambient::Ambient;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::out::Out;
use crate::past;
use deputize_api::{DetachDoc, SCHEMA};
use deputize_core::id::RunId;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What the line with the id begins with.
const MARK: &str = "run-id ";
/// The folder of log files in the state folder.
const FOLDER: &str = "logs";
/// How the name of a log begins until the run has an id.
const STARTING: &str = "starting-";
/// Bytes of a log file that are shown when no run came to be.
const SHOWN: u64 = 256 * 1024;

/// Tells the process that waits for it the id of the run.
pub(crate) fn announce(out: &Out, run: &RunId) {
    out.result(&format!("{MARK}{run}"));
}

/// Removes the log of a run.
pub(crate) fn forget(ambient: &Ambient, run: &RunId) {
    // Most runs have none.
    drop(std::fs::remove_file(ambient.state.join(FOLDER).join(format!("{run}.log"))));
}

/// The runs that have a log. Those that are just starting have none of this kind yet.
pub(crate) fn logs(ambient: &Ambient) -> Vec<RunId> {
    let names = std::fs::read_dir(ambient.state.join(FOLDER)).into_iter().flatten().filter_map(Result::ok);
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let run = |name: String| Some(RunId::new(name.strip_suffix(".log").filter(|run| !run.starts_with(STARTING))?));
    names.filter_map(run).collect()
}

/// Starts the process and waits until its run exists. `input`: what it is to read from standard input.
pub(crate) fn start(ambient: &Ambient, out: &Out, input: Option<String>) -> Result<Exit, Fault> {
    past::make_state_folder(ambient)?;
    let (log, file) = log_file(&ambient.state)?;
    let mut child = spawn(file, input.is_some())?;
    if let (Some(text), Some(mut pipe)) = (input, child.stdin.take()) {
        // Fails only when the process is gone already; its output says why.
        drop(pipe.write_all(text.as_bytes()));
    }
    let mut output = BufReader::new(child.stdout.take().ok_or_else(|| failed("its output is not there"))?);
    let mut first = String::new();
    output.read_line(&mut first).map_err(|e| failed(e.to_string()))?;
    if let Some(id) = first.trim_end().strip_prefix(MARK) {
        let run = RunId::new(id);
        // The file keeps its content under the new name; under the old one it would only be harder to find.
        drop(std::fs::rename(&log, log.with_file_name(format!("{run}.log"))));
        out.either(&DetachDoc { schema: SCHEMA, run_id: run.clone() }, || run.to_string());
        return Ok(Exit::Good);
    }
    output.read_to_string(&mut first).map_err(|e| failed(e.to_string()))?;
    no_run(&mut child, out, &first, &log)
}

/// The run never came to be: everything that its process said is said here.
fn no_run(child: &mut Child, out: &Out, output: &str, log: &Path) -> Result<Exit, Fault> {
    let status = child.wait().map_err(|e| failed(e.to_string()))?;
    let mut said = String::new();
    if let Ok(file) = File::open(log) {
        // A log that cannot be read leaves the exit code, which says enough.
        drop(file.take(SHOWN).read_to_string(&mut said));
    }
    drop(std::fs::remove_file(log));
    out.say(&said);
    out.result(output);
    let known = |exit: &Exit| status.code() == Some(i32::from(exit.number()));
    let exit = Exit::ALL.into_iter().map(|(exit, _)| exit).find(known);
    exit.filter(|exit| *exit != Exit::Good).ok_or_else(|| failed(format!("it ended without a run ({status})")))
}

fn spawn(log: File, input: bool) -> Result<Child, Fault> {
    let program = std::env::current_exe().map_err(|e| failed(e.to_string()))?;
    let mut command = Command::new(program);
    command.args(arguments());
    command.stdin(if input { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(log).process_group(0);
    command.spawn().map_err(|e| failed(e.to_string()))
}

/// The arguments of this process, with the flag that makes it announce its run instead of `--detach`.
fn arguments() -> Vec<OsString> {
    let mut flags = true;
    let replaced = |word: OsString| {
        flags &= word != "--";
        if flags && word == "--detach" { OsString::from("--announce") } else { word }
    };
    std::env::args_os().skip(1).map(replaced).collect()
}

fn log_file(state: &Path) -> Result<(PathBuf, File), Fault> {
    let folder = state.join(FOLDER);
    let unwritable =
        |e: std::io::Error| Fault::new("store.failed", format!("{} cannot be written: {e}", folder.display()));
    crate::wire::private_folder(&folder).map_err(unwritable)?;
    let path = folder.join(format!("{STARTING}{}.log", std::process::id()));
    let file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&path);
    Ok((path, file.map_err(unwritable)?))
}

fn failed(why: impl std::fmt::Display) -> Fault {
    Fault::new("detach.failed", format!("the process in the background could not be started: {why}"))
}
