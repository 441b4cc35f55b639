//! The ways to send a message and wait for the reply.

use super::message::{BUSY_POLL_US, LENGTH, PART, REPLY, Service, WRITES};
use crate::bench::BenchError;
use crate::histogram::LiveHistogram;
use std::fs::File;
use std::io::{self, IoSlice, Read, Seek, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::time::Duration;
use whylate_base::Ns;
use whylate_sys::{Clock, now, set_busy_poll, set_cork};

/// A lost reply ends the row instead of the bench.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How the writes of a TCP message leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    /// No option.
    Plain,
    /// TCP_NODELAY.
    NoDelay,
    /// TCP_CORK around the message.
    Cork,
    /// No option, and a receiver with TCP_QUICKACK.
    QuickAck,
    /// TCP_NODELAY, and SO_BUSY_POLL at both ends.
    BusyPoll,
    /// One writev(2).
    Writev,
    /// A write and a sendfile(2) with TCP_CORK around them.
    Sendfile,
}

impl Means {
    pub(super) const ALL: [Means; 7] = [
        Means::Plain,
        Means::NoDelay,
        Means::Cork,
        Means::QuickAck,
        Means::BusyPoll,
        Means::Writev,
        Means::Sendfile,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Means::Plain => "TCP",
            Means::NoDelay => "TCP_NODELAY",
            Means::Cork => "TCP_CORK",
            Means::QuickAck => "TCP, receiver with TCP_QUICKACK",
            Means::BusyPoll => "TCP_NODELAY, SO_BUSY_POLL",
            Means::Writev => "TCP, one writev",
            Means::Sendfile => "TCP_CORK, write and sendfile",
        }
    }
}

/// One end of a connection, and how messages leave it.
pub(super) enum Sender {
    Tcp {
        stream: TcpStream,
        means: Means,
        file: Option<File>,
    },
    Udp(UdpSocket),
    /// Both ends are of this process; the flag: in one write.
    Unix {
        stream: UnixStream,
        is_whole: bool,
    },
}

impl Sender {
    /// Connects to a server.
    pub(super) fn tcp(address: SocketAddr, means: Means) -> Result<Sender, BenchError> {
        let failed = |error| BenchError::io(format!("connect to {address}"), error);
        let mut stream = TcpStream::connect_timeout(&address, TIMEOUT).map_err(failed)?;
        stream.set_read_timeout(Some(TIMEOUT)).map_err(failed)?;
        stream.set_nodelay(matches!(means, Means::NoDelay | Means::BusyPoll)).map_err(failed)?;
        let service = match means {
            Means::QuickAck => Service::QuickAck,
            Means::BusyPoll => Service::BusyPoll,
            _ => Service::Plain,
        };
        if means == Means::BusyPoll {
            set_busy_poll(&stream, BUSY_POLL_US)?;
        }
        stream.write_all(&[service.byte()]).map_err(failed)?;
        let file = match means {
            Means::Sendfile => {
                Some(file().map_err(|error| BenchError::io("create a file in memory", error))?)
            }
            _ => None,
        };
        Ok(Sender::Tcp { stream, means, file })
    }

    pub(super) fn udp(address: SocketAddr) -> Result<Sender, BenchError> {
        let failed = |error| BenchError::io(format!("send datagrams to {address}"), error);
        let any: SocketAddr =
            if address.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0u16; 8], 0).into() };
        let socket = UdpSocket::bind(any).map_err(failed)?;
        socket.connect(address).map_err(failed)?;
        socket.set_read_timeout(Some(TIMEOUT)).map_err(failed)?;
        Ok(Sender::Udp(socket))
    }

    pub(super) fn unix(stream: UnixStream, is_whole: bool) -> Result<Sender, BenchError> {
        stream.set_read_timeout(Some(TIMEOUT)).map_err(|error| BenchError::io("set a timeout", error))?;
        Ok(Sender::Unix { stream, is_whole })
    }

    /// Sends so many messages, one after the other; gives the time of all, and records the time of sending each.
    pub(super) fn round_trips(&mut self, messages: u32, sending: &LiveHistogram) -> Result<Ns, BenchError> {
        let start = now(Clock::Monotonic);
        for _ in 0..messages {
            let began = now(Clock::Monotonic);
            self.send()?;
            sending.record(now(Clock::Monotonic) - began);
            self.receive().map_err(|error| match error.kind() {
                io::ErrorKind::WouldBlock => BenchError::Unavailable(format!("no reply within {TIMEOUT:?}")),
                _ => BenchError::io("receive a reply", error),
            })?;
        }
        Ok(now(Clock::Monotonic) - start)
    }

    fn send(&mut self) -> Result<(), BenchError> {
        let failed = |error| BenchError::io("send a message", error);
        match self {
            Sender::Tcp { stream, means: Means::Cork, .. } => {
                set_cork(&*stream, true)?;
                in_parts(stream).map_err(failed)?;
                Ok(set_cork(&*stream, false)?)
            }
            Sender::Tcp { stream, means: Means::Sendfile, file: Some(file) } => {
                set_cork(&*stream, true)?;
                stream.write_all(&[0; PART]).map_err(failed)?;
                let sent = rustix::fs::sendfile(&*stream, &*file, Some(&mut 0), LENGTH - PART);
                sent.map_err(|errno| BenchError::io("sendfile a message", errno.into()))?;
                Ok(set_cork(&*stream, false)?)
            }
            Sender::Tcp { stream, means: Means::Writev, .. } => {
                let part = [0; PART];
                // A message is much smaller than any buffer: it is written whole.
                stream.write_vectored(&[IoSlice::new(&part); WRITES]).map(drop).map_err(failed)
            }
            Sender::Tcp { stream, .. } => in_parts(stream).map_err(failed),
            Sender::Udp(socket) => socket.send(&[0; LENGTH]).map(drop).map_err(failed),
            Sender::Unix { stream, is_whole: true } => stream.write_all(&[0; LENGTH]).map_err(failed),
            Sender::Unix { stream, .. } => in_parts(stream).map_err(failed),
        }
    }

    fn receive(&mut self) -> io::Result<()> {
        let mut reply = [0; REPLY];
        match self {
            Sender::Tcp { stream, .. } => stream.read_exact(&mut reply),
            Sender::Udp(socket) => socket.recv(&mut reply).map(drop),
            Sender::Unix { stream, .. } => stream.read_exact(&mut reply),
        }
    }
}

fn in_parts(to: &mut impl Write) -> io::Result<()> {
    for _ in 0..WRITES {
        to.write_all(&[0; PART])?;
    }
    Ok(())
}

/// A file with all of a message but its first write, in memory.
fn file() -> io::Result<File> {
    let mut file = File::from(rustix::fs::memfd_create("whylate-bench", rustix::fs::MemfdFlags::CLOEXEC)?);
    file.write_all(&[0; LENGTH])?;
    file.rewind()?;
    Ok(file)
}

/// The other end of a Unix socket: reads messages and replies until the sender is gone.
pub(super) fn answer_unix(mut stream: UnixStream) {
    let mut message = [0; LENGTH];
    while stream.read_exact(&mut message).is_ok() && stream.write_all(&message[..REPLY]).is_ok() {}
}
