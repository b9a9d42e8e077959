//! The binary `deputize`: the composition root. Reads arguments and environment, hands over to one command, ends with its
//! exit code. Owns no behaviour of its own.

mod adopt;
mod ambient;
mod amounts;
mod args;
mod command;
mod detach;
mod discover;
mod drive;
mod exit;
mod fault;
mod inert;
mod interrupt;
mod log_file;
mod out;
mod panic;
mod past;
mod prepare;
mod progress;
mod reference;
mod screen;
mod stored;
mod template;
mod window;
mod wire;

use ambient::Ambient;
use args::{Args, Common};
use exit::Exit;
use fault::Fault;
use log_file::LogFile;
use out::{Level, Manner, Out};
use std::process::ExitCode;

fn main() -> ExitCode {
    let out = Out::new(args::wants_json(std::env::args_os().skip(1)));
    let args = match args::parse(std::env::args_os()) {
        Ok(args) => args,
        Err(refused) => return refused.show(&out).code(),
    };
    let done = panic::guarded(|| execute(args, &out));
    out.flush();
    match done {
        Ok(Exit::Good) if out.failed() => {
            Fault::new("output.failed", "the result could not be written to standard output").show(&out).code()
        }
        Ok(exit) => exit.code(),
        Err(fault) => fault.show(&out).code(),
    }
}

/// How messages are given: by the flags, and in colour only to a person at a terminal who has not refused it.
fn manner(common: &Common, ambient: &Ambient) -> Result<Manner, Fault> {
    let level = match (common.quiet, common.verbose) {
        (true, _) => Level::Quiet,
        (_, true) => Level::Verbose,
        _ => Level::Usual,
    };
    let log = common.log_file.as_ref().map(|file| LogFile::open(&ambient.cwd.join(file))).transpose()?;
    Ok(Manner { level, colour: ambient.colour(), log })
}

fn execute(args: Args, out: &Out) -> Result<Exit, Fault> {
    let ambient = Ambient::read(args.common.home.clone())?;
    if let Some(home) = &ambient.flag {
        out.set_home(home);
    }
    out.set_manner(manner(&args.common, &ambient)?);
    out.set_redactor(&ambient.secrets([]));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|e| Fault::new("system.threads", format!("the async runtime cannot start: {e}")))?;
    let done = runtime.block_on(command::execute(args.command, &ambient, out));
    // A tool on a thread of its own may still hang; nobody waits for it.
    runtime.shutdown_background();
    done
}
