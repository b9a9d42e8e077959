//! `show`: one run, or what runs wait for.

use crate::ambient::Ambient;
use crate::args::ShowArgs;
use crate::drive;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::out::Out;
use crate::past::{self, Found};
use deputize_api::{SCHEMA, WaitingDoc, WaitingListDoc, conversation, text, waiting_docs};

/// Shows it.
pub(crate) async fn execute(args: &ShowArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    if args.waiting {
        return waiting(args.id.as_deref(), ambient, out).await;
    }
    let found = past::find(ambient, args.id.as_deref().unwrap_or_default()).await?;
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
    out.either(&doc, || text::run(&doc, drive::now()));
    Ok(Exit::Good)
}

/// What one run waits for, or what all do.
async fn waiting(id: Option<&str>, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let mut waiting = Vec::new();
    match id {
        Some(id) => waiting.extend(of(&past::find(ambient, id).await?).await?),
        None => {
            let all = past::list(&past::shelves(ambient)?, usize::MAX).await?;
            for found in all.iter().filter(|found| found.head.status.is_none()) {
                match of(found).await {
                    Ok(more) => waiting.extend(more),
                    // One that cannot be read keeps nobody from the others.
                    Err(fault) => fault.show_beside(out),
                }
            }
        }
    }
    drive::name_home(&mut waiting, out);
    let doc = WaitingListDoc { schema: SCHEMA, waiting };
    out.either(&doc, || text::waiting(&doc, drive::now()));
    Ok(Exit::Good)
}

async fn of(found: &Found) -> Result<Vec<WaitingDoc>, Fault> {
    let tree = past::tree(&found.shelf, &found.head.root).await?;
    Ok(waiting_docs(&tree, &found.head.run))
}
