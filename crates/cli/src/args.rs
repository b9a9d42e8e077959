//! The command line as clap reads it: every command, flag and help text. Owns nothing that a flag does.

use crate::exit::Exit;
use crate::fault::Fault;
use crate::out::Out;
use crate::{amounts, template};
use clap::error::{ContextKind, ErrorKind};
use clap::{Args as ClapArgs, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use deputize_core::summary::Terminal;
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs trees of agents: they stop at the budget, survive kill -9, and are traced step by step.
#[derive(Debug, Parser)]
#[command(name = "deputize", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags of every command.
#[derive(Debug, ClapArgs)]
pub(crate) struct Common {
    /// Print one JSON document on standard output; progress and messages go to standard error
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// State folder [default: $DEPUTIZE_HOME, else $XDG_STATE_HOME/deputize]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Only results and errors: no progress, no choices, no warnings
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Also what is about to be done, what each call used, and all that was mapped
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Also write all messages to this file, with the time of each; always as with --verbose
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) log_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a team to start from into a folder
    Init(InitArgs),
    /// Run a team on an objective
    Run(Box<RunArgs>),
    /// Validate teams and agent files: all errors at once
    Check(Box<CheckArgs>),
    /// List runs, newest first
    Runs(RunsArgs),
    /// Show one run: result, status, usage, and what it waits for
    Show(ShowArgs),
    /// Attach to a run from another terminal, until it ends
    Watch(WatchArgs),
    /// Show a tree with every step
    Trace(TraceArgs),
    /// Go on with an interrupted run; finished steps are not done again
    Resume(ResumeArgs),
    /// End a run and everything below it
    Cancel(IdArgs),
    /// Watch a scripted team review some files: offline, in seconds
    Demo(DemoArgs),
    /// What works here and what to do: providers, keys, model servers, the store
    Doctor(Box<DoctorArgs>),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
    /// Print the generated reference pages as JSON
    #[command(name = "__reference", hide = true)]
    Reference,
    /// Serve scripted answers as a chat completions server
    #[command(name = "__mock-model", hide = true)]
    MockModel(MockModelArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct InitArgs {
    /// The template
    #[arg(value_name = "TEMPLATE", default_value = "review", value_parser = template::names())]
    pub(crate) template: String,
    /// The folder; it is made if it is not there, and no file in it is replaced
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, ClapArgs)]
#[command(override_usage = "deputize run [OPTIONS] [TEAM] <OBJECTIVE>")]
pub(crate) struct RunArgs {
    /// TEAM is a folder, a deputize.yaml or an agent file, by default the current folder. OBJECTIVE is what to achieve;
    /// `-` reads it from standard input
    #[arg(required = true, num_args = 1..=2, value_name = "[TEAM] OBJECTIVE")]
    pub(crate) words: Vec<String>,
    /// Run in the background and print the run's id alone
    #[arg(long)]
    pub(crate) detach: bool,
    /// The process in the background: tells its id to the one that started it
    #[arg(long, hide = true)]
    pub(crate) announce: bool,
    #[command(flatten)]
    pub(crate) team: TeamFlags,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CheckArgs {
    /// Folders, deputize.yaml files or agent files, each checked on its own [default: the current folder]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Also print every value of the configuration and where it came from
    #[arg(long)]
    pub(crate) explain_config: bool,
    #[command(flatten)]
    pub(crate) team: TeamFlags,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DoctorArgs {
    /// The team whose models are looked at [default: the current folder]
    #[arg(value_name = "TEAM")]
    pub(crate) path: Option<PathBuf>,
    /// Also ask each model for one word; spends a few tokens
    #[arg(long)]
    pub(crate) call: bool,
    #[command(flatten)]
    pub(crate) team: TeamFlags,
}

/// What a flag says about a team; wins over its files.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct TeamFlags {
    /// The root agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Use this model everywhere: it replaces every role, alias and named model
    #[arg(long, value_name = "PROVIDER:MODEL")]
    pub(crate) model: Option<String>,
    /// Use this model for one role: default, fast or think; may be repeated
    #[arg(long = "role", value_name = "NAME=PROVIDER:MODEL", value_parser = role)]
    pub(crate) roles: Vec<(String, String)>,
    /// The folder that tools work in [default: as deputize.yaml says, else the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Take the answers from this file instead of a model
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// Lift a limit of folders without deputize.yaml: `write` allows writes inside the workspace
    #[arg(long, value_name = "WHAT", value_parser = ["write"])]
    pub(crate) allow: Vec<String>,
    #[command(flatten)]
    pub(crate) budget: BudgetFlags,
}

/// One flag for each cap.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Budget")]
pub(crate) struct BudgetFlags {
    /// Tokens of the whole tree, in and out: 200k, 2M
    #[arg(long, value_name = "COUNT")]
    budget_tokens: Option<String>,
    /// Time of the whole tree: 90s, 15m, 1h
    #[arg(long, value_name = "DURATION")]
    budget_time: Option<String>,
    /// Turns of the root
    #[arg(long, value_name = "COUNT")]
    budget_turns: Option<String>,
    /// Model calls of the root
    #[arg(long, value_name = "COUNT")]
    budget_model_calls: Option<String>,
    /// Tool calls of the root
    #[arg(long, value_name = "COUNT")]
    budget_tool_calls: Option<String>,
    /// Children of the root
    #[arg(long, value_name = "COUNT")]
    budget_children: Option<String>,
    /// Runs of the whole tree
    #[arg(long, value_name = "COUNT")]
    budget_runs: Option<String>,
    /// Deepest level of the tree; the root is 0
    #[arg(long, value_name = "COUNT")]
    budget_depth: Option<String>,
    /// Runs that work at the same time
    #[arg(long, value_name = "COUNT")]
    budget_concurrency: Option<String>,
    /// Handoffs of the whole tree
    #[arg(long, value_name = "COUNT")]
    budget_hops: Option<String>,
}

impl BudgetFlags {
    /// The caps that were given, by the key of `deputize.yaml`.
    pub(crate) fn given(&self) -> Vec<(String, String)> {
        let all = [
            ("tokens", &self.budget_tokens),
            ("time", &self.budget_time),
            ("turns", &self.budget_turns),
            ("model_calls", &self.budget_model_calls),
            ("tool_calls", &self.budget_tool_calls),
            ("children", &self.budget_children),
            ("runs", &self.budget_runs),
            ("depth", &self.budget_depth),
            ("concurrency", &self.budget_concurrency),
            ("hops", &self.budget_hops),
        ];
        all.into_iter().filter_map(|(key, value)| Some((key.to_string(), value.clone()?))).collect()
    }
}

#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct RunsArgs {
    /// At most so many; 1 or more
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = amounts::some)]
    pub(crate) limit: usize,
    /// Only those in this state: running, interrupted, succeeded, failed and so on
    #[arg(long, value_name = "STATE", value_parser = state)]
    pub(crate) status: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Option<RunsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// Remove whole trees for good
    Rm(RmArgs),
    /// Remove old trees for good, and make the store smaller
    Prune(PruneArgs),
    /// Copy the store to a new file, while runs go on
    Backup(BackupArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RmArgs {
    /// The trees, by the ids of their root runs; when one may not go, none does
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// Also trees that have not ended; they cannot be resumed any more
    #[arg(long)]
    pub(crate) unfinished: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct PruneArgs {
    /// Trees that were last active longer ago: 30d, 2w, 12h
    #[arg(long, value_name = "AGE", value_parser = amounts::age)]
    pub(crate) older: Option<u64>,
    /// The oldest trees, until what is left in a store takes at most so much: 500M, 1G
    #[arg(long, value_name = "SIZE", value_parser = amounts::size)]
    pub(crate) max_size: Option<u64>,
    /// The newest trees of a store stay, so many of them; alone: all others go
    #[arg(long, value_name = "COUNT")]
    pub(crate) keep: Option<usize>,
    /// Also trees that have not ended; they cannot be resumed any more
    #[arg(long)]
    pub(crate) unfinished: bool,
    /// Say what would go, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct BackupArgs {
    /// The new file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct IdArgs {
    /// The run: its id, a unique beginning of it, or `last`
    #[arg(value_name = "ID")]
    pub(crate) id: String,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ResumeArgs {
    /// The run
    #[command(flatten)]
    pub(crate) run: IdArgs,
    /// Go on with the agents as their files are now; the log says so. Briefs, models and budgets stay
    #[arg(long)]
    pub(crate) adopt: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ShowArgs {
    /// The run: its id, a unique beginning of it, or `last`
    #[arg(value_name = "ID", required_unless_present = "waiting")]
    pub(crate) id: Option<String>,
    /// List what the run, or every run, waits for
    #[arg(long)]
    pub(crate) waiting: bool,
    /// Print the run's conversation instead: what it was asked, what it said and called, what came back
    #[arg(long, conflicts_with = "waiting")]
    pub(crate) conversation: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) id: IdArgs,
    /// Print the conversation of this run below ID as it grows: its steps, such as t1/c0
    #[arg(long, value_name = "PATH")]
    pub(crate) child: Option<String>,
    /// Print the conversation of ID itself as it grows
    #[arg(long, conflicts_with = "child")]
    pub(crate) conversation: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    pub(crate) id: IdArgs,
    /// Also the raw events
    #[arg(long)]
    pub(crate) events: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DemoArgs {
    /// Kill the run three times, resume it, and show that nothing recorded is asked for again
    #[arg(long)]
    pub(crate) prove: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MockModelArgs {
    /// The script
    #[arg(long, value_name = "FILE")]
    pub(crate) script: PathBuf,
    /// The port on the loopback address; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// Write every request to this file, a line each
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// End when standard input ends, so that it cannot outlive the process that started it
    #[arg(long)]
    pub(crate) while_input: bool,
}

/// The word for a state, as documents have it.
fn state(text: &str) -> Result<String, String> {
    let open = ["running", "interrupted", "waiting"];
    let known = open.into_iter().chain(Terminal::ALL.into_iter().map(Terminal::word)).find(|word| *word == text);
    known.map(String::from).ok_or_else(|| format!("write one of {}, succeeded, failed, cancelled ...", open.join(", ")))
}

fn role(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, model)) if !name.is_empty() && !model.is_empty() => Ok((name.to_string(), model.to_string())),
        _ => Err("write NAME=PROVIDER:MODEL, for instance fast=openai:small".to_string()),
    }
}

/// What clap says instead of giving arguments.
pub(crate) enum Refused {
    /// Help or version were asked for.
    Asked(String),
    /// The command line is wrong.
    Wrong(Fault),
}

impl Refused {
    /// Shows it, and says how to end.
    pub(crate) fn show(self, out: &Out) -> Exit {
        match self {
            Refused::Asked(text) => {
                out.result(&text);
                Exit::Good
            }
            Refused::Wrong(fault) => fault.show(out),
        }
    }
}

/// The commands of the first screen, in its order; `--help-all` shows the others too.
const FIRST: [&str; 8] = ["init", "run", "watch", "show", "approve", "fork", "check", "doctor"];

/// The whole command line. Commands beyond the first screen are hidden unless `all` are wanted.
pub(crate) fn command(all: bool) -> clap::Command {
    let place = |command: &clap::Command| FIRST.iter().position(|first| *first == command.get_name());
    let arranged = |command: clap::Command| match (place(&command), command.is_hide_set()) {
        (Some(order), _) => command.display_order(order),
        (None, hidden) => command.hide(hidden || !all).display_order(FIRST.len()),
    };
    let known = "Every other command: deputize --help-all\nGuide: docs/guide/cli.md";
    let more = if all { "" } else { known };
    Args::command().mut_subcommands(arranged).after_help(more)
}

/// Reads the command line.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Args, Refused> {
    let words: Vec<OsString> = words.into_iter().collect();
    if words.get(1).is_some_and(|word| word == "--help-all") {
        return Err(Refused::Asked(command(true).render_help().to_string()));
    }
    let matches = command(false).try_get_matches_from(words).map_err(refused)?;
    Args::from_arg_matches(&matches).map_err(refused)
}

fn refused(error: clap::Error) -> Refused {
    let shown = error.render().to_string();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return Refused::Asked(shown);
    }
    let (shown, first) = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            ("error: a command is missing".to_string(), "a command is missing".to_string())
        }
        _ => {
            let first = shown.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ").trim_end();
            (shown.clone(), first.split_whitespace().collect::<Vec<_>>().join(" "))
        }
    };
    // Clap knows which command it was about when it was about one.
    let about = match error.get(ContextKind::Usage).map(ToString::to_string) {
        Some(usage) => usage
            .split_whitespace()
            .nth(2)
            .filter(|word| command(true).find_subcommand(word).is_some())
            .map(String::from),
        None => None,
    };
    let next = about.map_or_else(|| "deputize --help".to_string(), |name| format!("deputize {name} --help"));
    Refused::Wrong(Fault::usage(first, shown).next(next))
}

/// Whether `--json` is there, for errors that come before anything is read.
pub(crate) fn wants_json(words: impl Iterator<Item = OsString>) -> bool {
    words.take_while(|word| word != "--").any(|word| word == "--json")
}

#[cfg(test)]
mod tests;
