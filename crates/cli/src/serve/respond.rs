//! Answers to requests.

use super::accept::prefers_protobuf;
use std::borrow::Cow;
use whylate_metrics::{Family, OPEN_METRICS, PROTOBUF, TextFormat, protobuf, text};

const PLAIN: &str = "text/plain; charset=utf-8";

struct Answer {
    status: &'static str,
    kind: &'static str,
    body: Cow<'static, [u8]>,
}

/// The bytes that answer a request.
pub(super) fn respond(request: &[u8], metrics: &[Family]) -> Vec<u8> {
    let (with_body, Answer { status, kind, body }) = answer(request, metrics);
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nVary: Accept\r\nConnection: close\r\n\r\n"
    );
    [head.as_bytes(), if with_body { &body } else { &[] }].concat()
}

/// The answer to a request, and whether its body is wanted.
fn answer(request: &[u8], metrics: &[Family]) -> (bool, Answer) {
    let plain =
        |status, body: &'static str| Answer { status, kind: PLAIN, body: Cow::Borrowed(body.as_bytes()) };
    let text = String::from_utf8_lossy(request);
    let (line, headers) = text.split_once("\r\n").unwrap_or((&text, ""));
    let mut words = line.split(' ');
    let (method, target, version) = (words.next(), words.next(), words.next());
    let is_http = version.is_some_and(|version| version.starts_with("HTTP/1.")) && words.next().is_none();
    let whole = text.contains("\r\n\r\n");
    let (Some(method), Some(target), true, true) = (method, target, is_http, whole) else {
        return (true, plain("400 Bad Request", "This is no HTTP request.\n"));
    };
    let path = target.split('?').next().unwrap_or_default();
    let answer = match (method, path) {
        ("GET" | "HEAD", "/metrics") => of_metrics(headers, metrics),
        ("GET" | "HEAD", "/") => plain("200 OK", "whylate: the metrics are at /metrics.\n"),
        ("GET" | "HEAD", _) => {
            plain("404 Not Found", "There is nothing here; the metrics are at /metrics.\n")
        }
        _ => plain("405 Method Not Allowed", "It can only be read: GET /metrics.\n"),
    };
    (method != "HEAD", answer)
}

/// The metrics in the format that the client prefers.
fn of_metrics(headers: &str, metrics: &[Family]) -> Answer {
    let (kind, body) = match prefers_protobuf(headers) {
        true => (PROTOBUF, protobuf(metrics)),
        false => (OPEN_METRICS, text(metrics, TextFormat::OpenMetrics).into_bytes()),
    };
    Answer { status: "200 OK", kind, body: Cow::Owned(body) }
}
