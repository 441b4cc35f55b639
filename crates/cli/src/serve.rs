//! `measure --serve`: the measurement so far over HTTP, for Prometheus.
//!
//! One thread of ordinary priority serves one request after the other. It never reads what a measuring thread
//! writes: the controlling thread leaves the text of each second here.

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use whylate_base::{CpuSet, Tid};
use whylate_export::latencies::{self, Form};
use whylate_stats::Run;

/// Longer requests are none.
const MOST_BYTES: usize = 8 << 10;
/// A client that takes longer to ask, or to take the answer, is disconnected.
const PATIENCE: Duration = Duration::from_secs(2);

const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// Serves until it is dropped.
pub(crate) struct Server {
    text: Arc<Mutex<Arc<[u8]>>>,
    address: SocketAddr,
    /// Its end is what the thread ends by.
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens, and serves a measurement without samples at first. The thread keeps off the `measured` CPUs where
    /// there are others.
    pub(crate) fn start(address: SocketAddr, measured: Option<&CpuSet>) -> Result<Server> {
        let listener = TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
        let address = listener.local_addr().context("the socket has no address")?;
        // A client that is gone before it is accepted must not block the thread.
        listener.set_nonblocking(true).context("cannot listen without blocking")?;
        let (ended, stop) = io::pipe().context("cannot make a pipe")?;
        let text = Arc::new(Mutex::new(text(&Run::default())));
        let served = Arc::clone(&text);
        let measured = measured.cloned().unwrap_or_default();
        let serve = move || {
            keep_off(&measured);
            while wait(&listener, &ended) {
                // A client that failed is no reason to end.
                if let Ok((stream, _)) = listener.accept() {
                    let text = Arc::clone(&served.lock().unwrap_or_else(PoisonError::into_inner));
                    let _ = answer(stream, &text);
                }
            }
        };
        let thread = std::thread::Builder::new().name("metrics".into()).spawn(serve);
        let thread = Some(thread.context("cannot start a thread")?);
        Ok(Server { text, address, stop: Some(stop), thread })
    }

    /// Where it listens: with port 0 the kernel chose one.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What is served from now on.
    pub(crate) fn publish(&self, run: &Run) {
        let text = text(run);
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // It ends within the patience for its last client; a panic of its own has been printed.
            let _ = thread.join();
        }
    }
}

fn text(run: &Run) -> Arc<[u8]> {
    let mut text = Vec::new();
    // Memory takes everything.
    let _ = latencies::write(run, Form::Metrics, &mut text);
    text.into()
}

/// Confines the calling thread, where that is possible.
fn keep_off(measured: &CpuSet) {
    let Ok(allowed) = whylate_sys::getaffinity(Tid(0)) else { return };
    let rest: CpuSet = allowed.iter().filter(|&cpu| !measured.contains(cpu)).collect();
    if !rest.is_empty() {
        let _ = whylate_sys::setaffinity(Tid(0), &rest);
    }
}

/// Waits for a client; false when it is time to end.
fn wait(listener: &TcpListener, ended: &PipeReader) -> bool {
    loop {
        let mut both = [PollFd::new(listener, PollFlags::IN), PollFd::new(ended, PollFlags::IN)];
        match poll(&mut both, None) {
            Ok(_) if !both[1].revents().is_empty() => return false,
            Ok(_) if !both[0].revents().is_empty() => return true,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

fn answer(mut stream: TcpStream, metrics: &[u8]) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = head(&mut stream)?;
    let (with_body, answer) = respond(&request, metrics);
    let Answer { status, kind, body } = answer;
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    if with_body {
        stream.write_all(body)?;
    }
    stream.shutdown(std::net::Shutdown::Write)
}

/// A request up to its empty line, or as much of it as there is.
fn head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let until = Instant::now() + PATIENCE;
    let mut request = Vec::new();
    let mut piece = [0; 1024];
    while request.len() < MOST_BYTES && !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut piece)? {
            0 => break,
            read => request.extend_from_slice(&piece[..read]),
        }
    }
    Ok(request)
}

struct Answer<'a> {
    status: &'static str,
    kind: &'static str,
    body: &'a [u8],
}

/// The answer to a request, and whether its body is wanted.
fn respond<'a>(request: &[u8], metrics: &'a [u8]) -> (bool, Answer<'a>) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Ns;
    use whylate_stats::Measured;

    fn server() -> Server {
        Server::start(SocketAddr::from(([127, 0, 0, 1], 0)), None).expect("a port of the loopback")
    }

    fn ask(server: &Server, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(server.address()).expect("connected");
        // What is too long is answered before it is read.
        let _ = stream.write_all(request);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[test]
    fn what_was_published_last_is_served() {
        let server = server();
        let get = || ask(&server, b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
        let first = get();
        assert!(
            first.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text"),
            "{first}"
        );
        assert!(first.ends_with("# EOF\n") && !first.contains("_bucket"), "{first}");
        let thread = Measured {
            name: "CPU 0".into(),
            histogram: [Ns(7)].into_iter().collect(),
            ..Measured::default()
        };
        server.publish(&Run { threads: vec![thread], ..Run::default() });
        assert!(get().contains("le=\"+Inf\"} 1\n"));
    }

    #[test]
    fn whatever_is_asked_it_goes_on() {
        let server = server();
        let long = [b"GET /metrics HTTP/1.1\r\nX: ".as_slice(), &[b'x'; 2 * MOST_BYTES]].concat();
        for (request, status) in [
            (b"GET / HTTP/1.1\r\n\r\n".as_slice(), "200"),
            (b"GET /metrics?x=1 HTTP/1.0\r\n\r\n", "200"),
            (b"GET /etc/passwd HTTP/1.1\r\n\r\n", "404"),
            (b"POST /metrics HTTP/1.1\r\n\r\n", "405"),
            (b"GET /metrics HTTP/1.1\r\n", "400"),
            (b"\x16\x03\x01\x02\x00\r\n\r\n", "400"),
            (b"", "400"),
        ] {
            let answer = ask(&server, request);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request:?}: {answer}");
        }
        ask(&server, &long);
        let head = ask(&server, b"HEAD /metrics HTTP/1.1\r\n\r\n");
        assert!(head.ends_with("\r\n\r\n") && !head.contains("Content-Length: 0"), "{head}");
        drop(TcpStream::connect(server.address()));
        assert!(ask(&server, b"GET /metrics HTTP/1.1\r\n\r\n").contains("# EOF"));
    }

    #[test]
    fn its_port_is_free_when_it_has_ended() {
        let server = server();
        let address = server.address();
        drop(server);
        assert!(TcpStream::connect(address).is_err());
    }
}
