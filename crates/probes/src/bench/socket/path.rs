//! The ways between two ends: loopback, a veth pair between two network namespaces, a peer.

use super::sender::{Means, Sender, answer_unix};
use super::server::Server;
use crate::bench::case::Case;
use crate::bench::rounds::{self, Outcome};
use crate::bench::{BenchError, PerOperation};
use crate::histogram::LiveHistogram;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Release};
use std::sync::mpsc::{Receiver, Sender as ChannelSender, channel};
use whylate_base::{Cpu, CpuSet, Ns};
use whylate_sys::{create_veth, current_cpu, enter_network_namespace, set_address};

pub(super) const LOOPBACK: &str = "loopback";
const NAMESPACES: &str = "namespaces";
const PEER: &str = "peer";
/// A plain message may take 40 ms: the row has so many times as long as others, and no more than ten seconds.
const PLAIN_SHARE: u32 = 6;
const PLAIN_MOST: Ns = Ns::from_secs(10);
/// Addresses for documentation (RFC 5737), in namespaces that nothing else is in.
const CLIENT: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);

/// The name of a row.
pub(super) fn row_name(path: &str, means: &str) -> String {
    format!("{path}: {means}")
}

/// Over the loopback device, and by Unix sockets.
pub(super) fn loopback(cpus: &CpuSet, time: Ns, stop: &AtomicBool, outcome: &mut Outcome) {
    let ended = Arc::new(AtomicBool::new(false));
    match local_server(cpus, &ended) {
        Ok(address) => outcome.add(measure(LOOPBACK, address, Some(cpus), time, stop)),
        Err(error) => outcome.skip(LOOPBACK, &error),
    }
    ended.store(true, Release);
}

fn local_server(cpus: &CpuSet, ended: &Arc<AtomicBool>) -> Result<SocketAddr, BenchError> {
    let server = Server::listen((Ipv4Addr::LOCALHOST, 0).into())?;
    let (address, cpus, ended) = (server.address, others(cpus), Arc::clone(ended));
    spawn("bench-server", move || server.run(&cpus, &ended))?;
    Ok(address)
}

/// To a server on another machine.
pub(super) fn peer(
    address: SocketAddr,
    time: Ns,
    stop: &AtomicBool,
    outcome: &mut Outcome,
) -> Result<(), BenchError> {
    // Without a server all rows would be skipped for one reason.
    Sender::tcp(address, Means::Plain)?;
    outcome.add(measure(PEER, address, None, time, stop));
    Ok(())
}

/// Between two threads, each in a network namespace of its own, which ends with it.
pub(super) fn namespaces(cpus: &CpuSet, time: Ns, stop: &AtomicBool, outcome: &mut Outcome) {
    let ended = Arc::new(AtomicBool::new(false));
    let own = CpuSet::from_iter([current_cpu()]);
    let measured = std::thread::scope(|scope| {
        let client = std::thread::Builder::new().name("bench-client".into());
        let client = client.spawn_scoped(scope, || {
            // The measuring thread's CPU, also where the server's thread has changed the mask since.
            whylate_sys::setaffinity(whylate_base::Tid(0), &own)?;
            let address = pair(cpus, &ended)?;
            Ok(measure(NAMESPACES, address, None, time, stop))
        });
        let client = client.map_err(|error| BenchError::io("create a thread", error))?;
        client
            .join()
            .unwrap_or_else(|_| Err(BenchError::Thread("the client's thread ended early".to_owned())))
    });
    ended.store(true, Release);
    match measured {
        Ok(measured) => outcome.add(measured),
        Err(BenchError::Sys(error)) if error.is_permission() => {
            outcome
                .skip(NAMESPACES, &BenchError::Unavailable(format!("{error}: network namespaces need root")));
        }
        Err(error) => outcome.skip(NAMESPACES, &error),
    }
}

/// What the server's thread reports: its namespace, then its address.
enum Step {
    Entered(OwnedFd),
    Listening(SocketAddr),
}

/// Puts the calling thread into a namespace, and a server into another one with a device to it; gives its address.
fn pair(cpus: &CpuSet, ended: &Arc<AtomicBool>) -> Result<SocketAddr, BenchError> {
    enter_network_namespace()?;
    let (steps, from_server) = channel();
    let (created, wait_for_device) = channel();
    let (cpus, ended) = (others(cpus), Arc::clone(ended));
    spawn("bench-server", move || in_namespace(&cpus, &ended, &steps, &wait_for_device))?;
    let ended_early = |_| BenchError::Thread("the server's thread ended early".to_owned());
    let Step::Entered(namespace) = from_server.recv().map_err(ended_early)?? else {
        return Err(BenchError::Thread("the server did not enter a namespace".to_owned()));
    };
    create_veth("bench0", "bench1", &namespace)?;
    set_address("bench0", CLIENT)?;
    // It reports the reason if it has ended.
    let _ = created.send(());
    match from_server.recv().map_err(ended_early)?? {
        Step::Listening(address) => Ok(address),
        Step::Entered(_) => Err(BenchError::Thread("the server does not listen".to_owned())),
    }
}

fn in_namespace(
    cpus: &CpuSet,
    ended: &Arc<AtomicBool>,
    steps: &ChannelSender<Result<Step, BenchError>>,
    wait_for_device: &Receiver<()>,
) -> Result<(), BenchError> {
    let entered = enter_network_namespace().map(Step::Entered).map_err(BenchError::from);
    let is_entered = entered.is_ok();
    if steps.send(entered).is_err() || !is_entered || wait_for_device.recv().is_err() {
        return Ok(());
    }
    let server = set_address("bench1", SERVER)
        .map_err(BenchError::from)
        .and_then(|()| Server::listen((SERVER, 0).into()));
    match server {
        Ok(server) => {
            let _ = steps.send(Ok(Step::Listening(server.address)));
            server.run(cpus, ended)
        }
        Err(error) => {
            let _ = steps.send(Err(error));
            Ok(())
        }
    }
}

/// All ways to send to one server. With `unix`, Unix sockets as well, whose other end runs on others of those CPUs.
fn measure(path: &str, address: SocketAddr, unix: Option<&CpuSet>, time: Ns, stop: &AtomicBool) -> Outcome {
    let mut outcome = Outcome::default();
    let mut cases = Vec::new();
    let mut sending = Vec::new();
    let mut add = |name: String, sender: Result<Sender, BenchError>, share, most| match sender {
        Ok(mut sender) => {
            let sent = Rc::new(LiveHistogram::new());
            sending.push((name.clone(), Rc::clone(&sent)));
            let case = Case::new(group(path), name, move |messages| sender.round_trips(messages, &sent));
            cases.push(case.at_most(1).with_share(share, most));
        }
        Err(error) => outcome.skip(&name, &error),
    };
    for means in Means::ALL {
        let (share, most) = if means == Means::Plain { (PLAIN_SHARE, Some(PLAIN_MOST)) } else { (1, None) };
        add(row_name(path, means.name()), Sender::tcp(address, means), share, most);
    }
    add(row_name(path, "UDP, one datagram"), Sender::udp(address), 1, None);
    if let Some(cpus) = unix {
        for (name, is_whole) in [("Unix stream", false), ("Unix stream, one write", true)] {
            add(row_name("unix", name), unix_sender(cpus, is_whole), 1, None);
        }
    }
    let mut measured = rounds::run(cases, time, stop);
    for row in &mut measured.rows {
        let sent = sending.iter().find(|(name, _)| *name == row.name);
        row.sending = sent.and_then(|(_, sent)| PerOperation::of(&sent.snapshot(), 1));
    }
    outcome.add(measured);
    outcome
}

fn group(path: &str) -> &'static str {
    match path {
        LOOPBACK => "loopback",
        NAMESPACES => "veth pair between network namespaces",
        _ => "peer",
    }
}

fn unix_sender(cpus: &CpuSet, is_whole: bool) -> Result<Sender, BenchError> {
    let (own, other) =
        UnixStream::pair().map_err(|error| BenchError::io("create a pair of Unix sockets", error))?;
    let cpus = others(cpus);
    spawn("bench-unix", move || {
        // A CPU that went offline: then it answers where it can.
        let _ = whylate_sys::setaffinity(whylate_base::Tid(0), &cpus);
        answer_unix(other);
        Ok(())
    })?;
    Sender::unix(own, is_whole)
}

/// The CPUs without that of the measuring thread, where there is another one.
fn others(cpus: &CpuSet) -> CpuSet {
    let own: Cpu = current_cpu();
    let others = cpus.without(&CpuSet::from_iter([own]));
    if others.is_empty() { cpus.clone() } else { others }
}

/// A thread that ends by itself when its clients have ended; the clients report what fails.
fn spawn(
    name: &str,
    work: impl FnOnce() -> Result<(), BenchError> + Send + 'static,
) -> Result<(), BenchError> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        let _ = work();
    });
    thread.map(drop).map_err(|error| BenchError::io("create a thread", error))
}
