//! Interrupts: where each may go, and where new ones will.

use super::context::PlanContext;
use super::cpus::narrowed;
use super::expansion::{Expanded, Found};
use crate::Setting;
use whylate_base::{Cpu, CpuSet};
use whylate_host::{Irq, Unread, Why};

const DEFAULT: &str = "/proc/irq/default_smp_affinity";

/// Interrupts that each CPU has for itself: the timers of arm64 and riscv.
const OF_EACH_CPU: [&str; 4] = ["arch_timer", "kvm guest vtimer", "kvm guest ptimer", "riscv-timer"];

pub(super) fn expand(value: Option<&str>, context: &PlanContext<'_>) -> Expanded {
    let Some(value) = value else { return Expanded::default() };
    let wanted = match value.parse::<CpuSet>() {
        Ok(wanted) if !wanted.is_empty() => wanted,
        Ok(_) => return Expanded::left("interrupts", "none of the CPUs is left for them"),
        Err(error) => return Expanded::left("interrupts", error),
    };
    let mut expanded = Expanded::default();
    let irqs = &context.host.irqs;
    match irqs.default_affinity.need() {
        Ok(now) => expanded.found.push(found(DEFAULT, &now.0, &wanted)),
        // A kernel for one CPU.
        Err(Unread { why: Why::Missing, .. }) => {}
        Err(unread) => expanded.unread(DEFAULT, &unread),
    }
    let each = match irqs.each.need() {
        Ok(each) => each,
        Err(unread) => {
            expanded.unread("interrupts", &unread);
            return expanded;
        }
    };
    let (mut managed, mut fixed) = (CpuSet::new(), CpuSet::new());
    // One that no driver has cannot come, and is given the default when it gets one.
    for irq in each.iter().filter(|irq| !irq.actions.is_empty()) {
        let now = match irq.affinity.need() {
            Ok(now) => now,
            Err(Unread { why: Why::Missing, .. }) => continue,
            Err(unread) => {
                expanded.unread(&irq.affinity.path, &unread);
                continue;
            }
        };
        let goes_to = irq.effective.known().filter(|cpus| !cpus.is_empty()).unwrap_or(now);
        let mode = context.tree.mode(&irq.affinity.path);
        match refuses(irq, mode.known().copied()) {
            // Its place is none of the others' business.
            Some(_) if goes_to.without(&wanted).is_empty() => {}
            Some(Refuses::Managed) => managed.insert(Cpu(irq.number)),
            Some(Refuses::Fixed) => fixed.insert(Cpu(irq.number)),
            None => expanded.found.push(found(&irq.affinity.path, now, &wanted)),
        }
    }
    // Numbers of interrupts are written as lists of CPUs are.
    if !managed.is_empty() {
        let why = "the kernel manages their CPUs and refuses to move them; isolcpus=managed_irq,... keeps them off isolated CPUs where possible";
        expanded.leave(named(&managed), why);
    }
    if !fixed.is_empty() {
        expanded.leave(named(&fixed), "they are per-CPU interrupts, which cannot be moved");
    }
    expanded
}

fn named(irqs: &CpuSet) -> String {
    format!("interrupt{} {irqs}", if irqs.len() == 1 { "" } else { "s" })
}

fn found(path: &str, now: &CpuSet, wanted: &CpuSet) -> Found {
    let then = narrowed(now, wanted);
    Found::new(Setting::Tunable { path: path.to_owned() }, Some(now.to_string()), Some(then.to_string()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refuses {
    /// The kernel places it by itself (Documentation/core-api/irq/managed_irq.rst).
    Managed,
    /// It is of one CPU by its nature.
    Fixed,
}

/// Whether an interrupt refuses to be moved. Newer kernels show it by a file that is read-only
/// (`register_irq_proc`, kernel/irq/proc.c); on others its name shows: queues of NVMe and virtio disks.
fn refuses(irq: &Irq, mode: Option<u32>) -> Option<Refuses> {
    let all = |is: fn(&str) -> bool| irq.actions.iter().all(|action| is(action));
    if all(|action| OF_EACH_CPU.contains(&action)) {
        return Some(Refuses::Fixed);
    }
    if mode.is_some_and(|mode| mode & 0o222 == 0) || all(is_queue) {
        return Some(Refuses::Managed);
    }
    None
}

/// `nvme0q3`, `virtio1-req.0`. The first queue of an NVMe disk, for administration, is an ordinary one.
fn is_queue(action: &str) -> bool {
    let number = |text: &str| text.parse::<u32>().ok();
    let parts = |prefix, middle| action.strip_prefix(prefix).and_then(|rest: &str| rest.split_once(middle));
    let of_nvme = parts("nvme", "q")
        .is_some_and(|(disk, queue)| number(disk).is_some() && number(queue).is_some_and(|queue| queue > 0));
    let of_virtio = parts("virtio", "-req.")
        .is_some_and(|(disk, queue)| number(disk).is_some() && number(queue).is_some());
    of_nvme || of_virtio
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_host::{FsRoot, Snapshot};

    fn planned(files: &[(&str, &str)], value: &str) -> Vec<String> {
        let tree = FsRoot::memory(files);
        let host = Snapshot::read(&tree);
        let expanded = expand(Some(value), &PlanContext::new(&tree, &host));
        let found = expanded.found.iter().map(|found| {
            format!(
                "{}: {} -> {}",
                found.setting,
                found.now.as_deref().unwrap_or("-"),
                found.then.as_deref().unwrap_or("-")
            )
        });
        found.chain(expanded.left.iter().map(|left| format!("{}: {}", left.what, left.why))).collect()
    }

    #[test]
    fn each_interrupt_and_the_default() {
        let files = [
            (DEFAULT, "f\n"),
            ("/proc/irq/9/smp_affinity_list", "0-3\n"),
            ("/proc/irq/9/acpi/x", ""),
            ("/proc/irq/24/smp_affinity_list", "2-3\n"),
            ("/proc/irq/24/eth0/x", ""),
            ("/proc/irq/25/smp_affinity_list", "0-3\n"),
            ("/proc/irq/30/smp_affinity_list", "3\n"),
            ("/proc/irq/30/nvme0q4/x", ""),
            ("/proc/irq/31/smp_affinity_list", "0-3\n"),
            ("/proc/irq/31/effective_affinity_list", "0\n"),
            ("/proc/irq/31/virtio1-req.0/x", ""),
            ("/proc/irq/11/smp_affinity_list", "0-3\n"),
            ("/proc/irq/11/arch_timer/x", ""),
        ];
        let planned = planned(&files, "0-1");
        assert_eq!(
            planned[..3],
            [
                "/proc/irq/default_smp_affinity: 0-3 -> 0-1",
                "/proc/irq/9/smp_affinity_list: 0-3 -> 0-1",
                "/proc/irq/24/smp_affinity_list: 2-3 -> 0-1",
            ]
        );
        assert!(planned[3].starts_with("interrupt 30: the kernel manages"), "{planned:?}");
        assert!(planned[4].starts_with("interrupt 11: they are per-CPU"), "{planned:?}");
        assert_eq!(planned.len(), 5);
    }

    #[test]
    fn who_refuses() {
        let of = |actions: &[&str], mode| {
            let none = || whylate_host::Reading::new("/x", Err(Why::Missing));
            let actions = actions.iter().map(|&action| action.to_owned()).collect();
            refuses(&Irq { number: 1, actions, affinity: none(), effective: none() }, mode)
        };
        assert_eq!(of(&["eth0"], Some(0o644)), None);
        assert_eq!(of(&["eth0"], Some(0o444)), Some(Refuses::Managed));
        assert_eq!(of(&["nvme0q0"], None), None);
        assert_eq!(of(&["nvme0q1"], None), Some(Refuses::Managed));
        assert_eq!(of(&["nvme0q1", "eth0"], None), None);
        assert_eq!(of(&["arch_timer"], Some(0o444)), Some(Refuses::Fixed));
    }

    #[test]
    fn what_is_hidden_is_not_moved() {
        assert!(planned(&[("/proc/version", "x")], "0")[0].contains("does not exist"));
        let tree = FsRoot::refusing(Why::Denied);
        let host = Snapshot::read(&tree);
        let expanded = expand(Some("0"), &PlanContext::new(&tree, &host));
        assert!(expanded.found.is_empty() && expanded.left.len() == 2, "{expanded:?}");
    }
}
