//! `whylate hold-latency`: what `whylate-latency.service` runs. A request in /dev/cpu_dma_latency lasts for as long
//! as the file is open (Documentation/power/pm_qos_interface.rst), so this process keeps it open; it ends with the
//! process, however that ends.

use crate::args::HoldArgs;
use crate::exit_status::ExitStatus;
use crate::notify;
use anyhow::{Context, Result};
use std::path::Path;
use whylate_sys::{CPU_DMA_LATENCY, request_cpu_latency};

pub(crate) fn run(args: &HoldArgs) -> Result<ExitStatus> {
    let _held = request_cpu_latency(Path::new(CPU_DMA_LATENCY), args.us).with_context(|| {
        format!(
            "cannot request {} us in {CPU_DMA_LATENCY}: this needs root and a kernel with CONFIG_CPU_IDLE",
            args.us
        )
    })?;
    notify::ready(&format!("{} us requested in {CPU_DMA_LATENCY}", args.us))
        .context("cannot notify systemd of the request (NOTIFY_SOCKET)")?;
    loop {
        // A signal ends the process, and that the request.
        std::thread::park();
    }
}
