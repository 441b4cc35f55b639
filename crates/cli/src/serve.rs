//! `--serve`: the metrics of a measurement or a watch so far over HTTP, for Prometheus.
//!
//! One thread of ordinary priority serves all clients at once: one that asks nothing, or takes no answer, keeps no other
//! waiting. It never reads what a measuring thread writes: the controlling thread leaves the metrics of each second here.

mod accept;
mod client;
mod respond;

use anyhow::{Context, Result};
use client::{Client, State};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, PipeReader, PipeWriter};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;
use whylate_base::{CpuSet, Tid};
use whylate_metrics::Family;

/// More clients at once are none: the one that has been here longest goes for the next.
const MOST_CLIENTS: usize = 64;

/// Serves until it is dropped.
pub(crate) struct Server {
    families: Arc<Mutex<Arc<[Family]>>>,
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
        let families = Arc::new(Mutex::new(Arc::from([])));
        let served = Arc::clone(&families);
        let measured = measured.cloned().unwrap_or_default();
        let serve = move || {
            keep_off(&measured);
            let mut clients: Vec<Client> = Vec::new();
            while let Some(comes) = wait(&listener, &ended, &clients) {
                // A client that failed is no reason to end.
                if comes
                    && let Some(client) = listener.accept().ok().and_then(|(stream, _)| Client::new(stream))
                {
                    if clients.len() >= MOST_CLIENTS {
                        clients.remove(0);
                    }
                    clients.push(client);
                }
                let metrics = || Arc::clone(&served.lock().unwrap_or_else(PoisonError::into_inner));
                clients.retain_mut(|client| client.go_on(&metrics) != State::Done);
            }
        };
        let thread = std::thread::Builder::new().name("metrics".into()).spawn(serve);
        let thread = Some(thread.context("cannot start a thread")?);
        Ok(Server { families, address, stop: Some(stop), thread })
    }

    /// Where it listens: with port 0 the kernel chose one.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What is served from now on.
    pub(crate) fn publish(&self, families: Vec<Family>) {
        *self.families.lock().unwrap_or_else(PoisonError::into_inner) = families.into();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // It ends at once; a panic of its own has been printed.
            let _ = thread.join();
        }
    }
}

/// Confines the calling thread, where that is possible.
fn keep_off(measured: &CpuSet) {
    let Ok(allowed) = whylate_sys::getaffinity(Tid(0)) else { return };
    let rest: CpuSet = allowed.iter().filter(|&cpu| !measured.contains(cpu)).collect();
    if !rest.is_empty() {
        let _ = whylate_sys::setaffinity(Tid(0), &rest);
    }
}

/// Waits until there is something to do, and shows whether a new client comes; `None` when it is time to end.
fn wait(listener: &TcpListener, ended: &PipeReader, clients: &[Client]) -> Option<bool> {
    let mut all = vec![PollFd::new(listener, PollFlags::IN), PollFd::new(ended, PollFlags::IN)];
    all.extend(clients.iter().map(|client| PollFd::new(client, client.awaits())));
    let until = clients.iter().map(Client::until).min();
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    let left = left.and_then(|left| Timespec::try_from(left).ok());
    match poll(&mut all, left.as_ref()) {
        Ok(_) if !all[1].revents().is_empty() => None,
        Ok(_) => Some(!all[0].revents().is_empty()),
        Err(rustix::io::Errno::INTR) => Some(false),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::client::MOST_BYTES;
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use whylate_base::Ns;
    use whylate_metrics::Sample;
    use whylate_stats::Histogram;

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
        let histogram: Histogram = [Ns(7)].into_iter().collect();
        server.publish(vec![Family::histogram("x_seconds", "X", Sample::alone(histogram))]);
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

    /// More of them than are let in: were each waited for, it would take minutes.
    #[test]
    fn silent_clients_keep_no_other_waiting() {
        let server = server();
        let silent: Vec<TcpStream> =
            (0..2 * MOST_CLIENTS).map(|_| TcpStream::connect(server.address()).expect("connected")).collect();
        let mut half = TcpStream::connect(server.address()).expect("connected");
        half.write_all(b"GET /metr").expect("sent");
        for _ in 0..20 {
            assert!(ask(&server, b"GET /metrics HTTP/1.1\r\n\r\n").contains("# EOF"));
        }
        half.write_all(b"ics HTTP/1.1\r\n\r\n").expect("sent");
        let mut answer = String::new();
        half.read_to_string(&mut answer).expect("an answer");
        assert!(answer.contains("# EOF"), "{answer}");
        drop(silent);
    }

    #[test]
    fn its_port_is_free_when_it_has_ended() {
        let server = server();
        let address = server.address();
        drop(server);
        assert!(TcpStream::connect(address).is_err());
    }
}
