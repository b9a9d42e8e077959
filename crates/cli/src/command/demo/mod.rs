//! `deputize demo`: the review team on the files that ship with it, by a script, offline. Owns where the team is unpacked,
//! what is said about the run, and the proof that a run survives being killed.

mod bundle;
mod process;
mod proof;
mod tour;
mod verdict;

use crate::ambient::Ambient;
use crate::args::DemoArgs;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::out::{Out, quoted};
use bundle::Place;
use std::path::Path;

/// What the lead is asked for.
const OBJECTIVE: &str = "Review the files of this folder. We also want to know about performance.";

/// Runs the demo. `home`: the state folder, if one was given by flag.
pub(crate) async fn execute(args: DemoArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let place = Place::make(ambient, ambient.flag.as_deref())?;
    let inside = Ambient { state: place.home.clone(), ..ambient.clone() };
    if args.prove { proof::run(&place, &inside, out).await } else { tour::run(&place, &inside, out).await }
}

/// What a person types to start this program.
fn program(ambient: &Ambient) -> String {
    let Ok(own) = std::env::current_exe() else { return "deputize".to_string() };
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let same = |folder: &Path| real(&folder.join("deputize")).is_some_and(|found| Some(found) == real(&own));
    if std::env::split_paths(ambient.var("PATH").unwrap_or_default()).any(|folder| same(&folder)) {
        return "deputize".to_string();
    }
    let short = own.strip_prefix(&ambient.cwd).map(|below| Path::new(".").join(below));
    quoted(&short.unwrap_or(own))
}
