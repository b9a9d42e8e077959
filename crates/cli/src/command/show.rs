//! `show`: one run.

use crate::ambient::Ambient;
use crate::args::IdArgs;
use crate::drive;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::out::Out;
use crate::past;
use deputize_api::text;

/// Shows it.
pub(crate) async fn execute(args: &IdArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let found = past::find(ambient, &args.id).await?;
    let live = found.shelf.is_driven(&found.head.root)?;
    let doc = drive::document(&found.shelf, &found.head.run, live, out).await?;
    past::report_torn(&found.shelf, out);
    out.either(&doc, || text::run(&doc));
    Ok(Exit::Good)
}
