//! `__mock-model`: scripted answers as a chat completions server on this machine, for `demo --prove` and for tests.

use crate::ambient::Ambient;
use crate::args::MockModelArgs;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::out::Out;
use deputize_adapters::mock;

/// Serves until it is killed; its address is the first line of standard output.
pub(crate) async fn execute(args: MockModelArgs, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    let MockModelArgs { script, port, log, while_input } = args;
    if while_input {
        std::thread::spawn(end_with_input);
    }
    let script = ambient.cwd.join(script);
    let log = log.map(|file| ambient.cwd.join(file));
    let ready = |address| out.result(&format!("http://{address}/v1"));
    mock::serve_forever(port, &script, log, ready).await.map_err(|e| Fault::new("mock.failed", e.to_string()))?;
    Ok(Exit::Good)
}

fn end_with_input() {
    // An input that cannot be read has ended as well.
    drop(std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink()));
    std::process::exit(i32::from(Exit::Good.number()));
}
