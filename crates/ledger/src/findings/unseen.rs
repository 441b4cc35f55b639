//! Context switches that the trace lacks without reporting them as lost.

use super::info::{FindingInfo, page};
use super::subject::Subject;
use crate::causes::advised::RECORD;
use whylate_base::{AdvisedFix, Evidence, Finding, Severity};

pub(super) const INFO: FindingInfo = FindingInfo { code: "unseen-switches", page: page!("unseen-switches") };

/// One unseen switch among this many is a finding.
const NOTABLE: u64 = 20;

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let blind = subject.timeline.cpus.iter().filter(|(number, cpu)| {
        subject.scope.is_none_or(|scope| scope.has_cpu(*number))
            && cpu.switches > 0
            && cpu.unseen_switches * NOTABLE > cpu.switches + cpu.unseen_switches
    });
    blind
        .map(|(cpu, timeline)| Finding {
            code: INFO.code,
            severity: Severity::Info,
            title: format!(
                "{} of {} context switches on CPU {cpu} were not recorded",
                timeline.unseen_switches,
                timeline.switches + timeline.unseen_switches
            ),
            why: "from the last event of one thread to the first event of the next it is not known which of them had the CPU; that \
                  time is unexplained"
                .to_owned(),
            evidence: vec![Evidence::general(
                "events show another thread on the CPU than the last sched_switch before them",
            )],
            fix: vec![AdvisedFix::by_hand("record sched_switch without a filter; if it has none, this kernel does not trace some of its switches", RECORD)],
        })
        .collect()
}
