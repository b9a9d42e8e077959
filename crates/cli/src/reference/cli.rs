//! `docs/reference/cli.md`: every command and flag, from clap's own tree.

use crate::args::Args;
use clap::{Arg, Command, CommandFactory as _};
use std::fmt::Write as _;

/// The page.
pub(super) fn markdown() -> String {
    let mut root = Args::command();
    root.build();
    let mut out = String::from("# Command line\n\nGenerated from the program's own definition.\n");
    let _ = writeln!(out, "\n{}\n", about(&root));
    out.push_str("Flags of every command:\n\n");
    table(&mut out, root.get_arguments().filter(|arg| arg.is_global_set()));
    root.get_subcommands_mut().for_each(|command| section(&mut out, command));
    out
}

/// A command, and those below it.
fn section(out: &mut String, command: &mut Command) {
    if command.is_hide_set() {
        return;
    }
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let name = command.get_bin_name().unwrap_or_default().trim_start_matches("deputize ").to_string();
    let _ = write!(out, "\n## {name}\n\n{}\n\n```\n{usage}\n```\n", about(command));
    let own: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_global_set() && shown(arg)).collect();
    if !own.is_empty() {
        out.push('\n');
        table(out, own.into_iter());
    }
    command.get_subcommands_mut().for_each(|command| section(out, command));
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn shown(arg: &Arg) -> bool {
    !arg.is_hide_set() && arg.get_id() != "help" && arg.get_id() != "version"
}

fn table<'a>(out: &mut String, args: impl Iterator<Item = &'a Arg>) {
    out.push_str("| flag | meaning |\n|---|---|\n");
    for arg in args.filter(|arg| shown(arg)) {
        let values = arg.get_value_names().map(|names| names.join(" ")).unwrap_or_default();
        let takes = arg.get_action().takes_values();
        let name = match arg.get_long() {
            Some(long) if takes => format!("--{long} {values}"),
            Some(long) => format!("--{long}"),
            None => values,
        };
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(out, "| `{name}` | {} |", help.replace('|', "\\|"));
    }
}
