//! The mistakes of a program, as wire types.

use super::document::{Document, Finding, FoundThread, OtherParty, SCHEMA, SystemCall, Thread};
use crate::explain::json::document::Fix;
use crate::explain::json::from_ledger::texts;
use crate::explain::json::location::Where;
use crate::json::ns;
use whylate_investigate::doctor::{self, CallTotal, DoctorFinding, DoctorReport, ThreadReport};

impl From<&DoctorReport> for Document {
    fn from(report: &DoctorReport) -> Self {
        Document {
            schema: SCHEMA.to_owned(),
            duration_ns: report.duration.0,
            threads: report.threads.iter().map(Thread::from).collect(),
            findings: report.findings.iter().map(Finding::from).collect(),
            cannot_tell: report.unseen.clone(),
        }
    }
}

impl From<&ThreadReport> for Thread {
    fn from(thread: &ThreadReport) -> Self {
        Thread {
            tid: thread.tid.0,
            pid: thread.pid.0,
            comm: thread.comm.to_string(),
            policy: thread.policy.name().to_owned(),
            priority: thread.priority,
            cpus: thread.cpus.as_ref().map(ToString::to_string),
            minor_faults: thread.minor_faults,
            major_faults: thread.major_faults,
            voluntary_switches: thread.voluntary_switches,
            involuntary_switches: thread.involuntary_switches,
            run_delay_ns: ns(thread.run_delay),
            locked_bytes: thread.locked_bytes,
            periodic_waits: thread.waits,
            system_calls: thread.calls.iter().map(SystemCall::from).collect(),
        }
    }
}

impl From<&CallTotal> for SystemCall {
    fn from(total: &CallTotal) -> Self {
        SystemCall {
            name: total.name.clone(),
            count: total.count,
            total_ns: total.total.0,
            worst_ns: total.worst.0,
            location: total.location.as_ref().map(Where::from),
        }
    }
}

impl From<&DoctorFinding> for Finding {
    fn from(finding: &DoctorFinding) -> Self {
        let other = finding.other.as_ref();
        Finding {
            code: finding.code.to_owned(),
            severity: finding.severity.into(),
            title: finding.title.clone(),
            thread: finding.thread.as_ref().map(FoundThread::from),
            location: finding.location.as_ref().map(Where::from),
            other: other.map(|(thread, location)| OtherParty {
                thread: thread.into(),
                location: location.as_ref().map(Where::from),
            }),
            count: finding.count,
            worst_ns: ns(finding.worst),
            why: finding.why.clone(),
            fix: texts(&finding.fix),
            fixes: finding.fix.iter().map(Fix::from).collect(),
        }
    }
}

impl From<&doctor::FoundThread> for FoundThread {
    fn from(thread: &doctor::FoundThread) -> Self {
        FoundThread { tid: thread.tid.0, comm: thread.comm.to_string() }
    }
}
