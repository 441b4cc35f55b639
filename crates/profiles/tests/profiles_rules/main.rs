//! Built-in profiles against the rules of `whylate check`: on a machine where everything is wrong each rule that a
//! profile links fails, and passes once its wishes are made.

mod machine;

use machine::{Machine, list};
use std::collections::{BTreeMap, BTreeSet};
use whylate_checks::{CheckOptions, Profile, RULES, RuleResult, RuleStatus};
use whylate_host::Snapshot;
use whylate_profiles::{DesiredSetting, DesiredState, Selector, profile};

fn given(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn desired(profile: Profile, set: &[(&str, &str)], machine: &Machine) -> DesiredState {
    profile::load(profile.name(), &given(set), &machine.snapshot(), &[])
        .unwrap_or_else(|error| panic!("{profile}: {error}"))
}

/// All that a profile can be asked for.
fn everything(profile: Profile) -> Vec<(&'static str, &'static str)> {
    let isolating: &[_] = &[
        ("isolated", "2-3"),
        ("partition", "yes"),
        ("smt-off", "yes"),
        ("steady-frequency", "yes"),
        ("no-reports", "yes"),
        ("less-security", "yes"),
    ];
    match profile {
        Profile::Audio => vec![("mains", "yes")],
        Profile::RealtimeVirtualHost => [isolating, &[("huge-pages", "4")]].concat(),
        _ => isolating.to_vec(),
    }
}

/// One machine without the fair server, one with it, and a guest without PREEMPT_RT.
fn machines() -> [(&'static str, Machine); 3] {
    let new = Machine::wrong("7.2.0-1-rt-amd64", "#1 SMP PREEMPT_RT Debian 7.2.1-1");
    let mut old = Machine::wrong("6.1.0-28-rt-amd64", "#1 SMP PREEMPT_RT Debian 6.1.119-1");
    old.files.retain(|path, _| !path.contains("_server/") && !path.contains("sched_ext"));
    let mut guest = Machine::wrong("6.12.38+deb13-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.12.38-1");
    for (path, text) in [
        ("/proc/cpuinfo", "flags : tsc constant_tsc nonstop_tsc hypervisor"),
        ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "kvm-clock"),
        ("/sys/devices/system/clocksource/clocksource0/available_clocksource", "kvm-clock tsc acpi_pm"),
    ] {
        guest.files.insert(path.to_owned(), text.to_owned());
    }
    [("6.1-rt", old), ("7.2-rt", new), ("a guest", guest)]
}

fn check(code: &str, profile: Profile, machine: &Snapshot) -> RuleResult {
    let rule = RULES.iter().find(|rule| rule.code == code).expect("a rule");
    // Those whose threads poll have them at 1.
    let ask = CheckOptions { cpus: Some(list("2-3")), priority: Some(1), ..CheckOptions::of(profile) };
    (rule.check)(machine, &ask)
}

fn is(verdict: &RuleResult, status: RuleStatus) -> bool {
    matches!(verdict, Ok(answer) if answer.status == status)
}

/// What a profile links.
fn linked(desired: &DesiredState) -> BTreeSet<String> {
    desired.settings.iter().filter_map(|setting| setting.reasons.rule.clone()).collect()
}

#[test]
fn rules_that_a_profile_links_pass_once_its_wishes_are_made() {
    let mut wrong = BTreeMap::new();
    for (name, before) in machines() {
        for &profile in Profile::ALL {
            let desired = desired(profile, &everything(profile), &before);
            let after = before.granted(&desired);
            let again = after.granted(&desired);
            assert_eq!(after.files, again.files, "{profile}: made twice is made once");
            let after = after.snapshot();
            for code in linked(&desired) {
                let asked = RULES.iter().any(|rule| rule.code == code && rule.profiles.contains(&profile));
                let verdict = check(&code, profile, &after);
                // What a rule of another profile requires does not matter to this one.
                if asked && !is(&verdict, RuleStatus::Pass) && !is(&verdict, RuleStatus::NotApplicable) {
                    wrong.insert(format!("{name}, {profile}, {code}"), verdict.map(|answer| answer.what));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Otherwise the test above would prove nothing.
#[test]
fn they_fail_before() {
    // A net is missing only where throttling was switched off; the files do not tell the rest apart.
    const NOT_BEFORE: &[&str] = &["throttling-off-no-net", "cpuset-partition", "isolation-settings"];
    let (mut seen, mut odd) = (BTreeSet::new(), BTreeMap::new());
    for ((_, before), &profile) in
        machines().iter().flat_map(|of| Profile::ALL.iter().map(move |profile| (of, profile)))
    {
        let desired = desired(profile, &everything(profile), before);
        let before = before.snapshot();
        for code in linked(&desired) {
            let asked = RULES.iter().any(|rule| rule.code == code && rule.profiles.contains(&profile));
            let verdict = check(&code, profile, &before);
            if is(&verdict, RuleStatus::Fail) {
                seen.insert(code);
            } else if asked && !NOT_BEFORE.contains(&code.as_str()) {
                odd.insert(code, verdict.map(|answer| answer.what));
            }
        }
    }
    odd.retain(|code, _| !seen.contains(code));
    assert!(odd.is_empty(), "{odd:#?}");
    assert!(seen.len() >= 40, "{seen:?}");
}

/// Each rule that a profile is asked by is linked in it, unless no setting can do anything about it.
#[test]
fn every_fix_that_can_be_a_setting_is_in_the_profile() {
    /// Hardware, firmware, the kernel's build, another program's or user's own configuration.
    const NO_SETTING: &[&str] = &[
        "preempt-rt",
        "rt-kernel-not-booted",
        "kernel-debug",
        "latency-tracers",
        "kernel-options",
        // Whose priorities are wrong depends on the user's.
        "rogue-rt-threads",
        "kernel-threads",
        "irq-threads",
        "rr-timeslice",
        // limits.d(5) and units are by user, group and service: for whom to raise a limit is the administrator's to
        // state, and raised for all it is a way to stop the machine.
        "rtprio-limit",
        "memlock-limit",
        "nice-limit",
        "rttime-limit",
        "rtkit",
        "container-limits",
        // A plan refuses to leave no CPU.
        "housekeeping",
        // Another program's trace in progress.
        "tracing-left-on",
        "stalld",
        "tuned-profile",
        // idle= has other values, which may be needed.
        "idle-poll",
        "frequency-limits",
        "frequency-driver",
        "thermal-throttling",
        "raspberry-pi-throttled",
        "numa-placement",
        "clocksource",
        "timer-device",
        // Power modes and buses are the board's, CPUs the user's choice; `governor` is linked as such.
        "jetson-power-mode",
        "imx-bus-frequency",
        "frequency-domain",
        "cpu-capacity",
        // A board's clock; throttling, linked as rt-throttling, is what it makes harmful.
        "scheduler-clock",
        // Which driver a machine needs.
        "out-of-tree-modules",
        // Which CPUs are real-time is the user's choice.
        "housekeeping-per-socket",
        // Guests belong to their manager, and a module's parameter to its loading.
        "vcpu-threads",
        "kvm-timer-advance",
        // isolcpus= with managed_irq, linked as cpu-isolation.
        "managed-irqs",
        "shared-irqs",
        // swapoff(8) reads back all that was swapped out, for minutes, and may run out of memory half way: neither the
        // apply nor the undo could promise an end. vm.swappiness, linked as such, keeps real-time memory in.
        "swap",
        "smi",
        "graphics",
        "hypervisor",
        "steal-time",
    ];
    /// What a profile leaves alone on purpose.
    const ON_PURPOSE: &[(Profile, &[&str])] = &[
        // A laptop keeps its net, its security and its memory; it isolates nothing.
        (Profile::Audio, &["throttling-off-no-net", "mitigations", "overcommit"]),
        // The fair server is the net. Threads that sleep want their tick, and come before the kernel's threads.
        (Profile::Realtime, &["fair-server", "nohz-full", "softirq-threads", "systemd-affinity"]),
        (Profile::Robotics, &["fair-server", "nohz-full", "softirq-threads", "systemd-affinity"]),
    ];
    let machines = machines();
    for &profile in Profile::ALL {
        let codes: BTreeSet<String> = machines
            .iter()
            .flat_map(|(_, machine)| linked(&desired(profile, &everything(profile), machine)))
            .collect();
        for rule in RULES.iter().filter(|rule| rule.profiles.contains(&profile)) {
            let left = ON_PURPOSE.iter().find(|(own, _)| *own == profile).map_or(&[][..], |(_, codes)| codes);
            let excused = NO_SETTING.contains(&rule.code) || left.contains(&rule.code);
            assert!(codes.contains(rule.code) != excused, "{profile}: {}, excused: {excused}", rule.code);
        }
    }
}

#[test]
fn throttling_is_off_only_with_a_net_below() {
    let throttling = |desired: &DesiredState| {
        let path = "/proc/sys/kernel/sched_rt_runtime_us";
        desired
            .settings
            .iter()
            .any(|setting| matches!(&setting.selector, Selector::Tunable { path: own } if own == path))
    };
    for (name, machine) in machines() {
        for stalld in [true, false] {
            let mut machine = machine.clone();
            // Where CPUs borrow from each other throttling is no net, and `audio` does not ask for another.
            let features = "/sys/kernel/debug/sched/features".to_owned();
            machine.files.insert(features, "NO_RT_RUNTIME_SHARE".to_owned());
            if !stalld {
                machine.files.remove("/usr/lib/systemd/system/stalld.service");
            }
            for &profile in Profile::ALL {
                let set: &[_] = if profile == Profile::Audio { &[] } else { &[("isolated", "2-3")] };
                let desired = desired(profile, set, &machine);
                let verdict = check("throttling-off-no-net", profile, &machine.granted(&desired).snapshot());
                assert!(is(&verdict, RuleStatus::Pass), "{name}, {profile}, stalld {stalld}: {verdict:#?}");
                let expected = profile != Profile::Audio && (stalld || name != "6.1-rt");
                assert_eq!(throttling(&desired), expected, "{name}, {profile}, stalld {stalld}");
            }
        }
    }
}

/// Without isolated CPUs `robotics` asks nothing that needs any, and c-states are bounded for all.
#[test]
fn robotics_does_without_isolated_cpus() {
    let [_, (_, before), _] = machines();
    let desired = desired(Profile::Robotics, &[], &before);
    let is_isolating = |setting: &&DesiredSetting| match &setting.selector {
        Selector::Irqs
        | Selector::ThreadCpus { .. }
        | Selector::ThreadPlacement { .. }
        | Selector::Partition { .. }
        | Selector::Variable { .. } => true,
        Selector::Parameter { name } => name == "isolcpus",
        _ => false,
    };
    assert_eq!(desired.settings.iter().find(is_isolating), None);
    let after = before.granted(&desired).snapshot();
    for code in ["c-states", "soft-watchdog", "governor", "rt-throttling"] {
        let verdict = check(code, Profile::Robotics, &after);
        assert!(is(&verdict, RuleStatus::Pass), "{code}: {verdict:#?}");
    }
}
