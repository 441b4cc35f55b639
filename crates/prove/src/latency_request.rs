//! A request in /dev/cpu_dma_latency: it holds as long as the file is open (Documentation/power/pm_qos_interface.rst), so that it
//! ends with this process, however that ends.

use crate::error::ProveError;
use std::fs::File;
use std::path::Path;
use whylate_sys::{CPU_DMA_LATENCY, request_cpu_latency};
use whylate_tuning::{Plan, Setting};

/// Makes the request of a plan, where it has one.
pub(crate) fn hold(plan: &Plan) -> Result<Option<File>, ProveError> {
    let wanted = plan.changes.iter().find(|change| change.setting == Setting::CpuDmaLatency);
    let Some(value) = wanted.and_then(|change| change.then.as_deref()) else { return Ok(None) };
    let failed =
        |why: String| ProveError::Apply(format!("cannot request {value} us in {CPU_DMA_LATENCY}: {why}"));
    let us: i32 = value.parse().map_err(|_| failed("it is not a number of microseconds".to_owned()))?;
    request_cpu_latency(Path::new(CPU_DMA_LATENCY), us).map(Some).map_err(|error| failed(error.to_string()))
}
