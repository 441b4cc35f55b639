//! Answers to requests.

const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

struct Answer<'a> {
    status: &'static str,
    kind: &'static str,
    body: &'a [u8],
}

/// The bytes that answer a request.
pub(super) fn respond(request: &[u8], metrics: &[u8]) -> Vec<u8> {
    let (with_body, Answer { status, kind, body }) = answer(request, metrics);
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    [head.as_bytes(), if with_body { body } else { &[] }].concat()
}

/// The answer to a request, and whether its body is wanted.
fn answer<'a>(request: &[u8], metrics: &'a [u8]) -> (bool, Answer<'a>) {
    let plain = |status, body: &'static str| Answer { status, kind: PLAIN, body: body.as_bytes() };
    let line = request.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let mut words = line.split(' ');
    let (method, target, version) = (words.next(), words.next(), words.next());
    let is_http = version.is_some_and(|version| version.starts_with("HTTP/1.")) && words.next().is_none();
    let whole = request.windows(4).any(|end| end == b"\r\n\r\n");
    let (Some(method), Some(target), true, true) = (method, target, is_http, whole) else {
        return (true, plain("400 Bad Request", "This is no HTTP request.\n"));
    };
    let path = target.split('?').next().unwrap_or_default();
    let answer = match (method, path) {
        ("GET" | "HEAD", "/metrics") => Answer { status: "200 OK", kind: METRICS, body: metrics },
        ("GET" | "HEAD", "/") => plain("200 OK", "whylate measure: the measurement so far is at /metrics.\n"),
        ("GET" | "HEAD", _) => {
            plain("404 Not Found", "There is nothing here; the measurement is at /metrics.\n")
        }
        _ => plain("405 Method Not Allowed", "It can only be read: GET /metrics.\n"),
    };
    (method != "HEAD", answer)
}
