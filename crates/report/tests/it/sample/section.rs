//! An explanation of a critical section.

use super::activations::{CPU, by_hand, culprit};
use super::story::empty;
use whylate_base::{Confidence, Finding, Ns, Priority, Severity};
use whylate_events::{LatencyTracer, TraceInfo};
use whylate_ledger::{CpuContext, CriticalSection, Explanation, FunctionTime, FunctionTimes, Gap};

/// The critical section of an irqsoff trace, with as many functions as are kept.
pub(crate) fn section() -> Explanation {
    let fix = vec!["ask who maintains ata_scsi_queuecmd".to_owned()];
    let part = |function: &str, within, us, calls| FunctionTime {
        function: function.to_owned(),
        within,
        time: Ns::from_us(us),
        calls,
    };
    let mut parts = vec![
        part("ata_build_rw_tf", CpuContext::Thread, 480, 1),
        part("handle_irq_event", CpuContext::Irq, 60, 2),
        part("", CpuContext::Softirq, 30, 0),
    ];
    parts.extend((0..10).map(|i| part(&format!("ata_step_{i}"), CpuContext::Thread, 10 - i, 1)));
    let section = CriticalSection {
        tracer: LatencyTracer::Irqsoff,
        cpu: CPU,
        thread: Some(culprit("bash", 2042, Priority::UNKNOWN)),
        context: CpuContext::Thread,
        delays: true,
        opened_by: Some("ata_scsi_queuecmd".to_owned()),
        closed_by: None,
        start: Ns(4_000),
        latency: Ns(649_000),
        parts,
        rest: Ns(4_000),
        unexplained: Ns(20_000),
        times: FunctionTimes::UntilNext,
        gaps: vec![
            Gap {
                start: Ns(8_000),
                length: Ns(480_000),
                after: "ata_build_rw_tf".to_owned(),
                before: "delay_tsc".to_owned(),
            },
            Gap { start: Ns(500_000), length: Ns(30_000), after: String::new(), before: String::new() },
        ],
        stack: ["_raw_spin_unlock_irqrestore", "ata_scsi_queuecmd", "scsi_dispatch_cmd"]
            .map(String::from)
            .to_vec(),
        confidence: Confidence::Medium,
        why: "interrupts were off on CPU 1 for 649.0 us, from ata_scsi_queuecmd on, by bash:2042".to_owned(),
        fix: fix.clone(),
    };
    let fix = fix.iter().map(|line| by_hand(line)).collect();
    Explanation {
        trace: TraceInfo { format: "irqsoff latency trace v1.1.5".to_owned(), ..TraceInfo::default() },
        sections: vec![section],
        profiles: Vec::new(),
        findings: vec![Finding {
            code: "irqs-disabled",
            severity: Severity::Warning,
            title: "interrupts were off on CPU 1 for 649.0 us, from ata_scsi_queuecmd on".to_owned(),
            why: String::new(),
            evidence: vec![],
            fix,
        }],
        ..empty()
    }
}
