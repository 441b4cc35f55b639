//! What keeps the rest of the machine alive while a real-time thread never sleeps.

use crate::select;
use whylate_host::{FsRoot, STARVATION_GUARDS};

/// What keeps the rest of the machine alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    /// This does.
    By(String),
    /// Nothing does; what shows it.
    None(Vec<String>),
    /// It cannot be read.
    Unknown(String),
}

/// What protects this machine, first of all the kernel itself.
pub(crate) fn protection(tree: &FsRoot) -> Protection {
    let runtime = tree.value::<i64>("/proc/sys/kernel/sched_rt_runtime_us");
    let servers = tree.list("/sys/kernel/debug/sched/fair_server");
    if let Ok(names) = &servers.value {
        let of =
            |name: &String| tree.value::<u64>(&format!("/sys/kernel/debug/sched/fair_server/{name}/runtime"));
        let runtimes: Vec<_> = names.iter().filter(|name| name.starts_with("cpu")).map(of).collect();
        if runtimes.iter().any(|runtime| runtime.known().is_some_and(|&ns| ns > 0)) {
            return Protection::By("the fair server gives SCHED_OTHER threads their time".to_owned());
        }
    }
    let is_throttled = runtime.known().is_some_and(|&us| us >= 0);
    // A kernel with a deadline server throttles real-time threads only with CONFIG_RT_GROUP_SCHED (Linux 6.12).
    let has_servers = servers.known().is_some();
    if is_throttled && !has_servers {
        return Protection::By(format!(
            "{runtime} (real-time throttling, or from Linux 6.12 on the fair server)"
        ));
    }
    if is_throttled && whylate_host::rt_group_sched(tree) == Some(true) {
        return Protection::By(format!("{runtime} (real-time throttling)"));
    }
    if let Some(guard) =
        select::all_threads().into_iter().find(|thread| STARVATION_GUARDS.contains(&thread.comm.as_str()))
    {
        return Protection::By(format!("{}:{} watches for starving threads", guard.comm, guard.tid));
    }
    match (&servers.value, has_servers) {
        (Err(whylate_host::Why::Missing), _) | (_, true) => {
            let servers = match has_servers {
                true => format!("{}: the runtime of every CPU is 0", servers.path),
                false => format!("{}: this kernel has no fair server", servers.path),
            };
            Protection::None(vec![runtime.to_string(), servers])
        }
        (Err(why), _) => Protection::Unknown(format!("{runtime}; the fair server: {}: {why}", servers.path)),
        _ => Protection::Unknown(runtime.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_only_claimed_where_everything_was_read() {
        const RUNTIME: &str = "/proc/sys/kernel/sched_rt_runtime_us";
        const SERVER: &str = "/sys/kernel/debug/sched/fair_server/cpu0/runtime";
        const MOUNTED: (&str, &str) = ("/sys/kernel/debug/sched/features", "X\n");
        for (files, expected) in [
            (vec![(RUNTIME, "-1\n"), (SERVER, "0\n")], Some(false)),
            (vec![(RUNTIME, "-1\n"), (SERVER, "50000000\n")], Some(true)),
            (vec![(RUNTIME, "-1\n"), MOUNTED], Some(false)),
            (vec![(RUNTIME, "-1\n")], None),
            (vec![(RUNTIME, "950000\n")], Some(true)),
            (
                vec![
                    (RUNTIME, "950000\n"),
                    (SERVER, "0\n"),
                    ("/boot/config-6.12.0", "CONFIG_SMP=y\n"),
                    OSRELEASE,
                ],
                Some(false),
            ),
            (
                vec![
                    (RUNTIME, "950000\n"),
                    (SERVER, "0\n"),
                    ("/boot/config-6.12.0", "CONFIG_RT_GROUP_SCHED=y\n"),
                    OSRELEASE,
                ],
                Some(true),
            ),
        ] {
            let found = match protection(&FsRoot::memory(&files)) {
                Protection::By(_) => Some(true),
                Protection::None(_) => Some(false),
                Protection::Unknown(_) => None,
            };
            assert_eq!(found, expected, "{files:?}");
        }
    }

    const OSRELEASE: (&str, &str) = ("/proc/sys/kernel/osrelease", "6.12.0");
}
