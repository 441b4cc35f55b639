//! `whylate hold-latency`: what `whylate-latency.service` runs. A request in /dev/cpu_dma_latency lasts for as long
//! as the file is open (Documentation/power/pm_qos_interface.rst), so this process keeps it open; it ends with the
//! process, however that ends.

use crate::args::HoldArgs;
use crate::exit_status::ExitStatus;
use crate::notify;
use anyhow::{Context, Result};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

const DEVICE: &str = "/dev/cpu_dma_latency";

pub(crate) fn run(args: &HoldArgs) -> Result<ExitStatus> {
    let _held = request(Path::new(DEVICE), args.us).with_context(|| {
        format!(
            "cannot request {} us in {DEVICE}: this needs root and a kernel with CONFIG_CPU_IDLE",
            args.us
        )
    })?;
    notify::ready(&format!("{} us requested in {DEVICE}", args.us))
        .context("cannot notify systemd of the request (NOTIFY_SOCKET)")?;
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
}
