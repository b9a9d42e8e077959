//! `doctor`: what works here, and what to do about the rest. Owns the order of the rows and the verdict; spends no token
//! unless `--call` asks for a call.

mod here;
mod models;

use crate::ambient::Ambient;
use crate::args::DoctorArgs;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::out::Out;
use deputize_api::SCHEMA;
use deputize_api::doctor::{self, DoctorDoc, Health};

/// Looks at everything that a run needs.
pub(crate) async fn execute(args: &DoctorArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let (mut checks, store) = models::rows(args, ambient).await;
    checks.extend(here::rows(ambient, store.as_deref()).await);
    let ready = checks.iter().all(|row| row.status != Health::Failed);
    let doc = DoctorDoc { schema: SCHEMA, ready, checks };
    out.either(&doc, || doctor::text(&doc));
    Ok(if ready { Exit::Good } else { Exit::Refused })
}
