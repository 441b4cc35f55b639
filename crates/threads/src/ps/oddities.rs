//! What is unusual about a thread's priority or CPUs.

use super::interrupts::InterruptRow;
use super::thread_row::{Oddity, ThreadRow};
use whylate_base::{CpuSet, Policy};

/// What is odd about a thread. `isolated` are the CPUs that are kept free for real-time threads.
pub(super) fn of(row: &ThreadRow, interrupts: &[InterruptRow], isolated: Option<&CpuSet>) -> Vec<Oddity> {
    if row.kernel || !row.is_realtime() {
        return Vec::new();
    }
    let found = [above_irq_thread(row, interrupts), highest(row), beside_isolated(row, isolated)];
    found.into_iter().flatten().collect()
}

/// The interrupt's thread cannot run while the thread that waits for its device runs on its CPU.
fn above_irq_thread(row: &ThreadRow, interrupts: &[InterruptRow]) -> Option<Oddity> {
    let irqs = &row.blocked_on.as_ref()?.irqs;
    let threads = interrupts.iter().filter(|irq| irq.irq.is_some_and(|irq| irqs.contains(&irq)));
    let below = threads
        .filter_map(|irq| irq.thread.as_ref())
        .find(|thread| row.outranks(thread.policy, thread.priority))?;
    Some(Oddity {
        code: "above-irq-thread",
        text: format!(
            "it waits for the device of {}, which has the lower priority {}",
            below.comm, below.priority
        ),
    })
}

fn highest(row: &ThreadRow) -> Option<Oddity> {
    let is_highest = matches!(row.policy, Some(Policy::Fifo | Policy::Rr)) && row.priority == 99;
    is_highest.then(|| Oddity {
        code: "priority-99",
        text: "priority 99 is that of the kernel's migration and watchdog threads".to_owned(),
    })
}

fn beside_isolated(row: &ThreadRow, isolated: Option<&CpuSet>) -> Option<Oddity> {
    let isolated = isolated.filter(|cpus| !cpus.is_empty())?;
    let cpus = row.cpus.as_ref()?;
    let beside = cpus.iter().all(|cpu| !isolated.contains(cpu));
    beside.then(|| Oddity {
        code: "on-housekeeping-cpus",
        text: format!("it may use CPUs {cpus} only, which are housekeeping CPUs; isolated are {isolated}"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{PsOptions, PsReport, PsSample};
    use whylate_host::FsRoot;

    const READ: i64 = if cfg!(target_arch = "x86_64") { 0 } else { 63 };

    /// The codes that a thread of this policy and priority on CPUs 0-1 has, which reads /dev/uio0.
    fn codes(policy: u32, priority: u32, irq_priority: u32, isolated: &str) -> Vec<&'static str> {
        let stat = |tid: u32, name: &str, flags: u32, priority: u32, policy: u32| {
            format!(
                "{tid} ({name}) S 1 9 9 0 -1 {flags} 7 0 2 0 0 0 0 0 -51 0 1 0 37 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 17 1 \
                 {priority} {policy} 0 0\n"
            )
        };
        let call = format!("{READ} 0x4 0x7ffe00001000 0x4 0x0 0x0 0x0 0x7ffe00000ff8 0x7f0000001234\n");
        let directory = tempfile::tempdir().expect("a directory");
        let write = |path: &str, text: &str| {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        write("proc/412/task/412/stat", &stat(412, "control", 64, priority, policy));
        write("proc/412/task/412/status", "Cpus_allowed_list:\t0-1\n");
        write("proc/412/task/412/syscall", &call);
        write("proc/77/task/77/stat", &stat(77, "irq/17-uio", 0x0020_0000, irq_priority, 1));
        write("proc/77/task/77/status", "Cpus_allowed_list:\t0-1\n");
        write("proc/interrupts", "     CPU0\n 17: 5 IO-APIC 17-fasteoi uio\n");
        write("sys/class/uio/uio0/device/irq", "17\n");
        write("sys/devices/system/cpu/isolated", isolated);
        std::fs::create_dir_all(directory.path().join("proc/412/fd")).expect("made");
        std::os::unix::fs::symlink("/dev/uio0", directory.path().join("proc/412/fd/4")).expect("a link");
        let tree = FsRoot::open(directory.path()).expect("a root");
        let report = PsReport::of(
            &tree,
            &PsOptions { tasks: vec!["control".into()], all: false },
            None,
            &PsSample::read(&tree),
        );
        report.threads[0].odd.iter().map(|odd| odd.code).collect()
    }

    #[test]
    fn only_what_is_rarely_intended_is_marked() {
        for (policy, priority, irq_priority, isolated, expected) in [
            (1, 40, 50, "\n", &[][..]),
            (1, 60, 50, "\n", &["above-irq-thread"]),
            (6, 0, 50, "\n", &["above-irq-thread"]),
            (1, 50, 50, "\n", &[]),
            (1, 99, 99, "\n", &["priority-99"]),
            (2, 10, 50, "2-3\n", &["on-housekeeping-cpus"]),
            (2, 10, 50, "1-3\n", &[]),
            (0, 0, 50, "2-3\n", &[]),
        ] {
            assert_eq!(
                codes(policy, priority, irq_priority, isolated),
                expected,
                "{policy} {priority} {isolated}"
            );
        }
    }
}
