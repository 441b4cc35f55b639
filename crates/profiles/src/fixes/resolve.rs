//! What an action sets on one machine: other CPUs, the policy that a thread has, the number of an interrupt, a thread's
//! service.

use crate::{Pattern, Selector, ThreadSelector};
use whylate_base::{
    Action, CpuSet, IrqAction, ParameterAction, Policy, ThreadAction, TunableAction, UnitAction, glob,
};
use whylate_host::{Snapshot, Thread};

/// A request in this file is no tunable.
const DMA_LATENCY: &str = "/dev/cpu_dma_latency";

/// A setting with its value.
pub(super) type Wanted = (Selector, Option<String>);

/// The settings of an action, or why it cannot be made here.
pub(super) fn settings(action: &Action, host: &Snapshot) -> Result<Vec<Wanted>, String> {
    match action {
        Action::Code { reason } => Err(format!("no setting makes it: {reason}")),
        Action::Tunable { set } => Ok(set.iter().map(tunable).collect()),
        Action::KernelParameter { set } => Ok(set.iter().map(parameter).collect()),
        Action::Thread { set } => all(set, |one| thread(one, host)),
        Action::Irq { set } => all(set, |one| irq(one, host)),
        Action::Unit { set } => all(set, |one| unit(one, host)),
    }
}

fn all<T>(set: &[T], of: impl Fn(&T) -> Result<Vec<Wanted>, String>) -> Result<Vec<Wanted>, String> {
    let each = set.iter().map(of).collect::<Result<Vec<_>, _>>()?;
    Ok(each.into_iter().flatten().collect())
}

fn tunable(one: &TunableAction) -> Wanted {
    let selector = match one.path.as_str() {
        DMA_LATENCY => Selector::CpuDmaLatency,
        path => Selector::Tunable { path: path.to_owned() },
    };
    (selector, Some(one.value.clone()))
}

fn parameter(one: &ParameterAction) -> Wanted {
    (Selector::Parameter { name: one.parameter.clone() }, one.value.clone())
}

fn thread(one: &ThreadAction, host: &Snapshot) -> Result<Vec<Wanted>, String> {
    let threads = named(&one.thread, host)?;
    let is_kernel = threads.iter().any(|thread| thread.kernel);
    let named = if is_kernel { format!("[{}]", one.thread) } else { one.thread.clone() };
    let selector = ThreadSelector { named: Pattern::Glob(named), except: Vec::new() };
    let mut wanted = Vec::new();
    let policy = match (&one.policy, one.priority) {
        (None, None) => None,
        (Some(policy), None | Some(0)) => Some(policy.clone()),
        (Some(policy), Some(priority)) => Some(format!("{policy} {priority}")),
        (None, Some(0)) => Some(Policy::Other.name().to_owned()),
        (None, Some(priority)) => {
            let is_rr = threads.iter().all(|thread| thread.policy == Some(Policy::Rr));
            let policy = if is_rr { Policy::Rr } else { Policy::Fifo };
            Some(format!("{} {priority}", policy.name()))
        }
    };
    if let Some(policy) = policy {
        wanted.push((Selector::ThreadPolicy { threads: selector.clone() }, Some(policy)));
    }
    if let Some(cpus) = cpus(&one.cpus, &one.not_cpus, host)? {
        wanted.push((Selector::ThreadPlacement { threads: selector }, Some(cpus)));
    }
    Ok(wanted)
}

/// The threads of a name on this machine, of which there is one at least.
fn named<'a>(name: &str, host: &'a Snapshot) -> Result<Vec<&'a Thread>, String> {
    let all = host.threads.each.need().map_err(|unread| format!("the threads cannot be read: {unread}"))?;
    let threads: Vec<&Thread> = all.iter().filter(|thread| glob(name, &thread.comm)).collect();
    match threads.is_empty() {
        true => Err(format!("no thread is called {name} now: the program that starts it must run")),
        false => Ok(threads),
    }
}

/// The CPUs that are wanted, as a list; `None`: they stay as they are.
fn cpus(cpus: &Option<String>, not: &Option<String>, host: &Snapshot) -> Result<Option<String>, String> {
    let parse = |list: &String| list.parse::<CpuSet>().map_err(|error| format!("`{list}`: {error}"));
    let Some(not) = not else {
        return Ok(cpus.as_ref().map(parse).transpose()?.map(|cpus| cpus.to_string()));
    };
    let online = host
        .cpus
        .online
        .need()
        .map_err(|unread| format!("the CPUs of the machine cannot be read: {unread}"))?;
    let among = cpus.as_ref().map(parse).transpose()?.unwrap_or_else(|| online.clone());
    let left = among.without(&parse(not)?);
    match left.is_empty() {
        true => Err(format!("the machine has no CPU besides {not} to move it to")),
        false => Ok(Some(left.to_string())),
    }
}

fn irq(one: &IrqAction, host: &Snapshot) -> Result<Vec<Wanted>, String> {
    let each = host.irqs.each.need().map_err(|unread| format!("the interrupts cannot be read: {unread}"))?;
    let has_name = |actions: &[String]| one.name.is_empty() || actions.contains(&one.name);
    // A number belongs to another device after a boot: the name decides, where there is one.
    let found = each
        .iter()
        .find(|irq| Some(irq.number) == one.irq && has_name(&irq.actions))
        .or_else(|| each.iter().find(|irq| !one.name.is_empty() && irq.actions.contains(&one.name)));
    let Some(irq) = found else {
        let number = one.irq.map_or_else(String::new, |irq| format!(" {irq}"));
        return Err(format!("this machine has no interrupt{number} {}", one.name).trim_end().to_owned());
    };
    let cpus = cpus(&one.cpus, &one.not_cpus, host)?;
    let path = irq.affinity.path.clone();
    Ok(vec![(Selector::Tunable { path }, cpus)])
}

fn unit(one: &UnitAction, host: &Snapshot) -> Result<Vec<Wanted>, String> {
    let unit = match (&one.unit, &one.thread) {
        (Some(unit), _) => unit.clone(),
        (None, Some(thread)) => unit_of(thread, host)?,
        (None, None) => return Err("the document names no unit".to_owned()),
    };
    let mut wanted = Vec::new();
    if let Some(runs) = one.runs {
        let state = if runs { "active" } else { "inactive" };
        wanted.push((Selector::UnitActive { unit: unit.clone() }, Some(state.to_owned())));
    }
    if let Some(state) = &one.at_boot {
        wanted.push((Selector::UnitEnabled { unit }, Some(state.clone())));
    }
    Ok(wanted)
}

/// The service that a thread belongs to, by its control group.
fn unit_of(name: &str, host: &Snapshot) -> Result<String, String> {
    let threads = named(name, host)?;
    let groups = threads.iter().filter_map(|thread| host.threads.cgroups.get(&thread.pid)?.known());
    let units = groups.flat_map(|text| text.lines()).filter_map(|line| {
        let last = line.rsplit('/').next()?;
        (last.ends_with(".service") && !last.starts_with("user@")).then(|| last.to_owned())
    });
    let mut units: Vec<String> = units.collect();
    units.sort();
    units.dedup();
    match units.as_slice() {
        [unit] => Ok(unit.clone()),
        [] => Err(format!("{name} belongs to no service of systemd, as far as its control group shows")),
        several => Err(format!("{name} belongs to several services: {}", several.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_host::FsRoot;

    fn machine() -> Snapshot {
        let stat = |tid: i32, comm: &str, flags: u64, priority: u32, policy: u32| {
            format!(
                "{tid} ({comm}) S 0 0 0 0 0 {flags} 0 0 0 0 0 0 0 0 0 0 0 0 7 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 {priority} \
                 {policy} 0\n"
            )
        };
        let status = "Cpus_allowed_list:\t0-1\n".to_owned();
        let files: Vec<(String, String)> = vec![
            ("/proc/7/task/7/stat".into(), stat(7, "hog", 0, 90, 1)),
            ("/proc/7/task/7/status".into(), status.clone()),
            ("/proc/7/cgroup".into(), "0::/system.slice/hog.service\n".into()),
            ("/proc/8/task/8/stat".into(), stat(8, "rr", 0, 5, 2)),
            ("/proc/8/task/8/status".into(), status.clone()),
            ("/proc/8/cgroup".into(), "0::/user.slice/user@0.service\n".into()),
            ("/proc/9/task/9/stat".into(), stat(9, "irq/24-eth0", 0x0020_0000, 50, 1)),
            ("/proc/9/task/9/status".into(), status),
            ("/sys/devices/system/cpu/online".into(), "0-1\n".into()),
            ("/proc/irq/24/smp_affinity_list".into(), "0-1\n".into()),
            ("/proc/irq/24/eth0".into(), String::new()),
        ];
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        Snapshot::read(&FsRoot::memory(&files))
    }

    fn shown(action: &Action) -> String {
        match settings(action, &machine()) {
            Ok(wanted) => wanted
                .iter()
                .map(|(selector, value)| format!("{selector} = {}", value.as_deref().unwrap_or("-")))
                .collect::<Vec<_>>()
                .join("; "),
            Err(why) => format!("not: {why}"),
        }
    }

    fn of(thread: &str, priority: Option<u32>, not_cpus: Option<&str>) -> Action {
        let not_cpus = not_cpus.map(str::to_owned);
        Action::thread(ThreadAction {
            thread: thread.to_owned(),
            priority,
            not_cpus,
            ..ThreadAction::default()
        })
    }

    #[test]
    fn actions_meet_the_machine() {
        let unit = |thread: &str| Action::Unit {
            set: vec![UnitAction {
                thread: Some(thread.to_owned()),
                runs: Some(false),
                ..UnitAction::default()
            }],
        };
        let irq = |irq, name: &str| Action::Irq {
            set: vec![IrqAction { irq, name: name.to_owned(), cpus: None, not_cpus: Some("1".to_owned()) }],
        };
        for (action, expected) in [
            (of("hog", None, Some("1")), "CPUs of hog = 0"),
            (of("hog", Some(40), None), "policy of hog = fifo 40"),
            (of("rr", Some(40), None), "policy of rr = rr 40"),
            (of("hog", Some(0), None), "policy of hog = other"),
            (
                of("irq/24-eth0", Some(40), Some("0")),
                "policy of [irq/24-eth0] = fifo 40; CPUs of [irq/24-eth0] = 1",
            ),
            (of("hog", None, Some("0-7")), "not: the machine has no CPU besides 0-7 to move it to"),
            (
                of("gone", Some(1), None),
                "not: no thread is called gone now: the program that starts it must run",
            ),
            (irq(Some(24), "eth0"), "/proc/irq/24/smp_affinity_list = 0"),
            (irq(Some(30), "eth0"), "/proc/irq/24/smp_affinity_list = 0"),
            (irq(Some(24), "sda"), "not: this machine has no interrupt 24 sda"),
            (unit("hog"), "hog.service runs = inactive"),
            (unit("rr"), "not: rr belongs to no service of systemd, as far as its control group shows"),
            (Action::parameters("nosmt a=1"), "kernel parameter nosmt = ; kernel parameter a = 1"),
            (Action::sysctl("vm.swappiness", "1"), "vm.swappiness = 1"),
            (Action::tunable(DMA_LATENCY, "0"), "request on /dev/cpu_dma_latency = 0"),
            (Action::by_hand("another program"), "not: no setting makes it: another program"),
        ] {
            assert_eq!(shown(&action), expected, "{action:?}");
        }
    }
}
