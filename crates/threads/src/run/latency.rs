//! A request for the wake-up latency of idle CPUs, in force for as long as its file is open.
//!
//! Source: Documentation/power/pm_qos_interface.rst.

use super::refusal::{self, Refusal};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use whylate_sys::{CPU_DMA_LATENCY, request_cpu_latency};

/// The device; no value is requested yet.
pub(super) fn open() -> io::Result<File> {
    OpenOptions::new().write(true).open(CPU_DMA_LATENCY)
}

/// The file that holds the request.
pub(super) fn hold(us: i32) -> Result<File, Box<Refusal>> {
    request_cpu_latency(Path::new(CPU_DMA_LATENCY), us).map_err(|error| refusal(us, &error))
}

/// That it cannot be held.
pub(super) fn refusal(us: i32, error: &io::Error) -> Box<Refusal> {
    Box::new(Refusal {
        what: format!("a latency of {us} us"),
        errno: Some(refusal::name(error.raw_os_error().unwrap_or_default())),
        gate: "dma-latency",
        why: format!("{CPU_DMA_LATENCY} cannot be opened for writing"),
        evidence: vec![format!("{CPU_DMA_LATENCY}: {error}")],
        fix: vec![
            "run it as root, on a kernel with CONFIG_CPU_IDLE; or let a udev rule give the device to a group"
                .to_owned(),
        ],
    })
}
