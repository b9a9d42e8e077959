//! The commands, one file each. A new one is a file here and a line in [`execute`] and in `args`.

mod cancel;
mod check;
mod completions;
mod demo;
mod doctor;
mod init;
mod mock_model;
mod resume;
mod run;
mod runs;
mod show;
mod trace;
mod watch;

use crate::ambient::Ambient;
use crate::args::Command;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::out::Out;
use crate::reference;

/// Does what was asked for.
pub(crate) async fn execute(command: Command, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    if matches!(command, Command::Run(_) | Command::Check(_) | Command::Init(_) | Command::MockModel(_)) {
        ambient.needs_folder()?;
    }
    match command {
        Command::Init(args) => init::execute(&args, ambient, out),
        Command::Run(args) => run::execute(*args, ambient, out).await,
        Command::Check(args) => Ok(check::execute(*args, ambient, out)),
        Command::Runs(args) => runs::execute(&args, ambient, out).await,
        Command::Show(args) => show::execute(&args, ambient, out).await,
        Command::Watch(args) => watch::execute(&args, ambient, out).await,
        Command::Trace(args) => trace::execute(&args, ambient, out).await,
        Command::Resume(args) => resume::execute(&args, ambient, out).await,
        Command::Cancel(args) => cancel::execute(&args, ambient, out).await,
        Command::Demo(args) => demo::execute(args, ambient, out).await,
        Command::Doctor(args) => doctor::execute(&args, ambient, out).await,
        Command::Completions(args) => Ok(completions::execute(&args, out)),
        Command::Reference => Ok(reference::execute(out)),
        Command::MockModel(args) => mock_model::execute(args, ambient, out).await,
    }
}
