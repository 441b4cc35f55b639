//! `whylate hold-latency`: what `whylate-latency.service` runs. A request in /dev/cpu_dma_latency lasts for as long
//! as the file is open (Documentation/power/pm_qos_interface.rst), so this process keeps it open; it ends with the
//! process, however that ends.

use crate::args::HoldArgs;
use crate::outcome::Outcome;
use anyhow::{Context, Result};
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;

const DEVICE: &str = "/dev/cpu_dma_latency";

pub(crate) fn run(args: &HoldArgs) -> Result<Outcome> {
    let _held = request(Path::new(DEVICE), args.us).with_context(|| {
        format!(
            "cannot request {} us in {DEVICE}: this needs root and a kernel with CONFIG_CPU_IDLE",
            args.us
        )
    })?;
    let socket = std::env::var_os("NOTIFY_SOCKET");
    notify(socket.as_deref(), args.us).context("cannot notify systemd of the request (NOTIFY_SOCKET)")?;
    loop {
        // A signal ends the process, and that the request.
        std::thread::park();
    }
}

/// Makes the request: one write of four bytes (`cpu_latency_qos_write()` in kernel/power/qos.c).
fn request(device: &Path, us: i32) -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).open(device)?;
    file.write_all(&us.to_ne_bytes())?;
    Ok(file)
}

/// Notifies systemd, where it started this process, of the request (sd_notify(3)).
fn notify(socket: Option<&OsStr>, us: i32) -> io::Result<()> {
    let Some(name) = socket.map(OsStr::as_bytes).filter(|name| !name.is_empty()) else { return Ok(()) };
    let address = match name.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(OsString::from(OsStr::from_bytes(name)))?,
    };
    let message = format!("READY=1\nSTATUS={us} us requested in {DEVICE}\n");
    UnixDatagram::unbound()?.send_to_addr(message.as_bytes(), &address).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_four_bytes() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let held = request(file.path(), 12).expect("a request");
        assert_eq!(std::fs::read(file.path()).expect("its bytes"), 12i32.to_ne_bytes());
        drop(held);
        let gone = file.path().with_extension("gone");
        assert!(request(&gone, 12).is_err());
        assert!(!gone.exists(), "no file is made where there is no device");
    }

    #[test]
    fn systemd_is_notified() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("notify");
        let socket = UnixDatagram::bind(&path).expect("a socket");
        notify(Some(path.as_os_str()), 5).expect("it is notified");
        let name = format!("@whylate-test-{}", std::process::id());
        let abstract_name = SocketAddr::from_abstract_name(&name[1..]).expect("a name");
        let other = UnixDatagram::bind_addr(&abstract_name).expect("a socket");
        notify(Some(OsStr::new(&name)), 5).expect("it is notified");
        for socket in [socket, other] {
            let mut message = [0; 100];
            let length = socket.recv(&mut message).expect("a message");
            assert!(message[..length].starts_with(b"READY=1\n"));
        }
        notify(None, 5).expect("no socket");
        assert!(notify(Some(directory.path().join("gone").as_os_str()), 5).is_err());
    }
}
