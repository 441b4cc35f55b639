//! The plugin scheduler: threads and interrupts leave the isolated CPUs, groups of threads get policies.

use super::super::cpulist;
use super::super::error::TunedError;
use super::super::functions::numbers;
use super::super::merge::{Item, Unit};
use super::super::output::{Must, Output};
use super::super::python::{int, regex};
use super::options::{truth, unknown};
use crate::{Pattern, Selector, ThreadSelector};
use whylate_host::KernelVersion;

const DEFAULT_AFFINITY: &str = "/proc/irq/default_smp_affinity";

pub(super) fn carry_over(unit: &Unit, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    let find = |name: &str| unit.options.iter().find(|item| item.name == name);
    if let Some(item) = find("isolated_cores")
        && let Some(value) = out.value(item)?
    {
        isolate(unit, item, &value, out)?;
    }
    let mut groups = Vec::new();
    for item in &unit.options {
        match item.name.as_str() {
            "isolated_cores" | "ps_whitelist" | "ps_blacklist" | "irq_process" | "default_irq_smp_affinity" => {}
            "runtime" | "perf_mmap_pages" | "perf_process_fork" | "kthread_process" => out.leave(
                item,
                "only TuneD's daemon does this: it also changes threads that start later; here, new threads inherit from their creators",
            ),
            "cgroup_ps_blacklist" => {
                out.leave(item, "threads are not distinguished by control group: these are moved too");
            }
            name if name.starts_with("cgroup") => {
                out.leave(item, "it needs control groups of version 1");
            }
            name if name.starts_with("sched_") || name.starts_with("numa_balancing_") => {
                let Some(value) = out.value(item)? else { continue };
                match tunable(name, out) {
                    Some(path) => out.assign(&path, &value, item, Must::Perhaps),
                    None => unknown(item, unit, out),
                }
            }
            name if name.starts_with("group.") => {
                if let Some(value) = out.value(item)? {
                    // TuneD orders them by the first field, as a text; an empty one undoes an inherited one.
                    let fields: Vec<String> = value.splitn(5, ':').map(str::to_owned).collect();
                    match <[String; 5]>::try_from(fields) {
                        Ok(fields) => groups.push((fields, item)),
                        Err(_) if value.trim().is_empty() => {}
                        Err(_) => out.leave(item, "it is not PRIORITY:POLICY:PRIORITY:AFFINITY:REGEX"),
                    }
                }
            }
            _ => unknown(item, unit, out),
        }
    }
    groups.sort_by(|(a, _), (b, _)| a[0].cmp(&b[0]));
    for (fields, item) in groups {
        group(&fields, item, out)?;
    }
    Ok(())
}

/// Threads and interrupts leave some CPUs.
fn isolate(unit: &Unit, item: &Item, value: &str, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    let Some(isolated) = cpus_among_online(value, item, out)? else { return Ok(()) };
    let find = |name: &str| unit.options.iter().find(|item| item.name == name);
    let online = match out.variables.facts.host.cpus.online.need() {
        Ok(online) => numbers(online),
        Err(_) => return Ok(()),
    };
    let left = cpulist::packed(&(&online - &isolated));
    let named = patterns(find("ps_whitelist"), out)?.map(|mut patterns| match patterns.len() {
        0 => ".*".to_owned(),
        1 => patterns.remove(0),
        _ => patterns.iter().map(|one| format!("({one})")).collect::<Vec<_>>().join("|"),
    });
    let except = patterns(find("ps_blacklist"), out)?;
    if let (Some(named), Some(except)) = (named, except) {
        let except = except.into_iter().map(|text| Pattern::Regex(with_bracket(&text))).collect();
        let threads = ThreadSelector { named: Pattern::Regex(with_bracket(&named)), except };
        out.setting(Selector::ThreadCpus { threads }, left.clone(), item, Must::Exist);
    }
    if let Some(process) = find("irq_process")
        && let Some(value) = out.value(process)?
        && truth(&value) != "1"
    {
        return Ok(());
    }
    out.setting(Selector::Irqs, left, item, Must::Exist);
    let Some(default) = find("default_irq_smp_affinity") else { return Ok(()) };
    match out.value(default)?.as_deref() {
        None | Some("calc") => {}
        Some("ignore") => out.leave(default, "the CPUs of new and present interrupts are set together"),
        Some(list) => {
            if let Some(cpus) = cpus(list, default)? {
                out.tunable(DEFAULT_AFFINITY, &cpulist::mask(&cpus), default, Must::Exist);
            }
        }
    }
    Ok(())
}

fn cpus(list: &str, item: &Item) -> Result<Option<std::collections::BTreeSet<u32>>, TunedError> {
    let cpus = cpulist::unpack(list).map_err(|cpulist::Beyond(cpu)| {
        TunedError::written(&item.location, format!("no machine has a CPU {cpu}"), "correct the list of CPUs")
    })?;
    Ok((!cpus.is_empty()).then_some(cpus))
}

/// The CPUs of a list; `None`: TuneD refuses it, for there are others than those online, or they are not known.
pub(super) fn cpus_among_online(
    list: &str,
    item: &Item,
    out: &mut Output<'_, '_>,
) -> Result<Option<std::collections::BTreeSet<u32>>, TunedError> {
    let cpus = cpus(list, item)?.unwrap_or_default();
    let online = match out.variables.facts.host.cpus.online.need() {
        Ok(online) => numbers(online),
        Err(unread) => {
            out.leave(item, unread.to_string());
            return Ok(None);
        }
    };
    match cpus.is_subset(&online) {
        true => Ok(Some(cpus)),
        false => {
            let why = format!("`{list}` has other CPUs than {}, which are online", cpulist::packed(&online));
            out.leave(item, why);
            Ok(None)
        }
    }
}

/// Regular expressions between semicolons; `None`: one is not understood, and leaving it out would mean other
/// threads.
fn patterns(item: Option<&Item>, out: &mut Output<'_, '_>) -> Result<Option<Vec<String>>, TunedError> {
    let Some(item) = item else { return Ok(Some(Vec::new())) };
    let Some(value) = out.value(item)? else { return Ok(None) };
    let mut patterns = vec![String::new()];
    for c in value.chars() {
        let last = patterns.len() - 1;
        match c {
            ';' if !patterns[last].ends_with('\\') => patterns.push(String::new()),
            c => patterns[last].push(c),
        }
    }
    for text in &patterns {
        if let Err(why) = regex(text, false) {
            out.leave(item, format!("{why}; the threads are left unchanged"));
            return Ok(None);
        }
    }
    // An empty one fits every name.
    Ok(Some(patterns))
}

/// TuneD looks at a kernel thread's name once with brackets and once without; here it always has some.
fn with_bracket(text: &str) -> String {
    match text.strip_prefix('^') {
        Some(rest) if !rest.starts_with("\\[") && !rest.starts_with('[') => format!("^\\[?{rest}"),
        _ => text.to_owned(),
    }
}

/// `PRIORITY:POLICY:PRIORITY:AFFINITY:REGEX`.
fn group(fields: &[String; 5], item: &Item, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    let [_, policy, priority, affinity, pattern] = fields;
    if let Err(why) = regex(pattern, false) {
        out.leave(item, why);
        return Ok(());
    }
    if pattern.replace("\\[", "").contains('/') && !pattern.contains("\\[") {
        out.leave(item, "threads are matched by name: a pattern for a command line may match none");
    }
    let threads = || ThreadSelector { named: Pattern::Regex(pattern.clone()), except: Vec::new() };
    let policies = match (policy.as_str(), int(priority, 10)) {
        ("*", Some(_)) => Err("a priority without a policy: it depends on each thread's own"),
        ("f", Some(priority @ 1..=99)) => Ok(format!("fifo {priority}")),
        ("r", Some(priority @ 1..=99)) => Ok(format!("rr {priority}")),
        ("o", Some(0)) => Ok("other 0".to_owned()),
        ("b", Some(0)) => Ok("batch 0".to_owned()),
        ("i", Some(0)) => Ok("idle".to_owned()),
        ("f" | "r", Some(_)) => Err("the priority is not between 1 and 99"),
        ("o" | "b" | "i", Some(_)) => Err("threads of that policy have no other priority than 0"),
        (_, None) => Err("the priority is not a number"),
        _ => Err("there is no such policy: f, r, b, o, i, *"),
    };
    match policies {
        Ok(value) => out.setting(Selector::ThreadPolicy { threads: threads() }, value, item, Must::Perhaps),
        Err(why) => out.leave(item, why),
    }
    match affinity.as_str() {
        "*" => {}
        affinity if affinity.starts_with("cgroup.") => {
            out.leave(item, "it needs control groups of version 1")
        }
        mask => match cpulist::of_mask(mask) {
            Ok(cpus) if !cpus.is_empty() => {
                out.setting(
                    Selector::ThreadCpus { threads: threads() },
                    cpulist::packed(&cpus),
                    item,
                    Must::Perhaps,
                );
            }
            _ => out.leave(item, format!("`{mask}` is not a hexadecimal mask of CPUs")),
        },
    }
    Ok(())
}

/// Where the kernel has a tunable: a sysctl until 5.12, in debugfs since; where both are unknown, in debugfs.
fn tunable(name: &str, out: &Output<'_, '_>) -> Option<String> {
    const KNOWN: [&str; 11] = [
        "sched_base_slice_ns",
        "sched_latency_ns",
        "sched_migration_cost_ns",
        "sched_min_granularity_ns",
        "sched_nr_migrate",
        "sched_tunable_scaling",
        "sched_wakeup_granularity_ns",
        "numa_balancing_scan_delay_ms",
        "numa_balancing_scan_period_max_ms",
        "numa_balancing_scan_period_min_ms",
        "numa_balancing_scan_size_mb",
    ];
    if !KNOWN.contains(&name) {
        return None;
    }
    let facts = &out.variables.facts;
    let sysctl = format!("/proc/sys/kernel/{name}");
    let release = facts.host.kernel.release.known().and_then(|release| release.parse::<KernelVersion>().ok());
    let is_sysctl = match release {
        Some(release) => release < KernelVersion::new(5, 13),
        None => facts.tree.text(&sysctl).value.is_ok(),
    };
    if is_sysctl {
        return Some(sysctl);
    }
    // Since 6.6 the shortest slice has another name.
    let name = match name {
        "sched_min_granularity_ns" if release.is_some_and(|release| release >= KernelVersion::new(6, 6)) => {
            "sched_base_slice_ns"
        }
        "sched_base_slice_ns" if release.is_some_and(|release| release < KernelVersion::new(6, 6)) => {
            "sched_min_granularity_ns"
        }
        name => name,
    };
    let file = match name.strip_prefix("numa_balancing_") {
        Some(rest) => format!("numa_balancing/{rest}"),
        None => name.trim_start_matches("sched_").to_owned(),
    };
    Some(format!("/sys/kernel/debug/sched/{file}"))
}
