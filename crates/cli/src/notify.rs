//! The service manager: it is notified that this program works, and its journal is known.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Notifies systemd, where it started this process and waits for that (sd_notify(3)).
pub(crate) fn ready(status: &str) -> io::Result<()> {
    send(std::env::var_os("NOTIFY_SOCKET").as_deref(), status)
}

/// Whether standard output is journald's: JOURNAL_STREAM has the device and inode of that (systemd.exec(5)).
pub(crate) fn is_journal() -> bool {
    let Ok(stream) = std::env::var("JOURNAL_STREAM") else { return false };
    rustix::fs::fstat(io::stdout()).is_ok_and(|own| stream == format!("{}:{}", own.st_dev, own.st_ino))
}

fn send(socket: Option<&OsStr>, status: &str) -> io::Result<()> {
    let Some(name) = socket.map(OsStr::as_bytes).filter(|name| !name.is_empty()) else { return Ok(()) };
    let address = match name.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(OsString::from(OsStr::from_bytes(name)))?,
    };
    let message = format!("READY=1\nSTATUS={status}\n");
    UnixDatagram::unbound()?.send_to_addr(message.as_bytes(), &address).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systemd_is_notified() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("notify");
        let socket = UnixDatagram::bind(&path).expect("a socket");
        send(Some(path.as_os_str()), "it works").expect("it is notified");
        let name = format!("@whylate-test-{}", std::process::id());
        let abstract_name = SocketAddr::from_abstract_name(&name[1..]).expect("a name");
        let other = UnixDatagram::bind_addr(&abstract_name).expect("a socket");
        send(Some(OsStr::new(&name)), "it works").expect("it is notified");
        for socket in [socket, other] {
            let mut message = [0; 100];
            let length = socket.recv(&mut message).expect("a message");
            assert_eq!(&message[..length], b"READY=1\nSTATUS=it works\n");
        }
        send(None, "it works").expect("no socket");
        assert!(send(Some(directory.path().join("gone").as_os_str()), "it works").is_err());
    }
}
