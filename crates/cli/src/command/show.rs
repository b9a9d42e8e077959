//! `show`: one run.

use crate::ambient::Ambient;
use crate::args::ShowArgs;
use crate::drive;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::out::Out;
use crate::past;
use deputize_api::{conversation, text};

/// Shows it.
pub(crate) async fn execute(args: &ShowArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let found = past::find(ambient, &args.id.id).await?;
    let (shelf, run, root) = (&found.shelf, &found.head.run, &found.head.root);
    if args.conversation && !out.json() {
        let tree = past::tree(shelf, root).await?;
        past::report_torn(shelf, out);
        out.result(&tree.run(run).map(|run| conversation(run, 0)).unwrap_or_default());
        return Ok(Exit::Good);
    }
    let live = shelf.is_driven(root)?;
    let doc = drive::document(shelf, run, live, out).await?;
    past::report_torn(shelf, out);
    out.either(&doc, || text::run(&doc));
    Ok(Exit::Good)
}
