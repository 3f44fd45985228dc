//! Strangers at the port of a viewer: other hosts, other pages, wrong tokens, garbage, and clients that sleep or vanish.

use crate::page::{Frame, open};
use compiler::view::{Server, Viewer};
use serde_json::{Value, json};
use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
    time::Duration,
};
use tungstenite::{Message, WebSocket, client::IntoClientRequest, http::HeaderValue};

const PROGRAM: &str = "#version 2.0
input real a = 1;
strand s (int row, int col) { output vec3 rgb = [a, row, col]; update { stabilize; } }
create_array { s(row, col) | row in 0..299, col in 0..299 }";

/// A server, its port and its token.
fn serve(name: &str) -> (Arc<Viewer>, Server, u16, String) {
    let (viewer, page, _) = open(name, PROGRAM);
    page.close();
    let server = Server::start(Arc::clone(&viewer), 0).expect("a port");
    let address = server.address();
    let (host, token) = address.split_once("/#").expect("a token");
    let port = host.rsplit(':').next().and_then(|port| port.parse().ok());
    (viewer, server, port.expect("a port"), token.to_string())
}

/// The answer to bytes.
fn answer(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a timeout");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn status(port: u16, request: &str) -> String {
    let answer = answer(port, request);
    answer.split(' ').nth(1).unwrap_or("closed").to_string()
}

/// A socket from a page of an origin.
fn socket(port: u16, origin: &str) -> Option<WebSocket<TcpStream>> {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a timeout");
    let mut request = format!("ws://127.0.0.1:{port}/socket")
        .into_client_request()
        .expect("a request");
    let origin = HeaderValue::from_str(origin).expect("an origin");
    request.headers_mut().insert("Origin", origin);
    tungstenite::client(request, stream)
        .ok()
        .map(|(socket, _)| socket)
}

fn greet(socket: &mut WebSocket<TcpStream>, token: &str) {
    let hello = json!({ "type": "hello", "token": token });
    socket.send(Message::text(hello.to_string())).expect("sent");
}

/// The final picture after the token.
fn picture(port: u16, token: &str) -> Frame {
    let mut socket = socket(port, &format!("http://localhost:{port}")).expect("a socket");
    greet(&mut socket, token);
    loop {
        if let Message::Binary(bytes) = socket.read().expect("a message") {
            let frame = Frame::read(&bytes);
            let shown = json!({ "type": "shown", "frame": frame.header["frame"] });
            socket.send(Message::text(shown.to_string())).expect("sent");
            if frame.is_final() {
                return frame;
            }
        }
    }
}

#[test]
fn only_this_machine_is_served_and_only_its_own_page() {
    let (_viewer, _server, port, _) = serve("hosts");
    let get = |path: &str, host: &str| format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    for host in ["127.0.0.1", "localhost", "[::1]"] {
        let page = answer(port, &get("/", &format!("{host}:{port}")));
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        assert!(
            page.contains("Content-Security-Policy: default-src 'self'"),
            "{page}"
        );
    }
    let own = format!("localhost:{port}");
    for host in [
        "evil.example".to_string(),
        format!("evil.example:{port}"),
        "localhost".to_string(),
        format!("localhost:{}", port ^ 1),
        format!("localhost:{port}.evil.example"),
        String::new(),
    ] {
        assert_eq!(status(port, &get("/", &host)), "403", "{host}");
    }
    assert_eq!(status(port, "GET / HTTP/1.1\r\n\r\n"), "400");
    let twice = format!("GET / HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\n\r\n");
    assert_eq!(status(port, &twice), "400");
    for path in [
        "/etc/passwd",
        "/../Cargo.toml",
        "//",
        "/index.html/",
        "/socket2",
    ] {
        assert_eq!(status(port, &get(path, &own)), "404", "{path}");
    }
    assert_eq!(
        status(port, &format!("POST / HTTP/1.1\r\nHost: {own}\r\n\r\n")),
        "405"
    );
    assert_eq!(status(port, &get("/socket", &own)), "400");
}

#[test]
fn a_socket_needs_an_own_origin_and_the_token() {
    let (_viewer, _server, port, token) = serve("tokens");
    for origin in [
        "http://evil.example",
        "null",
        &format!("https://localhost:{port}"),
        "http://localhost",
    ] {
        assert!(socket(port, origin).is_none(), "{origin}");
    }
    let own = format!("http://127.0.0.1:{port}");
    let wrong = [
        String::new(),
        token[1..].to_string(),
        token.to_uppercase() + "0",
        token.chars().rev().collect(),
    ];
    for wrong in wrong.into_iter().filter(|wrong| *wrong != token) {
        let mut socket = socket(port, &own).expect("a socket");
        greet(&mut socket, &wrong);
        assert!(!matches!(
            socket.read(),
            Ok(Message::Text(_) | Message::Binary(_))
        ));
    }
    // Messages before the token are not heard.
    let mut early = socket(port, &own).expect("a socket");
    let set = json!({ "type": "set", "id": 1, "inputs": { "a": 9 } });
    early.send(Message::text(set.to_string())).expect("sent");
    assert!(!matches!(
        early.read(),
        Ok(Message::Text(_) | Message::Binary(_))
    ));
    assert_eq!(picture(port, &token).numbers()[0], 1.0);
}

#[test]
fn the_port_is_on_the_loopback_address_and_free_after_the_end() {
    let (_viewer, server, port, _) = serve("port");
    // Another address of this machine, if it has one: a connection without a packet tells it.
    let probe = std::net::UdpSocket::bind("0.0.0.0:0").expect("a socket");
    if probe.connect("192.0.2.1:9").is_ok()
        && let Ok(own) = probe.local_addr()
        && !own.ip().is_loopback()
    {
        let other = (own.ip(), port).into();
        let reached = TcpStream::connect_timeout(&other, Duration::from_secs(2));
        assert!(reached.is_err(), "{other} is served");
    }
    drop(server);
    std::net::TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
}

#[test]
fn garbage_sleep_and_sudden_ends_disturb_nobody() {
    let (_viewer, _server, port, token) = serve("garbage");
    for request in [
        "",
        "\r\n\r\n",
        "GET",
        "\0\0\0\0",
        "GET / HTTP/9.9\r\n\r\n",
        "🦀\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        let _ = stream.write_all(request.as_bytes());
        drop(stream);
    }
    let long = format!(
        "GET / HTTP/1.1\r\nHost: localhost:{port}\r\nX: {}\r\n\r\n",
        "x".repeat(1 << 17)
    );
    assert_eq!(status(port, &long), "400");
    let own = format!("http://localhost:{port}");
    // Clients that take nothing.
    let mut sleepers: Vec<_> = (0..5)
        .map(|_| socket(port, &own).expect("a socket"))
        .collect();
    sleepers.iter_mut().for_each(|socket| greet(socket, &token));
    for n in 0..20 {
        let mut socket = socket(port, &own).expect("a socket");
        greet(&mut socket, &token);
        let kind = ["set", "run", "show", "x"][n % 4];
        let garbage: Value = json!({ "type": kind, "inputs": n });
        let _ = socket.send(Message::text(garbage.to_string()));
        let _ = socket.send(Message::binary(vec![n as u8; 1000]));
        let _ = socket.send(Message::Ping(vec![1; 100].into()));
        if n % 2 == 0 {
            // A message that is too long ends the connection.
            let _ = socket.send(Message::text("x".repeat(3 << 20)));
        }
        // Gone in the middle of a picture.
        let _ = socket.read();
        drop(socket);
    }
    let set = json!({ "type": "set", "id": 7, "inputs": { "a": 3 } });
    let mut last = socket(port, &own).expect("a socket");
    greet(&mut last, &token);
    last.send(Message::text(set.to_string())).expect("sent");
    loop {
        let frame = picture(port, &token);
        if frame.header["set"] == 7 {
            assert_eq!(frame.numbers()[0], 3.0);
            return;
        }
    }
}
