//! Threads and interrupts, as wire types.

mod document;

pub use document::{BlockedOn, Document, Futex, Irq, IrqThread, Oddity, PageFaults, SCHEMA, Thread};

use crate::json::ns;
use serde_json::Value;
use whylate_base::{CpuSet, Policy};
use whylate_threads::ps::{self, InterruptRow, PsReport, ThreadRow};

/// The report as a JSON document.
pub fn render(report: &PsReport) -> Value {
    crate::json::value(&document(report))
}

/// The JSON schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<Document>()
}

/// The report, as it is written.
pub fn document(report: &PsReport) -> Document {
    Document {
        schema: SCHEMA.to_owned(),
        interval_ns: ns(report.interval),
        all_threads: report.all_threads,
        page_faults: report.page_faults.map(|faults| PageFaults {
            all: faults.all,
            major: faults.major,
            per_second: faults.rate,
            major_per_second: faults.major_rate,
        }),
        threads: report.threads.iter().map(thread).collect(),
        irqs: report.irqs.iter().map(irq).collect(),
        notes: report.notes.clone(),
    }
}

fn thread(row: &ThreadRow) -> Thread {
    Thread {
        tid: row.tid.0,
        pid: row.pid,
        comm: row.comm.clone(),
        kernel: row.kernel,
        policy: policy(row.policy),
        priority: row.priority,
        nice: row.nice,
        state: row.state.map(String::from),
        cpus: list(row.cpus.as_ref()),
        last_cpu: row.last_cpu.map(|cpu| cpu.0),
        age_ns: ns(row.age),
        minor_faults: row.usage.minor_faults,
        major_faults: row.usage.major_faults,
        voluntary_switches: row.usage.voluntary_switches,
        involuntary_switches: row.usage.involuntary_switches,
        cpu_time_ns: ns(row.cpu_time),
        run_delay_ns: ns(row.run_delay),
        locked_bytes: row.usage.locked_bytes,
        cpu_share: row.rates.and_then(|rates| rates.cpu_share),
        waiting_share: row.rates.and_then(|rates| rates.waiting_share),
        voluntary_per_second: row.rates.and_then(|rates| rates.voluntary),
        involuntary_per_second: row.rates.and_then(|rates| rates.involuntary),
        faults_per_second: row.rates.and_then(|rates| rates.faults),
        blocked_on: row.blocked_on.as_ref().map(blocked_on),
        cgroup: row.cgroup.clone(),
        odd: row.odd.iter().map(|odd| Oddity { code: odd.code.to_owned(), text: odd.text.clone() }).collect(),
    }
}

fn blocked_on(blocked: &ps::BlockedOn) -> BlockedOn {
    BlockedOn {
        function: blocked.function.clone(),
        futex: blocked
            .futex
            .map(|futex| Futex { address: futex.address, owner: futex.owner.map(|tid| tid.0) }),
        files: blocked.files.clone(),
        irqs: blocked.irqs.clone(),
    }
}

fn irq(row: &InterruptRow) -> Irq {
    Irq {
        irq: row.irq,
        name: row.name.clone(),
        description: row.description.clone(),
        kind: row.kind.name().to_owned(),
        per_cpu: row.per_cpu.clone(),
        per_cpu_per_second: row.per_cpu_rate.clone(),
        affinity: list(row.affinity.as_ref()),
        effective_affinity: list(row.effective_affinity.as_ref()),
        thread: row.thread.as_ref().map(|thread| IrqThread {
            tid: thread.tid.0,
            comm: thread.comm.clone(),
            policy: policy(thread.policy),
            priority: thread.priority,
            cpus: list(thread.cpus.as_ref()),
        }),
        waiting: row.waiting.iter().map(|tid| tid.0).collect(),
    }
}

fn policy(policy: Option<Policy>) -> Option<String> {
    policy.map(|policy| policy.name().to_owned())
}

fn list(cpus: Option<&CpuSet>) -> Option<String> {
    cpus.map(ToString::to_string)
}
