//! What a condition can ask of a machine.

use whylate_host::{KernelVersion, Snapshot};

/// What can be asked of a machine, and what it means.
pub(super) const FACTS: &[(&str, Question)] = &[
    ("fair-server", fair_server),
    ("stalld", stalld),
    ("guard", guard),
    ("rt-throttling", rt_throttling),
    ("rt-groups", rt_groups),
    ("tsc", tsc),
    ("tsc-available", tsc_available),
];

/// A question to a machine.
type Question = fn(&Snapshot) -> Truth;

/// True, false, or why it cannot be determined.
pub(super) type Truth = Result<bool, String>;

/// The deadline server for SCHED_OTHER threads is on for every CPU.
fn fair_server(host: &Snapshot) -> Truth {
    let servers = host.sched.fair_servers.known().filter(|servers| !servers.is_empty());
    if let Some(servers) = servers {
        for server in servers {
            if *server.runtime_ns.need().map_err(|unread| unread.to_string())? == 0 {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    if version(host)? < KernelVersion::new(6, 12) {
        return Ok(false);
    }
    match host.sched.fair_servers.need() {
        Err(unread) => Err(unread.to_string()),
        Ok(_) => Ok(false),
    }
}

/// stalld is installed, or runs.
fn stalld(host: &Snapshot) -> Truth {
    is_there(host, "stalld")
}

/// `whylate guard` is installed as a unit, or runs.
fn guard(host: &Snapshot) -> Truth {
    is_there(host, "whylate-guard")
}

/// A thread of that name runs, or a unit of that name is installed.
fn is_there(host: &Snapshot, name: &str) -> Truth {
    if host.threads.each.known().is_some_and(|all| all.iter().any(|thread| thread.comm == name)) {
        return Ok(true);
    }
    let shipped = host.systemd.shipped.if_present().map_err(|unread| unread.to_string())?;
    Ok(shipped.is_some_and(|units| units.iter().any(|unit| unit.strip_suffix(".service") == Some(name))))
}

/// RT bandwidth control can stop real-time threads on this kernel: from 6.12 on only with RT_GROUP_SCHED built in.
fn rt_throttling(host: &Snapshot) -> Truth {
    if version(host)? < KernelVersion::new(6, 12) {
        return Ok(true);
    }
    let config = host.kernel.config.need().map_err(|unread| unread.to_string())?;
    Ok(config.has("RT_GROUP_SCHED"))
}

/// Real-time threads are scheduled by control groups, and that can be switched off at boot (6.16).
fn rt_groups(host: &Snapshot) -> Truth {
    let config = host.kernel.config.need().map_err(|unread| unread.to_string())?;
    Ok(config.has("RT_GROUP_SCHED") && version(host)? >= KernelVersion::new(6, 16))
}

/// Time is read from the TSC.
fn tsc(host: &Snapshot) -> Truth {
    let current = host.clocks.source.current.need().map_err(|unread| unread.to_string())?;
    Ok(current == "tsc")
}

/// The kernel trusts the TSC, whether it is in use or not.
fn tsc_available(host: &Snapshot) -> Truth {
    let available = host.clocks.source.available.need().map_err(|unread| unread.to_string())?;
    Ok(available.has("tsc"))
}

fn version(host: &Snapshot) -> Result<KernelVersion, String> {
    host.kernel.numbers().map_err(|unread| unread.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_host::FsRoot;

    #[test]
    fn facts_of_machines() {
        let fact = |name: &str, files: &[(&str, &str)]| {
            let host = Snapshot::read(&FsRoot::memory(files));
            let (_, ask) = FACTS.iter().find(|(own, _)| *own == name).expect(name);
            ask(&host).ok()
        };
        let (old, new) =
            (("/proc/sys/kernel/osrelease", "6.1.0\n"), ("/proc/sys/kernel/osrelease", "6.12.1\n"));
        let server = "/sys/kernel/debug/sched/fair_server/cpu0/runtime";
        assert_eq!(fact("fair-server", &[old, ("/sys/kernel/debug/x", "")]), Some(false));
        assert_eq!(fact("fair-server", &[new, (server, "50000000\n")]), Some(true));
        assert_eq!(fact("fair-server", &[new, (server, "0\n")]), Some(false));
        // debugfs is not to be seen, as under lockdown.
        assert_eq!(fact("fair-server", &[new]), None);
        let config = |text| ("/boot/config-6.12.1", text);
        let (with, without) = (config("CONFIG_RT_GROUP_SCHED=y\n"), config("CONFIG_SMP=y\n"));
        assert_eq!(fact("rt-throttling", &[old]), Some(true));
        assert_eq!(fact("rt-throttling", &[new, with]), Some(true));
        assert_eq!(fact("rt-throttling", &[new, without]), Some(false));
        assert_eq!(fact("rt-throttling", &[new]), None);
        // Before 6.16 they cannot be switched off.
        let switchable = [
            ("/proc/sys/kernel/osrelease", "6.16.0\n"),
            ("/boot/config-6.16.0", "CONFIG_RT_GROUP_SCHED=y\n"),
        ];
        assert_eq!(fact("rt-groups", &switchable), Some(true));
        assert_eq!(fact("rt-groups", &[new, with]), Some(false));
        assert_eq!(fact("rt-groups", &[new]), None);
        assert_eq!(fact("stalld", &[("/usr/lib/systemd/system/stalld.service", "")]), Some(true));
        assert_eq!(fact("stalld", &[("/usr/lib/systemd/system/x.service", "")]), Some(false));
        assert_eq!(fact("guard", &[("/usr/lib/systemd/system/whylate-guard.service", "")]), Some(true));
        assert_eq!(fact("guard", &[("/usr/lib/systemd/system/stalld.service", "")]), Some(false));
        let source = "/sys/devices/system/clocksource/clocksource0";
        let current = format!("{source}/current_clocksource");
        assert_eq!(fact("tsc", &[(&current, "kvm-clock\n")]), Some(false));
        assert_eq!(fact("tsc", &[]), None);
    }
}
