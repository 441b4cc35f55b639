//! Interrupts: kind, device, rate on each CPU, affinity, and the thread that handles each.

use super::sample::{PsSample, per_second};
use std::collections::BTreeMap;
use whylate_base::{CpuSet, Ns, Policy, Tid};
use whylate_host::{Irq, IrqRow, Reading, Thread};

/// How an interrupt reaches a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterruptKind {
    /// A message of a device with a table of them.
    MsiX,
    /// A message of a device. Before Linux 6.2 the kernel gives MSI-X the same name.
    Msi,
    /// A line, by its edge.
    Edge,
    /// A line, by its level.
    Level,
    /// From another CPU.
    Ipi,
    /// One that cannot be disabled.
    Nmi,
    /// The timer of the CPU itself.
    LocalTimer,
    /// Any other of the architecture's own.
    Other,
}

impl InterruptKind {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            InterruptKind::MsiX => "msi-x",
            InterruptKind::Msi => "msi",
            InterruptKind::Edge => "edge",
            InterruptKind::Level => "level",
            InterruptKind::Ipi => "ipi",
            InterruptKind::Nmi => "nmi",
            InterruptKind::LocalTimer => "local-timer",
            InterruptKind::Other => "other",
        }
    }

    /// By a row of /proc/interrupts: its name, and its chip, trigger and devices.
    fn of(name: &str, what: &str) -> InterruptKind {
        if name.parse::<u32>().is_err() {
            return match name {
                "LOC" => InterruptKind::LocalTimer,
                "NMI" | "PMI" => InterruptKind::Nmi,
                "RES" | "CAL" | "TLB" | "IWI" => InterruptKind::Ipi,
                _ if name.starts_with("IPI") => InterruptKind::Ipi,
                _ => InterruptKind::Other,
            };
        }
        let has = |word: &str| what.split_ascii_whitespace().any(|own| own.eq_ignore_ascii_case(word));
        let chip = what.split_ascii_whitespace().next().unwrap_or_default();
        match () {
            () if has("arch_timer") => InterruptKind::LocalTimer,
            () if has("IPI") => InterruptKind::Ipi,
            () if chip.contains("MSIX") || chip.contains("MSI-X") => InterruptKind::MsiX,
            () if chip.contains("MSI") => InterruptKind::Msi,
            // A handler for interrupts by level ends them after the device is served (kernel/irq/chip.c).
            () if has("level") || what.contains("-fasteoi") || what.contains("-level") => {
                InterruptKind::Level
            }
            () if has("edge") || what.contains("-edge") => InterruptKind::Edge,
            () => InterruptKind::Other,
        }
    }
}

/// The thread of an interrupt.
#[derive(Clone, Debug, PartialEq)]
pub struct IrqThread {
    /// Its id.
    pub tid: Tid,
    /// Its name.
    pub comm: String,
    /// Its policy; `None`: one that whylate does not know.
    pub policy: Option<Policy>,
    /// Its real-time priority, 1 to 99; 0 for other policies.
    pub priority: u32,
    /// The CPUs it may use.
    pub cpus: Option<CpuSet>,
}

impl IrqThread {
    fn of(thread: &Thread) -> IrqThread {
        IrqThread {
            tid: thread.tid,
            comm: thread.comm.clone(),
            policy: thread.policy,
            priority: thread.priority,
            cpus: thread.affinity.known().cloned(),
        }
    }
}

/// An interrupt.
#[derive(Clone, Debug, PartialEq)]
pub struct InterruptRow {
    /// Its number; `None` for the architecture's own.
    pub irq: Option<u32>,
    /// Its devices, or the name of the row, such as `LOC`.
    pub name: String,
    /// Chip, trigger and devices, as the kernel prints them.
    pub description: String,
    /// How it reaches a CPU.
    pub kind: InterruptKind,
    /// Its count on each CPU since boot.
    pub per_cpu: Vec<u64>,
    /// Its rate on each CPU, in a second; empty with one sample.
    pub per_cpu_rate: Vec<Option<f64>>,
    /// The CPUs it may go to.
    pub affinity: Option<CpuSet>,
    /// The CPUs it goes to.
    pub effective_affinity: Option<CpuSet>,
    /// The thread that handles it; the first where there are several.
    pub thread: Option<IrqThread>,
    /// The threads that wait for its device, of those that are shown.
    pub waiting: Vec<Tid>,
}

impl InterruptRow {
    /// Its rate on all CPUs, in a second.
    pub fn rate(&self) -> Option<f64> {
        (!self.per_cpu_rate.is_empty()).then(|| self.per_cpu_rate.iter().flatten().sum())
    }
}

/// All rows of /proc/interrupts.
pub(super) fn interrupts(before: Option<(&PsSample, Ns)>, after: &PsSample) -> Vec<InterruptRow> {
    let settings: BTreeMap<u32, &Irq> =
        after.irqs.each.known().into_iter().flatten().map(|irq| (irq.number, irq)).collect();
    let threads = irq_threads(&after.threads);
    let earlier: BTreeMap<&str, &IrqRow> = before
        .and_then(|(sample, _)| sample.irqs.rows.known())
        .into_iter()
        .flatten()
        .map(|row| (row.name.as_str(), row))
        .collect();
    let row = |row: &IrqRow| {
        let irq: Option<u32> = row.name.parse().ok();
        let own = irq.and_then(|number| settings.get(&number));
        let devices = own.map(|own| own.actions.join(",")).filter(|names| !names.is_empty());
        let rates = before.zip(earlier.get(row.name.as_str())).map(|((_, interval), earlier)| {
            row.counts
                .iter()
                .enumerate()
                .map(|(cpu, &count)| per_second(*earlier.counts.get(cpu)?, count, interval))
                .collect()
        });
        InterruptRow {
            irq,
            name: devices.unwrap_or_else(|| row.name.clone()),
            description: row.what.clone(),
            kind: InterruptKind::of(&row.name, &row.what),
            per_cpu: row.counts.clone(),
            per_cpu_rate: rates.unwrap_or_default(),
            affinity: own.and_then(|own| own.affinity.known().cloned()),
            effective_affinity: own.and_then(|own| own.effective.known().cloned()),
            thread: irq.and_then(|irq| threads.get(&irq)).map(|thread| IrqThread::of(thread)),
            waiting: Vec::new(),
        }
    };
    after.irqs.rows.known().into_iter().flatten().map(row).collect()
}

/// The threads called `irq/N-DEVICE` (`setup_irq_thread`, kernel/irq/manage.c), by N.
fn irq_threads(threads: &Reading<Vec<Thread>>) -> BTreeMap<u32, &Thread> {
    let mut by_irq = BTreeMap::new();
    for thread in threads.known().into_iter().flatten().filter(|thread| thread.kernel) {
        let number = thread.comm.strip_prefix("irq/").and_then(|rest| rest.split('-').next()?.parse().ok());
        if let Some(number) = number {
            by_irq.entry(number).or_insert(thread);
        }
    }
    by_irq
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_host::FsRoot;

    #[test]
    fn the_kind_is_by_chip_and_trigger() {
        for (name, what, kind) in [
            ("0", "IO-APIC 2-edge timer", InterruptKind::Edge),
            ("9", "IO-APIC 9-fasteoi acpi", InterruptKind::Level),
            ("24", "PCI-MSIX-0000:00:01.0 0-edge virtio0-config", InterruptKind::MsiX),
            ("24", "PCI-MSI 65536-edge eth0", InterruptKind::Msi),
            ("126", "IR-PCI-MSI-0000:00:1f.6 0-edge enp0s31f6", InterruptKind::Msi),
            ("11", "GICv3 27 Level arch_timer", InterruptKind::LocalTimer),
            ("13", "GICv2 65 Level fe004000.txp", InterruptKind::Level),
            ("40", "ITS-MSI 524288 Edge nvme0q0", InterruptKind::Msi),
            ("LOC", "Local timer interrupts", InterruptKind::LocalTimer),
            ("IPI0", "Rescheduling interrupts", InterruptKind::Ipi),
            ("CAL", "Function call interrupts", InterruptKind::Ipi),
            ("NMI", "Non-maskable interrupts", InterruptKind::Nmi),
            ("MCP", "Machine check polls", InterruptKind::Other),
        ] {
            assert_eq!(InterruptKind::of(name, what), kind, "{name}: {what}");
        }
    }

    #[test]
    fn rates_threads_and_settings_belong_to_their_interrupt() {
        let at = |count: &str| {
            let text = format!(
                "      CPU0 CPU1\n 24: {count} 5 PCI-MSIX-0000:00:01.0 0-edge eth0\nLOC: 7 8 Local\n"
            );
            let stat = "77 (irq/24-eth0) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 -51 0 1 0 37 0 0 0 0 0 0 0 0 0 0 0 \
                        0 0 0 0 17 1 50 1 0 0\n";
            PsSample::read(&FsRoot::memory(&[
                ("/proc/interrupts", &text),
                ("/proc/irq/24/smp_affinity_list", "0-1\n"),
                ("/proc/irq/24/effective_affinity_list", "1\n"),
                ("/proc/irq/24/eth0/x", ""),
                ("/proc/77/task/77/stat", stat),
            ]))
        };
        let (before, after) = (at("100"), at("300"));
        let rows = interrupts(Some((&before, Ns::from_ms(2000))), &after);
        let row = &rows[0];
        assert_eq!((row.irq, row.name.as_str(), row.kind), (Some(24), "eth0", InterruptKind::MsiX));
        assert_eq!((row.per_cpu.as_slice(), row.rate()), (&[300, 5][..], Some(100.0)));
        assert_eq!(row.effective_affinity.as_ref().map(ToString::to_string).as_deref(), Some("1"));
        let thread = row.thread.as_ref().expect("its thread");
        assert_eq!((thread.tid, thread.policy, thread.priority), (Tid(77), Some(Policy::Fifo), 50));
        assert_eq!((rows[1].irq, rows[1].name.as_str()), (None, "LOC"));
        assert_eq!(interrupts(None, &after)[0].rate(), None);
    }
}
