//! `runs backup`: a copy of the store while others write to it.

use crate::ambient::Ambient;
use crate::args::BackupArgs;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::out::Out;
use crate::past;
use deputize_api::{BackupDoc, SCHEMA, text};

/// Writes it.
pub(super) async fn execute(args: &BackupArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let mut shelves = past::shelves(ambient)?.into_iter();
    let none = || Fault::new("run.unknown", "there are no runs yet").hint("start one: deputize run \"OBJECTIVE\"");
    let shelf = shelves.next().ok_or_else(none)?;
    for other in shelves {
        out.note(&format!("runs kept in {} are not in this copy", other.place()));
    }
    let file = ambient.cwd.join(&args.file);
    let bytes = shelf.upkeep().backup(&file).await?;
    let file = file.to_string_lossy().into_owned();
    let doc = BackupDoc { schema: SCHEMA, file, bytes };
    out.either(&doc, || {
        format!(
            "{} in {}\nto use it, put it into a folder as {}, and give that folder with --home",
            text::bytes(doc.bytes),
            doc.file,
            past::STORE
        )
    });
    Ok(Exit::Good)
}
