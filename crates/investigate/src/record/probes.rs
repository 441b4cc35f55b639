//! Events of our own, for what the kernel has none for.

use super::error::RecordError;
use whylate_ftrace::tracefs::{
    ACTIVATION_BEGIN, ACTIVATION_END, Instance, ProbeEvent, Tracefs, TracefsError,
};
use whylate_stacks::ProbedPlace;

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

/// Has an instance record where activations of a program begin and end.
pub(super) fn of_program(
    tracefs: &Tracefs,
    instance: &Instance,
    place: &ProbedPlace,
) -> Result<Vec<ProbeEvent>, RecordError> {
    let failed = |source| RecordError::Probe { place: Box::new(place.clone()), source };
    let probes = made(tracefs, place).map_err(failed)?;
    for probe in &probes {
        instance.enable(&probe.event()).map_err(failed)?;
    }
    Ok(probes)
}

/// One at each place; those that were made are removed when another cannot be.
fn made(tracefs: &Tracefs, place: &ProbedPlace) -> Result<Vec<ProbeEvent>, TracefsError> {
    let (path, begin, end) = match place {
        ProbedPlace::Function(place) => {
            let (begin, end) = ProbeEvent::of_function(tracefs, &place.path, place.offset)?;
            return Ok(vec![begin, end]);
        }
        ProbedPlace::Return(place) => {
            return Ok(vec![ProbeEvent::of_return(tracefs, &place.path, place.offset)?]);
        }
        ProbedPlace::Usdt { path, begin, end } => (path, begin, end),
    };
    let ends = end.iter().flat_map(|end| &end.sites).map(|site| (ACTIVATION_END, site));
    let sites = begin.sites.iter().map(|site| (ACTIVATION_BEGIN, site)).chain(ends);
    sites
        .map(|(name, site)| ProbeEvent::of_place(tracefs, name, path, (site.offset, site.semaphore)))
        .collect()
}
