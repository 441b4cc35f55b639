//! Requests for the wake-up latency of idle CPUs.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// The device that takes them.
pub const CPU_DMA_LATENCY: &str = "/dev/cpu_dma_latency";

/// Requests that no idle state is entered that takes longer than so many microseconds to leave, for as long as the file is
/// open: one write of four bytes (`cpu_latency_qos_write()` in kernel/power/qos.c). `device` is [`CPU_DMA_LATENCY`].
///
/// # Errors
/// There is no such device, or it cannot be opened for writing: it takes root, and a kernel with CONFIG_CPU_IDLE.
///
/// Documentation/power/pm_qos_interface.rst
pub fn request_cpu_latency(device: &Path, us: i32) -> io::Result<File> {
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
        let held = request_cpu_latency(file.path(), 12).expect("a request");
        assert_eq!(std::fs::read(file.path()).expect("its bytes"), 12i32.to_ne_bytes());
        drop(held);
        let gone = file.path().with_extension("gone");
        assert!(request_cpu_latency(&gone, 12).is_err());
        assert!(!gone.exists(), "no file is made where there is no device");
    }
}
