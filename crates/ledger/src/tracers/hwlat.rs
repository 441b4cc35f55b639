//! What hwlatdetect reports, and a trace of the hwlat tracer without an entry: the tracer prints only gaps above its
//! threshold, so none is good news (kernel/trace/trace_hwlat.c).

use super::osnoise::Noises;
use crate::causes::Cause;
use crate::causes::advised::{Advised, EXCLUSIVE_HOST_CPUS, MACHINE, RECORD, all_by_hand};
use whylate_base::{AdvisedFix, Cpu, Evidence, Finding, Ns, Severity};
use whylate_events::{PartKind, Tool, TraceInfo};

/// Time lost at once that makes threads late.
const NOTABLE: Ns = Ns::from_us(50);

/// What to look for where no SMI was counted.
const NO_SMIS: [&str; 2] = [
    EXCLUSIVE_HOST_CPUS,
    "on hardware: measure once more with fixed frequencies and shallow idle states, and without devices whose drivers write \
     to slow registers; on ARM look for calls of the secure firmware",
];

/// The finding of a report, or of an empty trace.
pub(super) fn finding(info: &TraceInfo, noises: &Noises, deadline: Option<Ns>) -> Option<Finding> {
    let reported = info.breakdowns.iter().filter(|breakdown| breakdown.tool == Tool::Hwlatdetect);
    let report = reported.max_by_key(|breakdown| breakdown.total);
    let longest = report.map(|breakdown| breakdown.total);
    let part = |kind| report?.part(kind);
    let smis = part(PartKind::Smi).and_then(|part| part.id);
    let measured = report.and_then(|report| report.time_of(PartKind::Measured));
    let above = part(PartKind::AboveThreshold).and_then(|part| Some((part.id?, part.time)));
    let cpu = report.map(|report| report.cpu).filter(|&cpu| cpu != Cpu::UNKNOWN);
    // Of lines that could not be read nothing is known.
    let is_empty = noises.hwlat.is_empty() && info.events == 0;
    let is_of_tracer = info.tracer.as_deref() == Some("hwlat") && is_empty;
    match longest {
        Some(longest) if longest > Ns::ZERO => Some(Finding {
            code: Cause::Stolen.code(),
            severity: match deadline {
                Some(deadline) if longest > deadline => Severity::Error,
                _ if longest >= NOTABLE => Severity::Warning,
                _ => Severity::Info,
            },
            title: format!(
                "{} stood still for {longest} while it spun with interrupts off",
                cpu.map_or_else(|| "a CPU".to_owned(), |cpu| format!("CPU {cpu}"))
            ),
            why: match smis {
                Some(0) => {
                    "only an NMI could run there, and no SMI was counted meanwhile: the hypervisor of a guest, the secure \
                     world, or hardware that stalls the CPU (a write to a slow device, a change of its frequency) take time \
                     like this"
                }
                _ => {
                    "only an NMI could run there: the hypervisor of a guest or the firmware of a machine (SMI, secure world) \
                     takes CPUs away like this"
                }
            }
            .to_owned(),
            evidence: {
                let during = measured.map_or_else(String::new, |measured| format!(" in {measured}"));
                let counted = smis.map(|smis| Evidence::general(format!("it counted {smis} SMIs")));
                let largest = format!("the largest latency that hwlatdetect reports{during}");
                let above = above.map(|(samples, threshold)| {
                    Evidence::general(format!("{samples} of its samples are above its threshold of {threshold}"))
                });
                std::iter::once(Evidence::general(largest)).chain(above).chain(counted).collect()
            },
            fix: match smis {
                Some(0) => all_by_hand(MACHINE, &NO_SMIS),
                _ => Cause::Stolen.advice(&Advised::general()),
            },
        }),
        _ if longest.is_some() || is_of_tracer => Some(Finding {
            code: "hardware-noise",
            severity: Severity::Info,
            title: "no gap above the threshold: the machine itself took no CPU away while it was measured".to_owned(),
            why: "the hwlat tracer spins with interrupts off and keeps only gaps above its threshold (tracing_thresh, \
                  10 us unless set); it measures one CPU at a time, for a part of each window"
                .to_owned(),
            evidence: vec![match measured {
                Some(measured) => Evidence::general(format!("hwlatdetect measured for {measured}")),
                None => Evidence::general("the trace does not show for how long it was measured"),
            }],
            fix: vec![AdvisedFix::by_hand("measure for hours: firmware may interrupt seldom", RECORD)],
        }),
        _ => None,
    }
}
