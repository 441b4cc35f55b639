//! Why a plan must not be applied as it is.

use super::context::PlanContext;
use super::cpus::named;
use crate::{Plan, PlanRefusal, Setting, ThreadId};
use whylate_base::{Cpu, CpuSet};
use whylate_checks::{CheckOptions, Profile, RuleStatus, Selection};
use whylate_host::{Reading, Server, Snapshot};

/// What the user allowed, by the codes of refusals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedRefusals(Vec<String>);

impl AllowedRefusals {
    /// The codes of refusals that can be overridden.
    pub const CODES: &'static [&'static str] =
        &["isolates-cpu-0", "throttling-off-no-net", "unknown-cpus", "container", "kernel-refuses"];

    /// Of the codes that a user gave.
    ///
    /// # Errors
    /// The first that is unknown, or that cannot be overridden.
    pub fn of(codes: &[String]) -> Result<AllowedRefusals, String> {
        match codes.iter().find(|code| !AllowedRefusals::CODES.contains(&code.as_str())) {
            Some(code) => Err(code.clone()),
            None => Ok(AllowedRefusals(codes.to_vec())),
        }
    }

    /// Whether a refusal is overridden.
    pub(super) fn contains(&self, code: &str) -> bool {
        self.0.iter().any(|own| own == code)
    }
}

/// A code, why, what to do.
type CodedRefusal = (&'static str, String, String);

pub(super) fn of(plan: &Plan, context: &PlanContext<'_>, allowed: &AllowedRefusals) -> Vec<PlanRefusal> {
    // What changes nothing can do no harm.
    if plan.changes.is_empty() {
        return Vec::new();
    }
    let mut refusals = of_cpus(plan, context);
    refusals.extend(no_net(plan, context.host));
    refusals.extend(locked_down(plan, context));
    refusals.extend(container(plan, context.host));
    refusals.extend(kernel_refuses(plan));
    let kept = refusals.into_iter().filter(|(code, ..)| !allowed.contains(code));
    kept.map(|(code, why, fix)| refusal(code, why, fix)).collect()
}

fn refusal(code: &str, why: String, fix: String) -> PlanRefusal {
    let fix = match AllowedRefusals::CODES.contains(&code) {
        true => format!("{fix}; or --allow {code}"),
        false => fix,
    };
    PlanRefusal { code: code.to_owned(), why, fix }
}

/// Only root may apply to a running machine; `is_root` is about the effective user.
pub fn without_root(plan: &Plan, is_root: bool) -> Option<PlanRefusal> {
    (!is_root && !plan.changes.is_empty()).then(|| {
        refusal("not-root", "only root can change kernel settings".to_owned(), "run it with sudo".to_owned())
    })
}

/// Of the CPUs that desired settings name. Each code once: a profile names the same CPUs in many places.
fn of_cpus(plan: &Plan, context: &PlanContext<'_>) -> Vec<CodedRefusal> {
    let Some(online) = context.host.cpus.online.known() else { return Vec::new() };
    let present = context.host.cpus.present.known().unwrap_or(online);
    let (mut taken, mut given) = (CpuSet::new(), CpuSet::new());
    let mut uncovered = None;
    for desired_setting in &plan.desired.settings {
        let Some(named) = named(desired_setting, context) else { continue };
        named.cpus.iter().for_each(|cpu| given.insert(cpu));
        if named.taken {
            named.cpus.iter().for_each(|cpu| taken.insert(cpu));
        } else if uncovered.is_none() && !online.iter().any(|cpu| named.cpus.contains(cpu)) {
            uncovered = Some((desired_setting.origin.clone(), named.cpus));
        }
    }
    let mut refusals = Vec::new();
    if let Some((why, fix)) = whylate_profiles::none_left(&taken, online) {
        refusals.push(("no-housekeeping-cpu", why, fix.to_owned()));
    } else if let Some((origin, cpus)) = uncovered {
        let list = if cpus.is_empty() { "none".to_owned() } else { cpus.to_string() };
        refusals.push((
            "no-housekeeping-cpu",
            format!("{origin} moves everything else to CPUs {list}, and the online CPUs are {online}"),
            "leave at least one online CPU".to_owned(),
        ));
    }
    if taken.contains(Cpu(0)) {
        refusals.push((
            "isolates-cpu-0",
            "CPU 0 would be isolated: it boots the machine, and much of the kernel's own work runs on it"
                .to_owned(),
            "isolate others".to_owned(),
        ));
    }
    // A list such as 0-N names every CPU that might be.
    let missing = given.without(present);
    let offline = given.without(online).without(&missing);
    for (cpus, outcome) in [(missing, "not there"), (offline, "offline")] {
        if !cpus.is_empty() && refusals.iter().all(|(code, ..)| *code != "unknown-cpus") {
            refusals.push((
                "unknown-cpus",
                format!("the plan names CPUs {cpus}, which are {outcome}; online are {online}"),
                "name CPUs of this machine".to_owned(),
            ));
        }
    }
    refusals
}

/// What the check would report of the machine as the plan leaves it, where the plan has a hand in it.
fn no_net(plan: &Plan, host: &Snapshot) -> Option<CodedRefusal> {
    const CODE: &str = "throttling-off-no-net";
    let has_hand = plan.changes.iter().any(|change| match &change.setting {
        Setting::Tunable { path } => {
            path.starts_with("/proc/sys/kernel/sched_rt_")
                || path.starts_with("/sys/kernel/debug/sched/fair_server/")
        }
        _ => false,
    });
    let guard = plan.changes.iter().any(|change| {
        matches!(&change.setting, Setting::UnitActive { unit } if is_guard(unit))
            && change.then.as_deref() == Some("active")
    });
    if !has_hand || guard {
        return None;
    }
    let after = after(plan, host);
    let selection = Selection { only: vec![CODE.to_owned()], skip: Vec::new() };
    let report = whylate_checks::check(&after, &CheckOptions::of(Profile::Realtime), &selection);
    let answer =
        report.answers.first()?.verdict.as_ref().ok().filter(|answer| answer.status == RuleStatus::Fail)?;
    Some((
        CODE,
        format!("{}. {}", answer.what, answer.why),
        "leave kernel.sched_rt_runtime_us as it is, keep the fair servers on, or start whylate-guard or stalld".to_owned(),
    ))
}

/// A unit that helps threads that starve.
fn is_guard(unit: &str) -> bool {
    matches!(unit, "whylate-guard.service" | "stalld.service")
}

/// The machine with the bandwidth settings of the plan.
fn after(plan: &Plan, host: &Snapshot) -> Snapshot {
    let mut after = host.clone();
    for change in &plan.changes {
        let (Setting::Tunable { path }, Some(then)) = (&change.setting, &change.then) else { continue };
        let signed = then.parse::<i64>().ok();
        match (path.strip_prefix("/sys/kernel/debug/sched/fair_server/cpu"), signed) {
            (_, Some(value)) if path.ends_with("/sched_rt_runtime_us") => {
                after.sched.rt_runtime_us = Reading::new(path, Ok(value));
            }
            (_, Some(value)) if path.ends_with("/sched_rt_period_us") => {
                after.sched.rt_period_us = Reading::new(path, Ok(value));
            }
            (Some(rest), Some(value)) => {
                let Some((cpu, "runtime")) = rest.split_once('/') else { continue };
                let servers = after.sched.fair_servers.value.iter_mut().flatten();
                let own = |server: &&mut Server| Some(server.cpu) == cpu.parse().ok().map(Cpu);
                if let Some(server) = servers.into_iter().find(own) {
                    server.runtime_ns = Reading::new(path, Ok(value.unsigned_abs()));
                }
            }
            _ => {}
        }
    }
    after
}

/// A required setting that cannot be set: the apply would stop there, half-way.
fn kernel_refuses(plan: &Plan) -> Option<CodedRefusal> {
    let refused =
        plan.changes.iter().filter_map(|change| Some((&change.setting, change.prediction.as_ref()?)));
    let refused: Vec<_> = refused.collect();
    let (setting, why) = refused.first()?;
    let more = match refused.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    Some((
        "kernel-refuses",
        format!("the kernel will refuse to change {setting}: {why}{more}"),
        "remove the setting from the profile, or mark it with `optional = true`".to_owned(),
    ))
}

/// Lockdown makes debugfs read-only (kernel_lockdown(7)); a file system may be mounted read-only.
fn locked_down(plan: &Plan, context: &PlanContext<'_>) -> Option<CodedRefusal> {
    let paths = || {
        plan.changes.iter().filter_map(|change| match &change.setting {
            Setting::Tunable { path } => Some(path.as_str()),
            Setting::Partition { .. } => Some("/sys/fs/cgroup/"),
            _ => None,
        })
    };
    let lockdown = context.host.kernel.lockdown.known().filter(|mode| mode.chosen != "none");
    if let (Some(mode), Some(path)) = (lockdown, paths().find(|path| path.starts_with("/sys/kernel/debug/")))
    {
        return Some((
            "locked-down",
            format!("the kernel is locked down ({mode}), and refuses to change {path}"),
            "remove the debugfs settings from the profile, or boot without lockdown".to_owned(),
        ));
    }
    let mounts = context.tree.text("/proc/self/mounts");
    let mounts = mounts.known()?;
    let (path, mount) = paths().find_map(|path| Some((path, read_only(path, mounts)?)))?;
    Some((
        "locked-down",
        format!("{mount} is mounted read-only, and the plan changes {path}"),
        format!("mount -o remount,rw {mount}, on the host where this is a container"),
    ))
}

/// The read-only mount point that a path is on; of several the closest counts, of that the last.
fn read_only<'a>(path: &str, mounts: &'a str) -> Option<&'a str> {
    let mut closest: Option<(&str, bool)> = None;
    for line in mounts.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, at, _, options, ..] = words[..] else { continue };
        let inside = at == "/" || path.strip_prefix(at).is_some_and(|rest| rest.starts_with('/'));
        if inside && closest.is_none_or(|(other, _)| at.len() >= other.len()) {
            closest = Some((at, options.split(',').any(|option| option == "ro")));
        }
    }
    closest.filter(|&(at, read_only)| read_only && at != "/").map(|(at, _)| at)
}

/// Inside of a container the kernel's settings are the host's.
fn container(plan: &Plan, host: &Snapshot) -> Option<CodedRefusal> {
    const SYS_ADMIN: u32 = 21;
    let signs = &host.platform.container;
    let named = |text: &String| {
        ["docker", "kubepods", "containerd", "lxc", "libpod"].iter().any(|name| text.contains(name))
    };
    let inside = signs.docker.known().is_some()
        || signs.podman.known().is_some()
        || signs.systemd.known().is_some()
        || signs.first_cgroup.known().is_some_and(named);
    // A user other than root has none of them anywhere: that is another refusal.
    let may = |mask: &u64| *mask == 0 || mask >> SYS_ADMIN & 1 == 1;
    let may = host.limits.own_capabilities.known().is_none_or(may);
    let threads_only = plan.changes.iter().all(|change| of_thread(&change.setting).is_some());
    (inside && !may && !threads_only).then(|| {
        (
            "container",
            "this is a container without CAP_SYS_ADMIN: it cannot change the host's settings".to_owned(),
            "plan and apply on the host".to_owned(),
        )
    })
}

fn of_thread(setting: &Setting) -> Option<&ThreadId> {
    match setting {
        Setting::ThreadPolicy { thread } | Setting::ThreadCpus { thread } => Some(thread),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_mount_counts() {
        let mounts = "overlay / overlay ro 0 0\nsysfs /sys sysfs ro,nosuid 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n\
                      proc /proc proc rw 0 0\nproc /proc/sys proc ro 0 0\n";
        assert_eq!(read_only("/sys/kernel/mm/ksm/run", mounts), Some("/sys"));
        assert_eq!(read_only("/sys/fs/cgroup/x", mounts), None);
        assert_eq!(read_only("/proc/sys/vm/swappiness", mounts), Some("/proc/sys"));
        assert_eq!(read_only("/proc/irq/4/smp_affinity_list", mounts), None);
        assert_eq!(
            read_only("/system", mounts),
            None,
            "of a root that is read-only the kernel's files know nothing"
        );
    }

    #[test]
    fn only_some_refusals_can_be_overridden() {
        let codes = |codes: &[&str]| codes.iter().map(|&code| code.to_owned()).collect::<Vec<_>>();
        assert!(AllowedRefusals::of(&codes(&["isolates-cpu-0"])).expect("known").contains("isolates-cpu-0"));
        assert_eq!(
            AllowedRefusals::of(&codes(&["no-housekeeping-cpu"])),
            Err("no-housekeeping-cpu".to_owned())
        );
        assert_eq!(AllowedRefusals::of(&codes(&["x"])), Err("x".to_owned()));
    }
}
