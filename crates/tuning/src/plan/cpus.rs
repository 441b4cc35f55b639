//! Sets of CPUs: of a value, of a parameter, and what the machine has.

use super::context::PlanContext;
use whylate_base::{Cpu, CpuSet};
use whylate_profiles::{DesiredSetting, Selector};

/// What may stand before the CPUs of `isolcpus=`.
const FLAGS: [&str; 3] = ["nohz", "domain", "managed_irq"];

/// The CPUs of `now` that are among `desired`; where there are none, those that are desired.
pub(super) fn narrowed(now: &CpuSet, wanted: &CpuSet) -> CpuSet {
    let both: CpuSet = now.iter().filter(|&cpu| wanted.contains(cpu)).collect();
    if both.is_empty() { wanted.clone() } else { both }
}

/// A desired setting that names CPUs.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) cpus: CpuSet,
    /// Whether they are taken from everybody else; otherwise everybody else is sent there.
    pub(super) taken: bool,
}

/// The CPUs that a desired setting names; `None`: it names none, or its value is no list.
pub(super) fn named(desired_setting: &DesiredSetting, context: &PlanContext<'_>) -> Option<Named> {
    let value = desired_setting.value.as_deref()?;
    let taken = |cpus| Some(Named { cpus, taken: true });
    let others = |cpus| Some(Named { cpus, taken: false });
    match &desired_setting.selector {
        Selector::Parameter { name } => match name.replace('-', "_").as_str() {
            "isolcpus" | "nohz_full" if !value.is_empty() => taken(of_parameter(value, context)?),
            "irqaffinity" | "kthread_cpus" => others(of_parameter(value, context)?),
            _ => None,
        },
        Selector::Partition { .. } => taken(value.split_once(' ')?.1.parse().ok()?),
        Selector::Irqs | Selector::ThreadCpus { .. } | Selector::ThreadPlacement { .. } => {
            others(value.parse().ok()?)
        }
        _ => None,
    }
}

/// A CPU list of the kernel's command line, which may have `N` for the last CPU, `all`, and `0-31:1/2` for the first
/// of every two (Documentation/admin-guide/kernel-parameters.rst). `None`: not understood.
fn of_parameter(value: &str, context: &PlanContext<'_>) -> Option<CpuSet> {
    let possible = context.host.cpus.possible.known().or(context.host.cpus.online.known());
    let last = possible.and_then(|cpus| cpus.iter().last()).map(|cpu| cpu.0);
    list(value, last)
}

fn list(value: &str, last: Option<u32>) -> Option<CpuSet> {
    let number = |text: &str| if text == "N" { last } else { text.parse().ok().filter(|&cpu| cpu < 8192) };
    let mut cpus = CpuSet::new();
    for part in value.split(',').filter(|part| !FLAGS.contains(part)) {
        let (range, (used, group)) = match part.split_once(':') {
            Some((range, pattern)) => {
                let (used, group) = pattern.split_once('/')?;
                (range, (used.parse::<u32>().ok()?, group.parse::<u32>().ok()?))
            }
            None => (part, (1, 1)),
        };
        let (first, end) = match range.split_once('-') {
            _ if range == "all" => (0, last?),
            Some((first, end)) => (number(first)?, number(end)?),
            None => (number(range)?, number(range)?),
        };
        if group == 0 || used > group || first > end {
            return None;
        }
        (first..=end).filter(|cpu| (cpu - first) % group < used).for_each(|cpu| cpus.insert(Cpu(cpu)));
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_parameters() {
        for (text, expected) in [
            ("managed_irq,domain,2-3", Some("2-3")),
            ("nohz,domain,1,4-N", Some("1,4-7")),
            ("all", Some("0-7")),
            ("0-7:1/2", Some("0,2,4,6")),
            ("6-9", Some("6-9")),
            ("3-1", None),
            ("two", None),
            ("0-7:1/0", None),
            ("0-99999", None),
        ] {
            assert_eq!(list(text, Some(7)).map(|cpus| cpus.to_string()).as_deref(), expected, "{text}");
        }
        assert_eq!(list("4-N", None), None);
    }

    #[test]
    fn what_a_thread_keeps() {
        let list = |text: &str| text.parse::<CpuSet>().expect("a list");
        assert_eq!(narrowed(&list("0-3"), &list("0-1")).to_string(), "0-1");
        assert_eq!(narrowed(&list("2-3"), &list("0-1")).to_string(), "0-1");
        assert_eq!(narrowed(&list("1-2"), &list("0-1")).to_string(), "1");
    }
}
