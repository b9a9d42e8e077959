//! The mock model server on a thread of its own, so that its CPU time can be told from that of the client.

use crate::measure::{Fault, micros, thread_cpu};
use deputize_adapters::mock::{Options, Server};
use deputize_adapters::provider::scripted::Script;
use deputize_adapters::provider::{Config, build};
use deputize_runtime::port::Model;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A running server; dropping it ends it.
pub(crate) struct Served {
    url: String,
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    pub(crate) async fn start(script: Script) -> Result<Served, Fault> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (ready, started) = oneshot::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::Builder::new().name("mock-server".into()).spawn(move || {
            runtime.block_on(async {
                let server = Server::start(script, Options { keep_requests: false, ..Options::default() }).await;
                let url = server.as_ref().map(Server::base_url).map_err(ToString::to_string);
                // Nobody may wait any more; then the next line returns at once.
                drop(ready.send(url));
                drop(stopped.await);
            });
        })?;
        let url = started.await??;
        Ok(Served { url, handle, stop: Some(stop), thread: Some(thread) })
    }

    /// A client of it.
    pub(crate) fn client(&self) -> Result<Arc<dyn Model>, Fault> {
        let headers = [("x-agent-path", "{path}"), ("x-step", "{step}")].map(|(k, v)| (k.to_string(), v.to_string()));
        let config = Config { base_url: self.url.clone(), headers: headers.into(), ..Config::default() };
        Ok(build(&config, None, Path::new("."))?)
    }

    /// CPU microseconds of the server's thread so far.
    pub(crate) async fn cpu(&self) -> Result<f64, Fault> {
        Ok(micros(self.handle.spawn(async { thread_cpu() }).await?))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The thread has no result.
            drop(thread.join());
        }
    }
}
