//! The HTTP side: connections, routes, and bodies that are sent in pieces, broken off or left hanging.

use super::answer::{self, Answer, End};
use super::{Asked, Shared};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http_body_util::{BodyExt, Limited, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinSet, yield_now};

/// The longest request that is read: beyond any context window.
const LONGEST: usize = 64 * 1024 * 1024;

type Body = UnsyncBoxBody<Bytes, Broken>;

/// Ends a connection without the proper end of its answer.
#[derive(Debug, thiserror::Error)]
#[error("the connection is broken on purpose")]
pub(super) struct Broken;

/// Accepts connections until the task is dropped, which drops the connections too.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        // A connection that fails before it is accepted is its client's loss.
        if let Ok((stream, _)) = listener.accept().await {
            connections.spawn(connection(stream, shared.clone()));
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    // Small pieces are sent at once, as model servers do.
    stream.set_nodelay(true).ok();
    let service = service_fn(move |request| route(request, shared.clone()));
    // Broken connections are what this server is for: their errors are nobody's news.
    http1::Builder::new().serve_connection(TokioIo::new(stream), service).await.ok();
}

async fn route(request: Request<Incoming>, shared: Arc<Shared>) -> Result<Response<Body>, Broken> {
    match (request.method(), request.uri().path()) {
        (&Method::POST, "/v1/chat/completions") => completions(request, &shared).await,
        (&Method::GET, "/v1/models") => {
            let data: Vec<_> = shared.models.iter().map(|id| json!({"id": id, "object": "model"})).collect();
            Ok(plain(StatusCode::OK, json!({"object": "list", "data": data}).to_string()))
        }
        (&Method::GET, "/log") => Ok(plain(StatusCode::OK, json!(shared.log.entries()).to_string())),
        (method, path) => {
            let message = format!("no {method} {path} here");
            Ok(plain(StatusCode::NOT_FOUND, json!({"error": {"message": message}}).to_string()))
        }
    }
}

async fn completions(request: Request<Incoming>, shared: &Shared) -> Result<Response<Body>, Broken> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers: BTreeMap<_, _> = request.headers().iter().map(|(k, v)| (k.as_str().to_string(), text(v))).collect();
    let body = Limited::new(request.into_body(), LONGEST).collect().await.map_err(|_| Broken)?;
    let asked = Asked::read(shared.log.number(), headers, body.to_bytes());
    let answer = answer::decide(&shared.play, &asked);
    // A log that cannot be written proves nothing: then there is no answer either.
    shared.log.note(asked, answer.status, answer.rejected.clone()).map_err(|_| Broken)?;
    tokio::time::sleep(answer.latency).await;
    send(answer).await
}

async fn send(answer: Answer) -> Result<Response<Body>, Broken> {
    let Some(status) = answer.status else {
        return match answer.end {
            End::Never => std::future::pending().await,
            End::Whole | End::Broken => Err(Broken),
        };
    };
    let kind = if answer.events { "text/event-stream" } else { "application/json" };
    let wait = answer.retry_after;
    let mut response = Response::new(StreamBody::new(frames(answer)).boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Some(wait) = wait {
        // The standard header knows whole seconds only; the other one, which some providers send, is exact.
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(millis.div_ceil(1000)));
        response.headers_mut().insert("retry-after-ms", HeaderValue::from(millis));
    }
    Ok(response)
}

/// The pieces of a body. Each is its own turn of the scheduler, so that it is on the wire before the next, and before the
/// connection breaks.
fn frames(answer: Answer) -> impl Stream<Item = Result<Frame<Bytes>, Broken>> + Send {
    let pieces = stream::iter(answer.pieces).then(|piece| async move {
        yield_now().await;
        Ok(Frame::data(piece))
    });
    let end = answer.end;
    let last = stream::once(async move {
        yield_now().await;
        match end {
            End::Whole => None,
            End::Broken => Some(Err(Broken)),
            End::Never => std::future::pending().await,
        }
    });
    pieces.chain(last.filter_map(std::future::ready))
}

fn plain(status: StatusCode, text: String) -> Response<Body> {
    let body = http_body_util::Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
