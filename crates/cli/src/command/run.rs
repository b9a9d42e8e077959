//! `run`: a new tree from a team and an objective.

use crate::ambient::Ambient;
use crate::args::RunArgs;
use crate::detach;
use crate::drive::Drive;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::interrupt::Interrupts;
use crate::out::Out;
use crate::past::{self, Shelf};
use crate::prepare::{self, Prepared};
use crate::stored::Stored;
use crate::wire;
use deputize_core::code;
use deputize_core::event::Choice;
use deputize_runtime::Launch;
use deputize_runtime::secret::Redactor;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of an objective from standard input.
const OBJECTIVE: u64 = 4 << 20;

/// Runs it to its end, or starts it in the background.
pub(crate) async fn execute(args: RunArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let (team, written) = words(&args.words, ambient)?;
    let from_input = written == "-";
    let mut objective = if from_input { read_input()? } else { written };
    if objective.trim().is_empty() {
        let text = "the objective is empty: say what is to be achieved";
        return Err(Fault::new(code::BRIEF_OBJECTIVE_MISSING.as_str(), text));
    }
    if args.detach && !args.announce {
        return detach::start(ambient, out, from_input.then_some(objective));
    }
    let source = Some(ambient.cwd.join(team.as_deref().unwrap_or(Path::new(""))));
    let Prepared { setup, protected, mut choices } = prepare::prepare(ambient, out, &args.team, team).await?;
    past::make_state_folder(ambient)?;
    if let Some(said) = wire::close(&ambient.state) {
        out.say(&said);
    }
    let shelf = Shelf::open(ambient, setup.store.path.as_deref(), setup.store.sync)?;
    let mut stored = Stored { setup, protected, source };
    let redactor = ambient.secrets(stored.variables());
    choices.extend(hidden(&mut stored, &mut objective, &redactor)?.inspect(|choice| out.note(&choice.text)));
    choices.iter_mut().for_each(|choice| redactor.clean(&mut choice.text));
    let world = wire::world(&stored, ambient, shelf.store.clone())?;
    past::remember(ambient, &shelf)?;
    let blob = stored.bytes()?;
    let launch = Launch { team: Arc::new(stored.setup.team), setup: blob, objective, choices };
    let interrupts = Interrupts::listen(args.announce)?;
    let ready = deputize_runtime::start(world, launch).await?;
    let root = ready.root().clone();
    let lock = shelf.lock(&root)?.ok_or_else(|| Fault::new("run.driven", format!("run {root} is taken")))?;
    out.note(&format!("run {root}"));
    let drive = Drive { ready, lock, shelf: &shelf, tokens: 0, interrupts, background: args.announce };
    drive.finish(out).await
}

/// Takes secrets out of what a person wrote, and says so: no log holds one, and no model is sent one.
fn hidden(
    stored: &mut Stored,
    objective: &mut String,
    redactor: &Redactor,
) -> Result<impl Iterator<Item = Choice>, Fault> {
    let found = [("the objective", redactor.finds(objective)), ("the files of the team", stored.clean(redactor)?)];
    redactor.clean(objective);
    let text =
        |what: &str| format!("what looks like a key in {what} is hidden: no agent sees it, and it is not stored");
    let found = found.into_iter().filter(|(_, found)| *found).map(move |(what, _)| text(what));
    Ok(found.map(|text| Choice { code: code::SECRET_HIDDEN.as_str().to_string(), text }))
}

/// TEAM and OBJECTIVE, or OBJECTIVE alone.
fn words(words: &[String], ambient: &Ambient) -> Result<(Option<PathBuf>, String), Fault> {
    match words {
        [team, objective] => Ok((Some(PathBuf::from(team)), objective.clone())),
        [only] if only != "-" && !only.trim().is_empty() && ambient.cwd.join(only).is_dir() => {
            let text = format!("`{only}` is a folder, and the objective is missing");
            let shown = format!("error: {text}\n\nsay what is to be done there: deputize run {only} \"OBJECTIVE\"");
            Err(Fault::usage(text, shown).hint("deputize run TEAM OBJECTIVE"))
        }
        [only] => Ok((None, only.clone())),
        _ => Err(Fault::usage("the objective is missing", "error: the objective is missing".to_string())),
    }
}

fn read_input() -> Result<String, Fault> {
    let unreadable = |why: String| Fault::new("objective.unreadable", format!("the objective on standard input {why}"));
    let mut bytes = Vec::new();
    let mut input = std::io::stdin().lock().take(OBJECTIVE + 1);
    input.read_to_end(&mut bytes).map_err(|e| unreadable(format!("cannot be read: {e}")))?;
    if bytes.len() as u64 > OBJECTIVE {
        return Err(unreadable(format!("is longer than {OBJECTIVE} bytes: put it into a file of the workspace")));
    }
    let text = String::from_utf8(bytes).map_err(|_| unreadable("is no UTF-8 text".to_string()))?;
    // The line break at the end is the shell's, not the person's.
    Ok(text.trim_end_matches(['\r', '\n']).to_string())
}
