//! The guest's end of a cable to another guest.

use crate::job::Network;
use std::io;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// The first network device of a guest, which has no udev to rename it.
const DEVICE: &str = "eth0";
/// The discard port (RFC 863): no program listens there.
const PORT: u16 = 9;
/// The other guest may boot more slowly by this.
const PATIENCE: Duration = Duration::from_secs(60);
const INTERVAL: Duration = Duration::from_millis(50);
/// Sent after the end, as the other waits for one of them.
const FAREWELL: u32 = 4;
/// The packets: whether the sender has heard the other.
const HEARD: u8 = b'1';
const CALLING: u8 = b'0';

/// Gives the device its address, and waits until the other guest answers.
pub(super) fn connect(network: Network) -> Result<(), String> {
    whylate_sys::set_address(DEVICE, network.address).map_err(|error| format!("network: {error}"))?;
    meet(network).map_err(|error| format!("network: no answer of {}: {error}", network.peer))
}

/// Sends until the other has answered that it heard: a packet of one direction shows nothing about the other one.
fn meet(network: Network) -> io::Result<()> {
    let socket = UdpSocket::bind((network.address, PORT))?;
    socket.connect((network.peer, PORT))?;
    socket.set_read_timeout(Some(INTERVAL))?;
    let begun = Instant::now();
    let mut packet = [CALLING];
    let mut last = io::Error::from(io::ErrorKind::TimedOut);
    while begun.elapsed() < PATIENCE {
        let mut received = [CALLING];
        match socket.recv(&mut received) {
            Ok(_) => packet = [HEARD],
            Err(error) => last = error,
        }
        // Refused while the other has its address and no socket yet.
        let _ = socket.send(&packet);
        if received == [HEARD] {
            for _ in 0..FAREWELL {
                std::thread::sleep(INTERVAL);
                let _ = socket.send(&packet);
            }
            return Ok(());
        }
    }
    Err(last)
}
