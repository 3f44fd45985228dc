//! The page and its socket on a port of this machine.
//!
//! The server listens on the loopback address only. A request must name this machine as its host, so that other names cannot be bound to it;
//! a socket must come from a page of this server, and its first message must have the token that only the owner of the process knows.

use super::{
    Message, Viewer,
    outbox::Outbox,
    page,
    protocol::{Incoming, binary},
};
use runtime::output::format::FileFormat;
use serde_json::json;
use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::Duration,
};
use tungstenite::{
    Message as Frame, WebSocket,
    handshake::derive_accept_key,
    protocol::{Role, WebSocketConfig},
};

/// The longest head of a request.
const MOST_HEAD: usize = 16 << 10;
/// The longest message of a page.
const MOST_MESSAGE: usize = 1 << 20;
/// Connections at a time.
const MOST_CONNECTIONS: usize = 64;
/// The time for a request or a token to come.
const GREETING: Duration = Duration::from_secs(10);
/// The time after which a page that takes nothing is given up.
const STALLED: Duration = Duration::from_secs(30);

/// A server of a viewer. Its port is free when it is dropped.
pub struct Server {
    port: u16,
    token: String,
    is_over: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

/// What all connections share.
struct Site {
    viewer: Arc<Viewer>,
    port: u16,
    token: String,
    connections: AtomicUsize,
}

impl Server {
    /// Serves a viewer on a port of this machine; 0 means any that is free.
    ///
    /// # Errors
    /// The port is taken, or the system gives no random numbers.
    pub fn start(viewer: Arc<Viewer>, port: u16) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let token = token()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let site = Arc::new(Site {
            viewer,
            port,
            token: token.clone(),
            connections: AtomicUsize::new(0),
        });
        let ended = Arc::clone(&is_over);
        let accepting = thread::spawn(move || accept(&listener, &site, &ended));
        Ok(Server {
            port,
            token,
            is_over,
            accepting: Some(accepting),
        })
    }

    /// The address of the page, with the token.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/#{}", self.port, self.token)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Relaxed);
        // A last connection wakes the thread that waits for one.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

/// 128 random bits.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn accept(listener: &TcpListener, site: &Arc<Site>, is_over: &AtomicBool) {
    for stream in listener.incoming() {
        if is_over.load(Relaxed) {
            return;
        }
        let Ok(stream) = stream else {
            // There may be too many open files for a moment.
            thread::sleep(Duration::from_millis(10));
            continue;
        };
        if site.connections.fetch_add(1, Relaxed) >= MOST_CONNECTIONS {
            site.connections.fetch_sub(1, Relaxed);
            continue;
        }
        let site = Arc::clone(site);
        thread::spawn(move || {
            // A connection that breaks is the browser's business.
            let _ = answer(stream, &site);
            site.connections.fetch_sub(1, Relaxed);
        });
    }
}

/// Answers one request: a file of the page, or a socket.
fn answer(mut stream: TcpStream, site: &Arc<Site>) -> io::Result<()> {
    stream.set_read_timeout(Some(GREETING))?;
    stream.set_write_timeout(Some(STALLED))?;
    stream.set_nodelay(true)?;
    let Some(head) = read_head(&mut stream)? else {
        return refuse(&mut stream, "400 Bad Request");
    };
    let Some(request) = Request::parse(&head) else {
        return refuse(&mut stream, "400 Bad Request");
    };
    if !site.is_own_host(&request.host) {
        return refuse(&mut stream, "403 Forbidden");
    }
    if request.method != "GET" {
        return refuse(&mut stream, "405 Method Not Allowed");
    }
    if request.path == "/socket" {
        let Some(key) = request.key.filter(|_| request.upgrades) else {
            return refuse(&mut stream, "400 Bad Request");
        };
        let origin = request
            .origin
            .as_deref()
            .and_then(|o| o.strip_prefix("http://"));
        if !origin.is_some_and(|host| site.is_own_host(host)) {
            return refuse(&mut stream, "403 Forbidden");
        }
        let accepted = derive_accept_key(key.as_bytes());
        write!(
            stream,
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accepted}\r\n\r\n"
        )?;
        return converse(stream, site);
    }
    match page::file(&request.path) {
        Some(file) => respond(&mut stream, "200 OK", file.kind, file.contents, site.port),
        None => refuse(&mut stream, "404 Not Found"),
    }
}

/// The head of a request; nothing if it is too long or ends early.
fn read_head(stream: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut piece)?;
        if count == 0 || head.len() + count > MOST_HEAD {
            return Ok(None);
        }
        head.extend(&piece[..count]);
    }
    Ok(Some(head))
}

/// The parts of a request that matter here.
#[derive(Debug, Default)]
struct Request {
    method: String,
    path: String,
    host: String,
    origin: Option<String>,
    upgrades: bool,
    key: Option<String>,
}

impl Request {
    fn parse(head: &[u8]) -> Option<Request> {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut parsed = httparse::Request::new(&mut headers);
        if !parsed.parse(head).ok()?.is_complete() {
            return None;
        }
        let mut request = Request {
            method: parsed.method?.to_string(),
            path: parsed.path?.split('?').next()?.to_string(),
            ..Request::default()
        };
        let mut hosts = 0;
        for header in parsed.headers.iter() {
            let value = std::str::from_utf8(header.value).ok()?.trim().to_string();
            match header.name.to_ascii_lowercase().as_str() {
                "host" => {
                    hosts += 1;
                    request.host = value;
                }
                "origin" => request.origin = Some(value),
                "upgrade" => request.upgrades = value.eq_ignore_ascii_case("websocket"),
                "sec-websocket-key" => request.key = Some(value),
                _ => {}
            }
        }
        (hosts == 1).then_some(request)
    }
}

impl Site {
    /// Whether a host is this machine with the port of this server.
    fn is_own_host(&self, host: &str) -> bool {
        let names = ["127.0.0.1", "localhost", "[::1]"];
        names
            .iter()
            .any(|name| host == format!("{name}:{}", self.port))
    }

    /// Whether a token is that of this server. The time does not depend on the place of a difference.
    fn is_own_token(&self, token: &str) -> bool {
        let pairs = token.bytes().zip(self.token.bytes());
        let differences = pairs.fold(0, |all, (a, b)| all | (a ^ b));
        token.len() == self.token.len() && differences == 0
    }
}

fn refuse(stream: &mut TcpStream, status: &str) -> io::Result<()> {
    respond(
        stream,
        status,
        "text/plain; charset=utf-8",
        status.as_bytes(),
        0,
    )
}

fn respond(
    stream: &mut TcpStream,
    status: &str,
    kind: &str,
    body: &[u8],
    port: u16,
) -> io::Result<()> {
    let length = body.len();
    let policy = format!(
        "default-src 'self'; img-src 'self' blob: data:; connect-src 'self' ws://127.0.0.1:{port} ws://localhost:{port}; base-uri 'none'; form-action 'none'"
    );
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nContent-Security-Policy: {policy}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
    )?;
    stream.write_all(body)
}

/// A socket for reading. Answers to control frames wait until no message is being written.
struct Shared {
    stream: TcpStream,
    writing: Arc<Mutex<()>>,
}

impl Read for Shared {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.read(bytes)
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Exchanges messages with a page until one side ends.
fn converse(stream: TcpStream, site: &Arc<Site>) -> io::Result<()> {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MOST_MESSAGE))
        .max_frame_size(Some(MOST_MESSAGE));
    let writing = Arc::new(Mutex::new(()));
    let reader = Shared {
        stream: stream.try_clone()?,
        writing: Arc::clone(&writing),
    };
    let mut reader = WebSocket::from_raw_socket(reader, Role::Server, Some(config));
    if !greets(&mut reader, site) {
        let _ = reader.close(None);
        let _ = reader.flush();
        return Ok(());
    }
    stream.set_read_timeout(None)?;
    let page = site.viewer.open();
    let writer = {
        let (stream, page) = (stream.try_clone()?, Arc::clone(&page));
        thread::spawn(move || write_messages(stream, &writing, &page))
    };
    while let Ok(message) = reader.read() {
        match message {
            Frame::Text(text) => site.viewer.receive(&page, text.as_str()),
            Frame::Close(_) => break,
            _ => {}
        }
        if page.is_closed() {
            break;
        }
    }
    site.viewer.close(&page);
    let _ = stream.shutdown(std::net::Shutdown::Both);
    let _ = writer.join();
    Ok(())
}

/// Whether the first message of a page has the token.
fn greets(reader: &mut WebSocket<Shared>, site: &Site) -> bool {
    let Ok(Frame::Text(text)) = reader.read() else {
        return false;
    };
    match serde_json::from_str(text.as_str()) {
        Ok(Incoming::Hello { token }) => site.is_own_token(&token),
        _ => false,
    }
}

/// Sends a page its messages.
fn write_messages(stream: TcpStream, writing: &Mutex<()>, page: &Outbox) {
    let Ok(other) = stream.try_clone() else {
        return;
    };
    let mut writer = WebSocket::from_raw_socket(stream, Role::Server, None);
    while !page.is_closed() {
        let Some(message) = page.next(Duration::from_secs(5)) else {
            continue;
        };
        let frame = match message {
            Message::Text(text) => Frame::text(text),
            Message::Frame(bytes) => Frame::binary(bytes.to_vec()),
            Message::File { name, contents } => Frame::binary(file_message(&name, contents)),
        };
        let _turn = writing.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.send(frame).is_err() {
            page.close();
        }
    }
    // The thread that reads is woken.
    let _ = other.shutdown(std::net::Shutdown::Both);
}

/// A file as a binary message.
pub fn file_message(name: &str, contents: Result<Vec<u8>, String>) -> Vec<u8> {
    let format = name.rsplit('.').next().and_then(FileFormat::named);
    let mime = format.map_or("application/octet-stream", FileFormat::media_type);
    match contents {
        Ok(bytes) => binary(
            &json!({ "type": "file", "name": name, "mime": mime }),
            &bytes,
        ),
        Err(error) => binary(
            &json!({ "type": "file", "name": name, "error": error }),
            &[],
        ),
    }
}
