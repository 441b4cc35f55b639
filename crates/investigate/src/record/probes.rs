//! Events of our own, for what the kernel has none for.

use super::error::RecordError;
use whylate_ftrace::tracefs::{Instance, ProbeEvent, Tracefs, TracefsError};
use whylate_stacks::FunctionPlace;

/// What the user must know where [`of_page_faults`] was needed.
pub(super) const PAGE_FAULTS_NOTE: &str = "page faults are recorded by a probe of the kernel function handle_mm_fault, which is removed at the end: this \
     kernel has no event for them";

/// Has an instance record page faults by a probe.
pub(super) fn of_page_faults(tracefs: &Tracefs, instance: &Instance) -> Result<ProbeEvent, TracefsError> {
    let probe = ProbeEvent::of_page_faults(tracefs)?;
    if let Some(filter) = probe.filter() {
        instance.set_filter(&probe.event(), filter)?;
    }
    instance.enable(&probe.event())?;
    Ok(probe)
}

/// Has an instance record where calls of a program's function begin and return.
pub(super) fn of_function(
    tracefs: &Tracefs,
    instance: &Instance,
    place: &FunctionPlace,
) -> Result<[ProbeEvent; 2], RecordError> {
    let failed = |source| RecordError::Probe { place: place.clone(), source };
    let (begin, end) = ProbeEvent::of_function(tracefs, &place.path, place.offset).map_err(failed)?;
    for probe in [&begin, &end] {
        instance.enable(&probe.event()).map_err(failed)?;
    }
    Ok([begin, end])
}
