//! Threads: policy, nice value and CPUs, by name.
//!
//! A thread's id is another one after a reboot, and some threads come and go, so a name stands for the values of
//! all threads of that name.

use super::values::Values;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use whylate_base::Tid;

pub(super) fn all(root: &Path) -> Values {
    let mut by_name: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let own = std::process::id().to_string();
    for process in numbers(&root.join("proc")) {
        if process == own {
            continue;
        }
        let directory = root.join("proc").join(&process);
        // Threads of the kernel have no program (proc_pid_exe(5)).
        let of_kernel = std::fs::read_link(directory.join("exe")).is_err();
        for tid in numbers(&directory.join("task")) {
            // It may have ended meanwhile.
            let Ok(comm) = std::fs::read_to_string(directory.join("task").join(&tid).join("comm")) else {
                continue;
            };
            let name = class(comm.trim(), of_kernel);
            if let Some(value) = tid.parse().ok().and_then(|tid| describe(&name, Tid(tid))) {
                by_name.entry(name).or_default().insert(value);
            }
        }
    }
    let joined = |values: BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join("; ");
    by_name.into_iter().map(|(name, values)| (name, joined(values))).collect()
}

fn numbers(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).collect()
}

/// Workers are made as they are needed: `kworker/2:1H-kblockd` is one of `[kworker/2:*H]`, and
/// `kworker/u8:3-events_unbound` one of `[kworker/u8:*]` (init_worker of kernel/workqueue.c).
fn class(comm: &str, of_kernel: bool) -> String {
    let name = match comm.strip_prefix("kworker/").and_then(|rest| rest.split_once(':')) {
        Some((pool, worker)) => {
            let high = worker.split('-').next().unwrap_or_default().ends_with('H');
            format!("kworker/{pool}:*{}", if high { "H" } else { "" })
        }
        None => comm.to_owned(),
    };
    if of_kernel { format!("[{name}]") } else { name }
}

fn describe(name: &str, tid: Tid) -> Option<String> {
    let policy = whylate_sys::getattr(tid).ok()?;
    if is_rescuer(name, policy.nice) {
        return Some(format!("{policy} on the CPUs it last rescued"));
    }
    let cpus = whylate_sys::getaffinity(tid).ok()?;
    Some(format!("{policy} on CPUs {cpus}"))
}

/// A workqueue's rescuer takes the CPUs of whatever pool it helped last, which is chance (rescuer_thread,
/// worker_attach_to_pool of kernel/workqueue.c). It is at the lowest nice value, as only workers of the high-priority
/// pools are otherwise, and those have a pool in their name.
fn is_rescuer(name: &str, nice: i32) -> bool {
    let worker = name.strip_prefix("[kworker/").is_some_and(|pool| !pool.starts_with("R-"));
    nice == -20 && name.starts_with('[') && !worker
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_known_by_their_pool() {
        for (comm, of_kernel, name) in [
            ("kworker/2:1H-kblockd", true, "[kworker/2:*H]"),
            ("kworker/0:0-events", true, "[kworker/0:*]"),
            ("kworker/u8:3-HUP", true, "[kworker/u8:*]"),
            ("ktimers/1", true, "[ktimers/1]"),
            ("systemd", false, "systemd"),
        ] {
            assert_eq!(class(comm, of_kernel), name);
        }
    }

    #[test]
    fn a_rescuers_cpus_are_chance() {
        for (name, nice, expected) in [
            ("[rcu_gp]", -20, true),
            ("[kworker/R-rcu_gp]", -20, true),
            ("[kworker/2:*H]", -20, false),
            ("[ktimers/2]", 0, false),
            ("pipewire", -20, false),
        ] {
            assert_eq!(is_rescuer(name, nice), expected, "{name}");
        }
    }

    #[test]
    fn threads_of_this_machine_are_there() {
        let values = all(Path::new("/"));
        assert!(!values.is_empty());
        assert!(values.values().all(|value| value.starts_with("SCHED_") && value.contains(" on ")));
    }
}
