//! Services that set again what a plan sets: irqbalance, TuneD, those that govern frequencies.

use super::subjects::{stops, targets};
use crate::plan::context::PlanContext;
use crate::{Conflict, Plan, Setting};
use whylate_base::CpuSet;
use whylate_host::{FromText, Mask};
use whylate_profiles::{DesiredSetting, Selector, tunable};

/// Services that choose governors, frequencies and energy preferences: the unit, what its process is called (the
/// kernel keeps 15 bytes), and what it does.
const GOVERNING: [(&str, &str, &str); 5] = [
    (
        "power-profiles-daemon.service",
        "power-profiles-",
        "sets the governor and the energy preference by its power profile",
    ),
    ("thermald.service", "thermald", "lowers frequencies and switches turbo off by temperature"),
    ("cpupower.service", "", "sets the governor and frequencies at boot"),
    (
        "tlp.service",
        "",
        "sets the governor and the energy preference at boot and when the power supply changes",
    ),
    ("auto-cpufreq.service", "auto-cpufreq", "sets the governor by load and power supply"),
];

pub(super) fn of(plan: &Plan, context: &PlanContext<'_>) -> Vec<Conflict> {
    let mut conflicts: Vec<Conflict> =
        irqbalance(plan, context).into_iter().chain(tuned(plan, context)).collect();
    let frequencies: Vec<String> = targets(plan)
        .filter(|(setting, _)| matches!(setting, Setting::Tunable { path } if is_frequency(path)))
        .map(|(setting, _)| setting.to_string())
        .collect();
    if frequencies.is_empty() {
        return conflicts;
    }
    for (unit, comm, does) in GOVERNING {
        let (runs, starts) = state(unit, comm, context);
        if (runs || starts) && !stops(plan, unit) {
            let name = unit.trim_end_matches(".service");
            conflicts.push(Conflict {
                with: name.to_owned(),
                why: format!("it {}, and {does}", is(runs)),
                fix: format!("systemctl disable --now {unit}"),
                settings: frequencies.clone(),
            });
        }
    }
    conflicts
}

/// Whether a service runs, and whether it starts at boot; what cannot be read is not claimed.
fn state(unit: &str, comm: &str, context: &PlanContext<'_>) -> (bool, bool) {
    let threads = context.host.threads.each.known();
    let runs =
        !comm.is_empty() && threads.is_some_and(|threads| threads.iter().any(|thread| thread.comm == comm));
    (runs, context.host.systemd.is_enabled(unit) == Ok(true))
}

fn is(runs: bool) -> &'static str {
    if runs { "runs" } else { "starts at boot" }
}

fn is_frequency(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    path.starts_with("/sys/devices/system/cpu/")
        && matches!(
            name,
            "scaling_governor"
                | "scaling_min_freq"
                | "scaling_max_freq"
                | "energy_performance_preference"
                | "energy_perf_bias"
                | "no_turbo"
                | "boost"
                | "min_perf_pct"
                | "max_perf_pct"
        )
}

/// Every 10 s it moves interrupts by load, to any CPU that it is not configured to skip (irqbalance(1)).
fn irqbalance(plan: &Plan, context: &PlanContext<'_>) -> Option<Conflict> {
    let moved: Vec<String> = targets(plan)
        .filter(|(setting, _)| matches!(setting, Setting::Tunable { path } if path.starts_with("/proc/irq/")))
        .map(|(setting, _)| setting.to_string())
        .collect();
    let (runs, starts) = state("irqbalance.service", "irqbalance", context);
    if moved.is_empty() || !(runs || starts) || stops(plan, "irqbalance.service") {
        return None;
    }
    let mask = notified(MASK, context).filter(|_| wanted(plan, MASK).is_none());
    let has_value = |desired_setting: &DesiredSetting| {
        desired_setting.value.as_deref().is_some_and(|value| !value.is_empty())
    };
    let tells = [MASK, LIST].iter().any(|variable| wanted(plan, variable).is_some_and(has_value));
    if tells && mask.is_none() {
        return None;
    }
    let wanted =
        plan.desired.settings.iter().find(|desired_setting| desired_setting.selector == Selector::Irqs);
    let wanted = wanted.and_then(|desired_setting| desired_setting.value.as_deref()?.parse::<CpuSet>().ok());
    let others = wanted.zip(context.host.cpus.online.known()).map(|(wanted, online)| online.without(&wanted));
    // It leaves its banned CPUs unchanged, or else those that the kernel isolates.
    if let (Some(others), Some(banned)) = (&others, banned(context))
        && others.without(&banned).is_empty()
    {
        return None;
    }
    let list = others.as_ref().map_or("LIST".to_owned(), CpuSet::to_string);
    let (why, fix) = match mask {
        Some((mask, file)) if tells => (
            format!(
                "it {}, and {MASK}={mask} in {file} takes precedence over the {LIST} that the plan sets",
                is(runs)
            ),
            format!(
                "{MASK}={} there, which every version supports; or remove that line, if irqbalance is 1.8 or newer",
                others.as_ref().map_or("MASK".to_owned(), tunable::mask)
            ),
        ),
        _ => (
            format!(
                "it {}, and moves interrupts by load, including these, to any CPU that is not banned",
                is(runs)
            ),
            format!(
                "{LIST}={list} in /etc/default/irqbalance or /etc/sysconfig/irqbalance, or systemctl disable --now \
                 irqbalance.service"
            ),
        ),
    };
    Some(Conflict { with: "irqbalance".to_owned(), why, fix, settings: moved })
}

/// The CPUs that irqbalance must not use: the mask, where there is one that is not empty, counts before the list, which
/// it knows since 1.8 (`setup_banned_cpus()` in cputree.c, 1.7 to 1.9.5).
const MASK: &str = "IRQBALANCE_BANNED_CPUS";
const LIST: &str = "IRQBALANCE_BANNED_CPULIST";

/// What a plan desired settings for a variable of irqbalance's.
fn wanted<'a>(plan: &'a Plan, variable: &str) -> Option<&'a DesiredSetting> {
    let is_its =
        |selector: &Selector| matches!(selector, Selector::Variable { name, .. } if name == variable);
    plan.desired.settings.iter().find(|desired_setting| is_its(&desired_setting.selector))
}

/// The value that it has now, and the file.
fn notified<'a>(variable: &str, context: &PlanContext<'a>) -> Option<(&'a str, &'a str)> {
    let file = context.host.irqs.balancer.iter().find(|file| file.known().is_some())?;
    let value = file.known()?.get(variable).filter(|value| !value.is_empty())?;
    Some((value, &file.path))
}

/// The CPUs that irqbalance leaves alone now. `None`: not known.
fn banned(context: &PlanContext<'_>) -> Option<CpuSet> {
    match (notified(MASK, context), notified(LIST, context)) {
        (Some((mask, _)), _) => Mask::from_text(mask).map(|Mask(cpus)| cpus),
        (None, Some((list, _))) => list.parse().ok(),
        (None, None) => {
            let isolated = context.host.cpus.isolated.known()?;
            let nohz_full = context.host.cpus.nohz_full.if_present().ok()?;
            Some(isolated.iter().chain(nohz_full.into_iter().flat_map(CpuSet::iter)).collect())
        }
    }
}

/// It applies its profile at each start, and some of its plugins all the time.
fn tuned(plan: &Plan, context: &PlanContext<'_>) -> Option<Conflict> {
    const UNIT: &str = "tuned.service";
    let profile = context.host.systemd.tuned_profile.known().filter(|profile| !profile.is_empty())?;
    let (runs, starts) = state(UNIT, "tuned", context);
    if !(runs || starts) || stops(plan, UNIT) {
        return None;
    }
    let settings: Vec<String> = plan.changes.iter().map(|change| change.setting.to_string()).collect();
    (!settings.is_empty()).then(|| Conflict {
        with: "TuneD".to_owned(),
        why: format!(
            "it {} with profile {profile}, and sets what that profile says, some of it repeatedly",
            is(runs)
        ),
        fix: format!("systemctl disable --now {UNIT}, after `tuned-adm off`"),
        settings,
    })
}
