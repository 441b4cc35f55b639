//! Kernel parameters that contradict each other, and other programs that write them.

use super::subjects::targets;
use crate::plan::context::PlanContext;
use crate::plan::cpus::named;
use crate::{Conflict, Plan, Setting};
use whylate_base::CpuSet;
use whylate_host::Cmdline;

/// A parameter that a plan may set; another one, with a value, that it does not go together with; and why.
const AGAINST: &[(&str, &str, &str, &str)] = &[
    ("nohz_full", "nohz", "off", "without dynamic ticks every CPU has a tick"),
    ("tsc", "notsc", "", "it stops the kernel from using the TSC"),
    ("tsc", "clocksource", "hpet", "another clock source is forced"),
    ("tsc", "clocksource", "acpi_pm", "another clock source is forced"),
    ("threadirqs", "nothreadirqs", "", "the two contradict each other"),
    ("nosoftlockup", "softlockup_panic", "1", "a lockup that is not detected cannot panic"),
    ("intel_pstate", "cpufreq.off", "1", "it disables the frequency driver"),
    ("skew_tick", "nohz", "off", "skewed ticks help only if ticks stop"),
    ("isolcpus", "nosmp", "", "it leaves one CPU"),
    ("nohz_full", "nosmp", "", "it leaves one CPU"),
    ("isolcpus", "maxcpus", "1", "it leaves one CPU"),
];

/// Where TuneD keeps the parameters that it adds by a script of GRUB's.
const TUNED: &str = "/etc/tuned/bootcmdline";

pub(super) fn of(plan: &Plan, context: &PlanContext<'_>) -> Vec<Conflict> {
    let wanted: Vec<(&str, Option<&str>)> = targets(plan)
        .filter_map(|(setting, then)| match setting {
            Setting::Parameter { name } => Some((name.as_str(), then)),
            _ => None,
        })
        .collect();
    let mut conflicts = Vec::new();
    if let Ok(boot) = &context.boot.cmdline {
        conflicts.extend(contradicted(&wanted, boot));
    }
    conflicts.extend(tuned(&wanted, context));
    conflicts.extend(siblings(&wanted, plan, context));
    conflicts
}

fn setting(name: &str) -> String {
    Setting::Parameter { name: name.to_owned() }.to_string()
}

fn contradicted(wanted: &[(&str, Option<&str>)], boot: &Cmdline) -> Vec<Conflict> {
    let mut conflicts = Vec::new();
    for (own, other, value, why) in AGAINST {
        let mine = wanted.iter().find(|(name, then)| name == own && then.is_some());
        // What the plan itself sets for the other counts, not what is there yet.
        let theirs = match wanted.iter().find(|(name, _)| name == other) {
            Some((_, then)) => *then,
            None => boot.get(other),
        };
        if mine.is_some() && theirs == Some(value) {
            let parameter = if value.is_empty() { (*other).to_owned() } else { format!("{other}={value}") };
            conflicts.push(Conflict {
                with: format!("{parameter} on the kernel command line"),
                why: (*why).to_owned(),
                fix: format!(
                    "remove {parameter} from the boot loader's configuration, or {own} from the profile"
                ),
                settings: vec![setting(own)],
            });
        }
    }
    conflicts
}

/// What TuneD adds to the same command line.
fn tuned(wanted: &[(&str, Option<&str>)], context: &PlanContext<'_>) -> Option<Conflict> {
    let text = context.tree.text(TUNED);
    let line = text.known()?.lines().find_map(|line| line.trim().strip_prefix("TUNED_BOOT_CMDLINE="))?;
    let theirs = whylate_host::FromText::from_text(line.trim_matches(['"', '\'']));
    let theirs: Cmdline = theirs?;
    let both = wanted.iter().filter(|(name, then)| theirs.has(name) && theirs.get(name) != *then);
    let both: Vec<String> = both.map(|(name, _)| (*name).to_owned()).collect();
    (!both.is_empty()).then(|| Conflict {
        with: "TuneD".to_owned(),
        why: format!("it adds other values of {} to the kernel command line ({TUNED})", both.join(", ")),
        fix: "run tuned-adm off and reboot once; or remove the parameters from its profile".to_owned(),
        settings: both.iter().map(|name| setting(name)).collect(),
    })
}

/// Without SMT the second thread of each core is gone, also one that is to be isolated.
fn siblings(wanted: &[(&str, Option<&str>)], plan: &Plan, context: &PlanContext<'_>) -> Option<Conflict> {
    wanted.iter().find(|(name, then)| *name == "nosmt" && then.is_some())?;
    let each = context.host.cpus.each.known()?;
    let second = |cpu: &whylate_base::Cpu| {
        let state = each.iter().find(|state| state.cpu == *cpu);
        let siblings = state.and_then(|state| state.topology.siblings.known());
        siblings.is_some_and(|siblings| siblings.iter().next().is_some_and(|first| first != *cpu))
    };
    let taken = plan
        .desired
        .settings
        .iter()
        .filter_map(|desired_setting| named(desired_setting, context))
        .filter(|named| named.taken);
    let taken: Vec<CpuSet> = taken.map(|named| named.cpus).collect();
    let gone: CpuSet = taken.iter().flat_map(CpuSet::iter).filter(second).collect();
    let left = taken.first().map(|cpus| cpus.without(&gone));
    (!gone.is_empty()).then(|| Conflict {
        with: "nosmt".to_owned(),
        why: format!(
            "CPUs {gone}, which the plan isolates, are second threads of their cores: they will be offline"
        ),
        fix: match left.filter(|left| !left.is_empty()) {
            Some(left) => format!("isolate only CPUs {left}"),
            None => "isolate the first threads of the cores".to_owned(),
        },
        settings: vec![setting("nosmt")],
    })
}
