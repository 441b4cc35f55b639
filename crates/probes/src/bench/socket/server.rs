//! The other end: it reads each message and replies.

use super::message::{BUSY_POLL_US, LENGTH, REPLY, Service};
use crate::bench::BenchError;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Acquire};
use std::time::Duration;
use whylate_base::{CpuSet, Tid};
use whylate_sys::{set_busy_poll, set_quick_ack, setaffinity};

/// How often a server looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);
/// Connections at a time: more are no bench.
const CONNECTIONS: usize = 64;

/// A server's sockets, of TCP and UDP with one port.
pub(super) struct Server {
    listener: TcpListener,
    datagrams: UdpSocket,
    pub(super) address: SocketAddr,
}

impl Server {
    /// Listens at an address; with port 0 at a free one.
    pub(super) fn listen(address: SocketAddr) -> Result<Server, BenchError> {
        let refused = |error| BenchError::io(format!("listen at {address}"), error);
        let listener = TcpListener::bind(address).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let datagrams = UdpSocket::bind(address).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        datagrams.set_read_timeout(Some(LOOK)).map_err(refused)?;
        Ok(Server { listener, datagrams, address })
    }

    /// Serves until `stop`, on threads that run on `cpus`. Threads of connections end when their clients do.
    pub(super) fn run(self, cpus: &CpuSet, stop: &Arc<AtomicBool>) -> Result<(), BenchError> {
        // A CPU that went offline: then it serves where it can.
        let _ = setaffinity(Tid(0), cpus);
        let (datagrams, stopped) = (self.datagrams, Arc::clone(stop));
        spawn("bench-udp", move || answer_datagrams(&datagrams, &stopped))?;
        let connections = Arc::new(());
        while !stop.load(Acquire) {
            match self.listener.accept() {
                Ok((stream, _)) if Arc::strong_count(&connections) <= CONNECTIONS => {
                    let counted = Arc::clone(&connections);
                    spawn("bench-tcp", move || {
                        // It ends with its client, however that ends.
                        let _ = answer(stream);
                        drop(counted);
                    })?;
                }
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => std::thread::sleep(LOOK / 10),
                Err(error) => return Err(BenchError::io("accept a connection", error)),
            }
        }
        Ok(())
    }
}

/// Serves benches of other machines at `address` until `stop`. `listening` gets the address with its port.
///
/// # Errors
/// When the address cannot be used.
pub fn serve(
    address: SocketAddr,
    stop: &Arc<AtomicBool>,
    listening: impl FnOnce(SocketAddr),
) -> Result<(), BenchError> {
    let server = Server::listen(address)?;
    listening(server.address);
    server.run(&whylate_sys::getaffinity(Tid(0))?, stop)
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), BenchError> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map(drop).map_err(|error| BenchError::io("create a thread of the server", error))
}

fn answer_datagrams(socket: &UdpSocket, stop: &AtomicBool) {
    let mut message = [0; LENGTH];
    while !stop.load(Acquire) {
        // Without one it is a timeout; a refusal of the reply is the client's end.
        if let Ok((length, from)) = socket.recv_from(&mut message) {
            let _ = socket.send_to(&message[..length.min(REPLY)], from);
        }
    }
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    // Of a client that sends nothing at all.
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut first = [0];
    stream.read_exact(&mut first)?;
    let Some(service) = Service::of_byte(first[0]) else { return Ok(()) };
    let refused = |error: whylate_sys::SysError| std::io::Error::from_raw_os_error(error.errno());
    if service == Service::BusyPoll {
        set_busy_poll(&stream, BUSY_POLL_US).map_err(refused)?;
    }
    let (mut message, mut have) = ([0; LENGTH], 0);
    loop {
        if service == Service::QuickAck {
            set_quick_ack(&stream).map_err(refused)?;
        }
        match stream.read(&mut message[have..])? {
            0 => return Ok(()),
            length => have += length,
        }
        if have == LENGTH {
            stream.write_all(&message[..REPLY])?;
            have = 0;
        }
    }
}
