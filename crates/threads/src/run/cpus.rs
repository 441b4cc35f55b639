//! Whether the CPUs that are asked for exist, are online, and are in the control group's set.

use super::refusal::Refusal;
use whylate_base::{CpuSet, Tid};
use whylate_host::FsRoot;
use whylate_sys::SysError;

/// Refuses CPUs that a thread cannot have. The kernel refuses them only where none is left, and otherwise leaves the others
/// out without a word (sched_setaffinity(2)).
///
/// # Errors
/// If what the thread may use cannot be read.
pub(super) fn refuse(cpus: &CpuSet) -> Result<Option<Refusal>, SysError> {
    if cpus.without(&whylate_sys::getaffinity(Tid(0))?).is_empty() {
        return Ok(None);
    }
    let missing = cpus.without(&most()?);
    Ok((!missing.is_empty()).then(|| refusal(&FsRoot::live(), cpus, &missing)))
}

/// All CPUs that this thread could be given: the kernel narrows any set to those online and in its cpuset. A thread with its
/// own affinity tries it, so that the others keep theirs.
fn most() -> Result<CpuSet, SysError> {
    let attempt = || {
        let all: CpuSet = (0..8192).map(whylate_base::Cpu).collect();
        whylate_sys::setaffinity(Tid(0), &all)?;
        whylate_sys::getaffinity(Tid(0))
    };
    std::thread::scope(|scope| {
        scope.spawn(attempt).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn refusal(tree: &FsRoot, cpus: &CpuSet, missing: &CpuSet) -> Refusal {
    let present = tree.value::<CpuSet>("/sys/devices/system/cpu/present");
    let online = tree.value::<CpuSet>("/sys/devices/system/cpu/online");
    let (mut gate, mut why) = ("cpus", format!("this program cannot use CPU {missing}"));
    let mut fix = vec!["choose other CPUs with --cpus".to_owned()];
    if let (Some(present), Some(online)) = (present.known(), online.known()) {
        let (absent, offline) = (missing.without(present), missing.without(online));
        if !absent.is_empty() {
            why = format!("this machine has no CPU {absent}");
        } else if !offline.is_empty() {
            (gate, why) = ("cpu-offline", format!("CPU {offline} is offline"));
            fix.insert(0, format!("echo 1 > /sys/devices/system/cpu/cpu{}/online", first(&offline)));
        } else {
            (gate, why) =
                ("cpuset", format!("the cpuset of this program's control group has no CPU {missing}"));
            fix.insert(0, format!("start it in a control group whose cpuset.cpus has CPU {missing}"));
        }
    }
    let mut evidence = vec![present.to_string(), online.to_string()];
    if gate == "cpuset" {
        evidence.push(format!(
            "/proc/self/cpuset = {}",
            tree.text("/proc/self/cpuset").known().map_or("?", |s| s.trim())
        ));
    }
    Refusal { what: format!("CPUs {cpus}"), errno: Some("EINVAL"), gate, why, evidence, fix }
}

fn first(cpus: &CpuSet) -> String {
    cpus.iter().next().map(|cpu| cpu.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(&str, &str); 3] = [
        ("/sys/devices/system/cpu/present", "0-3\n"),
        ("/sys/devices/system/cpu/online", "0-2\n"),
        ("/proc/self/cpuset", "/app\n"),
    ];

    #[test]
    fn the_reason_is_the_first_that_holds() {
        let tree = FsRoot::memory(&FILES);
        for (missing, gate, why) in [
            ("5", "cpus", "no CPU 5"),
            ("3,5", "cpus", "no CPU 5"),
            ("3", "cpu-offline", "offline"),
            ("2", "cpuset", "cpuset"),
        ] {
            let missing = missing.parse().expect("a list");
            let refusal = refusal(&tree, &missing, &missing);
            assert_eq!(refusal.gate, gate);
            assert!(refusal.why.contains(why), "{refusal}");
        }
    }

    #[test]
    fn own_cpus_are_not_refused_and_unknown_ones_are() {
        let own = whylate_sys::getaffinity(Tid(0)).expect("own CPUs");
        assert_eq!(refuse(&own).expect("read"), None);
        let unknown = "8191".parse().expect("a list");
        let refusal = refuse(&unknown).expect("read").expect("refused");
        assert!(refusal.to_string().contains("8191"), "{refusal}");
        assert_eq!(whylate_sys::getaffinity(Tid(0)).expect("own CPUs"), own);
    }
}
