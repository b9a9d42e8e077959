//! The way to a provider: certificates of one's own, proxies, and the layer that fails when it does. Real connections to
//! servers in this process; the certificates are fixtures of an authority that nobody else knows.

use crate::support::{CANARY, call, config, made};
use deputize_adapters::provider::{Config, Layer, Look, Secret, Trouble, examine, is_near, models_of};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const LIST: &str = "{\"data\":[{\"id\":\"small\"}]}";
const SAID: &str = "{\"choices\":[{\"message\":{\"content\":\"whole\"},\"finish_reason\":\"stop\"}]}";

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls").join(name)
}

/// What connections brought: the head of each request, or what a proxy was asked for.
type Heads = Arc<Mutex<Vec<String>>>;

/// A server that treats each connection in this way, on a thread that ends with the test's process.
fn serve(each: impl Fn(TcpStream) -> std::io::Result<()> + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let each = Arc::new(each);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let each = each.clone();
            thread::spawn(move || each(stream));
        }
    });
    address
}

fn head(stream: &mut impl Read) -> std::io::Result<String> {
    let mut sent = Vec::new();
    let mut byte = [0];
    while !sent.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        sent.extend(byte);
    }
    Ok(String::from_utf8_lossy(&sent).to_lowercase())
}

fn answer(stream: &mut (impl Read + Write), heads: &Heads) -> std::io::Result<()> {
    let head = head(stream)?;
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok()).unwrap_or(0);
    stream.read_exact(&mut vec![0; length])?;
    let body = if head.starts_with("post") { SAID } else { LIST };
    heads.lock().unwrap().push(head);
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )?;
    stream.flush()
}

/// A model server behind TLS.
fn encrypted(heads: Heads) -> SocketAddr {
    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    let chain = vec![CertificateDer::from_pem_file(fixture("server.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(fixture("server.key")).unwrap();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ServerConfig::builder_with_provider(ring).with_safe_default_protocol_versions().unwrap();
    let tls = Arc::new(tls.with_no_client_auth().with_single_cert(chain, key).unwrap());
    serve(move |stream| {
        let mut stream = rustls::StreamOwned::new(rustls::ServerConnection::new(tls.clone()).unwrap(), stream);
        answer(&mut stream, &heads)?;
        stream.conn.send_close_notify();
        stream.flush()
    })
}

/// A model server without TLS.
fn plain(heads: Heads) -> SocketAddr {
    serve(move |mut stream| answer(&mut stream, &heads))
}

/// A proxy: tunnels what is encrypted, answers the rest itself as the server would.
fn proxy(heads: Heads) -> SocketAddr {
    serve(move |mut stream| {
        let mut first = [0; 7];
        stream.peek(&mut first)?;
        if &first != b"CONNECT" {
            return answer(&mut stream, &heads);
        }
        let asked = head(&mut stream)?;
        let to = asked.split(' ').nth(1).unwrap().to_string();
        heads.lock().unwrap().push(asked);
        let mut far = TcpStream::connect(to)?;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        let (mut back, mut there) = (far.try_clone()?, stream.try_clone()?);
        thread::spawn(move || std::io::copy(&mut back, &mut there));
        std::io::copy(&mut stream, &mut far)?;
        far.shutdown(std::net::Shutdown::Write)
    })
}

/// A server that gives these bytes to whoever asks.
fn fixed(bytes: &'static str) -> SocketAddr {
    serve(move |mut stream| {
        head(&mut stream)?;
        stream.write_all(bytes.as_bytes())
    })
}

fn settings(scheme: &str, server: SocketAddr) -> Config {
    config(format!("{scheme}://{server}/v1"), false)
}

fn key() -> Option<Secret> {
    Some(Secret::new(CANARY))
}

async fn look(config: &Config) -> Result<Vec<String>, Trouble> {
    let look = Look { proxied: false, patience: Duration::from_secs(20) };
    examine(config, key().as_ref(), look).await
}

async fn fails(config: &Config) -> (Layer, String) {
    let trouble = look(config).await.unwrap_err();
    assert!(!trouble.why.contains(CANARY), "{}", trouble.why);
    (trouble.layer, trouble.why)
}

#[tokio::test]
async fn an_authority_of_ones_own_is_trusted_when_it_is_named() {
    let heads = Heads::default();
    let server = encrypted(heads.clone());
    let strange = settings("https", server);
    let (layer, why) = fails(&strange).await;
    assert_eq!(layer, Layer::Tls, "{why}");
    assert!(call(&made(&strange, key()).unwrap(), "t1", 1).await.is_err());
    assert!(heads.lock().unwrap().is_empty(), "nothing is sent to whom nobody vouches for");
    let known = Config { ca_file: Some(fixture("ca.pem")), ..strange };
    assert_eq!(look(&known).await.unwrap(), ["small"]);
    assert_eq!(call(&made(&known, key()).unwrap(), "t1", 1).await.unwrap().turn.text, "whole");
}

#[tokio::test]
async fn a_file_without_certificates_is_an_error_that_names_it() {
    let server = encrypted(Heads::default());
    for (file, expect) in [("server.key", "holds no certificate"), ("none.pem", "cannot be read")] {
        let config = Config { ca_file: Some(fixture(file)), ..settings("https", server) };
        let error = made(&config, None).err().unwrap().to_string();
        assert!(error.contains(file) && error.contains(expect), "{error}");
        assert_eq!(fails(&config).await.0, Layer::Tls);
    }
}

// What is encrypted stays so: the proxy learns the machine's name and its own credential, never the key.
#[tokio::test]
async fn a_proxy_tunnels_and_does_not_see_the_key() {
    let (seen, heads) = (Heads::default(), Heads::default());
    let (server, proxy) = (encrypted(heads.clone()), proxy(seen.clone()));
    let through = Config {
        ca_file: Some(fixture("ca.pem")),
        proxy: Some(format!("http://{proxy}")),
        proxy_auth: Some(Secret::new("user:pass word")),
        ..settings("https", server)
    };
    assert_eq!(look(&through).await.unwrap(), ["small"]);
    assert_eq!(call(&made(&through, key()).unwrap(), "t1", 1).await.unwrap().turn.text, "whole");
    let seen = seen.lock().unwrap().join("\n");
    assert!(seen.contains(&format!("connect {server}")), "{seen}");
    assert!(seen.contains("proxy-authorization: basic dxnlcjpwyxnzihdvcmq="), "{seen}");
    assert!(!seen.contains(CANARY), "{seen}");
    assert!(heads.lock().unwrap().iter().all(|head| head.contains(CANARY) && !head.contains("proxy-auth")));
}

#[tokio::test]
async fn a_proxy_is_used_for_what_is_not_encrypted_and_none_means_none() {
    let (seen, heads) = (Heads::default(), Heads::default());
    let (server, proxy) = (plain(heads.clone()), proxy(seen.clone()));
    let through = Config { proxy: Some(format!("http://{proxy}")), ..settings("http", server) };
    assert_eq!(look(&through).await.unwrap(), ["small"]);
    assert!(seen.lock().unwrap().join("").starts_with(&format!("get http://{server}/v1/models")));
    assert!(heads.lock().unwrap().is_empty());
    let direct = Config { proxy: Some("none".into()), ..settings("http", server) };
    assert_eq!(look(&direct).await.unwrap(), ["small"]);
    assert_eq!(heads.lock().unwrap().len(), 1);
}

fn closed() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[tokio::test]
async fn each_layer_is_told_from_the_others() {
    let page = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/html\r\n\r\n<html>Welcome</html>";
    let refused =
        "HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n{\"error\":{\"message\":\"bad key canary-4f1d0a77\"}}";
    let missing = "HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n{\"detail\":\"Not Found\"}";
    let lost = "HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-type: text/html\r\n\r\n<!doctype html>";
    let other = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"hello\":\"world\"}";
    let broken = "HTTP/1.1 500 Oops\r\nconnection: close\r\n\r\n{}";
    let who = "HTTP/1.1 407 Proxy Authentication Required\r\nconnection: close\r\n\r\n";
    let by = |proxy: SocketAddr, scheme: &str| Config {
        proxy: Some(format!("http://{proxy}")),
        ..settings(scheme, closed())
    };
    let table = [
        (settings("http", closed()), Layer::Connect),
        (Config { base_url: "http://nobody.invalid/v1".into(), ..settings("http", closed()) }, Layer::Dns),
        (Config { base_url: "nonsense".into(), ..settings("http", closed()) }, Layer::Address),
        (settings("https", serve(|mut stream| stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n"))), Layer::Tls),
        (settings("http", fixed(refused)), Layer::Auth),
        (settings("http", fixed(missing)), Layer::Address),
        (settings("http", fixed(lost)), Layer::Answer),
        (settings("http", fixed(page)), Layer::Answer),
        (settings("http", fixed(other)), Layer::Answer),
        (settings("http", fixed(broken)), Layer::Answer),
        (by(closed(), "http"), Layer::Proxy),
        (by(closed(), "https"), Layer::Proxy),
        (by(fixed(who), "http"), Layer::Proxy),
        (by(fixed(who), "https"), Layer::Proxy),
    ];
    for (config, expect) in table {
        let (layer, why) = fails(&config).await;
        assert_eq!(layer, expect, "{} {:?}: {why}", config.base_url, config.proxy);
    }
    assert!(fails(&settings("http", fixed(page))).await.1.contains("a web page"));
}

#[tokio::test]
async fn who_is_reached_and_says_nothing_is_told_from_who_is_not_there() {
    let hangs = serve(|mut stream| stream.read_to_end(&mut Vec::new()).map(|_| ()));
    let look = Look { proxied: false, patience: Duration::from_millis(300) };
    let trouble = examine(&settings("http", hangs), None, look).await.unwrap_err();
    assert_eq!(trouble.layer, Layer::Answer);
    assert!(trouble.why.contains("says nothing for 0.3 s"), "{}", trouble.why);
}

// A proxy that repeats what it was given must not bring the password onto the screen.
#[tokio::test]
async fn the_password_of_a_proxy_is_not_repeated() {
    let said =
        "HTTP/1.1 403 No\r\nconnection: close\r\n\r\n{\"error\":{\"message\":\"unknown user me:hunter2-hunter2\"}}";
    let config = Config {
        proxy: Some(format!("http://{}", fixed(said))),
        proxy_auth: Some(Secret::new("me:hunter2-hunter2")),
        ..settings("http", closed())
    };
    let (_, why) = fails(&config).await;
    assert!(why.contains("unknown user") && !why.contains("hunter2"), "{why}");
    let failure = models_of(&config, None).await.unwrap_err();
    assert!(failure.why.contains("unknown user") && !failure.why.contains("hunter2"), "{}", failure.why);
}

#[test]
fn only_addresses_that_cannot_be_far_are_near() {
    let table = [
        ("http://127.0.0.1:8080/v1", true),
        ("http://localhost:8080/v1", true),
        ("http://[::1]:8080/v1", true),
        ("http://192.168.1.9/v1", true),
        ("http://10.1.2.3/v1", true),
        ("http://[fd00::1]/v1", true),
        ("https://api.openai.com/v1", false),
        ("http://8.8.8.8/v1", false),
        ("http://192.168.1.9.evil.example/v1", false),
        ("http://172.32.0.1/v1", false),
        ("nonsense", false),
    ];
    for (address, near) in table {
        assert_eq!(is_near(address), near, "{address}");
    }
}
