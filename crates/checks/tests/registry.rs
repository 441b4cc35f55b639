//! Properties of every rule.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use whylate_checks::{CheckOptions, Profile, RULES, RuleStatus, Selection, check};
use whylate_host::{FsRoot, Snapshot, Why};

/// The names of the files with an extension in a directory of the repository.
fn names(dir: &str, extension: &str) -> BTreeSet<String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir);
    let entries = fs::read_dir(&dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    names.filter_map(|name| name.strip_suffix(extension).map(str::to_owned)).collect()
}

#[test]
fn every_rule_has_its_file_and_its_page_and_no_other_is_there() {
    let codes: BTreeSet<String> = RULES.iter().map(|rule| rule.code.to_owned()).collect();
    assert_eq!(codes.len(), RULES.len(), "a code is used twice");
    let mut pages = names("docs/rules", ".md");
    assert!(pages.remove("README"), "the index");
    assert_eq!(pages, codes);
    let files: BTreeSet<String> = names("src/rules", ".rs")
        .into_iter()
        .filter(|name| name != "shared")
        .map(|name| name.replace('_', "-"))
        .collect();
    assert_eq!(files, codes);
}

#[test]
fn pages_and_rules_say_the_same() {
    for rule in RULES {
        let code = rule.code;
        let mut lines = rule.page.lines();
        assert_eq!(lines.next(), Some(format!("# {code}").as_str()), "{code}");
        assert_eq!(
            lines.nth(1),
            Some(format!("{}.", rule.title).as_str()),
            "{code}: the title, as a sentence"
        );
        for part in ["## Meaning", "## Detection", "## Fix", "## Sources"] {
            assert!(rule.page.contains(part), "{code} has no {part}");
        }
        for source in rule.sources {
            assert!(rule.page.contains(&format!("- {source}\n")), "{code}: {source} is not on the page");
        }
        assert!(!rule.sources.is_empty() && !rule.profiles.is_empty(), "{code}");
        assert!(
            code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
            "{code}"
        );
    }
}

/// All options, so that every rule is checked.
fn asks() -> Vec<CheckOptions> {
    let full = |&profile: &Profile| CheckOptions {
        profile,
        cpus: Some("1".parse().expect("a list")),
        priority: Some(50),
        user: Some("ann".to_owned()),
    };
    Profile::ALL.iter().flat_map(|profile| [CheckOptions::of(*profile), full(profile)]).collect()
}

#[test]
fn nothing_unreadable_is_reported_as_fine() {
    let reasons = [
        Why::Missing,
        Why::Denied,
        Why::NotCollected,
        Why::NotMounted { at: "/sys".to_owned() },
        Why::Malformed { expected: "sense".to_owned() },
        Why::Io { error: "broken".to_owned() },
    ];
    for why in reasons {
        let host = Snapshot::read(&FsRoot::refusing(why.clone()));
        for options in asks() {
            let all =
                Selection { only: RULES.iter().map(|rule| rule.code.to_owned()).collect(), skip: vec![] };
            for answered in check(&host, &options, &all).answers {
                let verdict = answered.verdict;
                assert!(
                    verdict.is_err(),
                    "{} of a machine where all is {why:?}: {verdict:?}",
                    answered.rule.code
                );
            }
        }
    }
}

/// Removes one file at a time from a machine on which rules pass: a refused file must never turn a
/// failure or a "cannot tell" into a pass.
#[test]
fn to_see_less_never_makes_a_machine_better() {
    let files: Vec<(&str, &str)> = vec![
        ("/proc/sys/kernel/osrelease", "6.1.0-28-amd64\n"),
        ("/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian\n"),
        ("/proc/sys/kernel/sched_rt_runtime_us", "-1\n"),
        ("/proc/sys/kernel/sched_rt_period_us", "1000000\n"),
        ("/boot/config-6.1.0-28-amd64", "CONFIG_RT_GROUP_SCHED=y\n"),
        ("/proc/cmdline", "isolcpus=1\n"),
        ("/proc/self/mounts", "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"),
        ("/sys/fs/cgroup/cpu/user/cpu.rt_runtime_us", "0\n"),
        ("/sys/devices/system/cpu/online", "0-1\n"),
        ("/sys/devices/system/cpu/present", "0-1\n"),
        ("/sys/devices/system/cpu/isolated", "1\n"),
        ("/sys/devices/system/cpu/smt/active", "1\n"),
        ("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n"),
        ("/sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1\n"),
        ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
        ("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n"),
        ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"),
        ("/proc/irq/24/disk/x", ""),
        ("/proc/irq/24/smp_affinity_list", "0-1\n"),
        ("/proc/irq/24/effective_affinity_list", "1\n"),
        ("/proc/irq/default_smp_affinity", "3\n"),
    ];
    let passes = |tree: &FsRoot| -> BTreeSet<&'static str> {
        let report =
            check(&Snapshot::read(tree), &CheckOptions::of(Profile::Realtime), &Selection::default());
        let passing = |answer: &whylate_checks::CheckedRule| {
            answer.verdict.as_ref().is_ok_and(|answer| answer.status == RuleStatus::Pass)
        };
        report.answers.iter().filter(|answer| passing(answer)).map(|answer| answer.rule.code).collect()
    };
    let before = passes(&FsRoot::memory(&files));
    for (path, _) in &files {
        let after = passes(&FsRoot::memory(&files).refused(path, Why::Denied));
        assert!(
            after.is_subset(&before),
            "without {path}: {:?}",
            after.difference(&before).collect::<Vec<_>>()
        );
    }
}

/// The kernel shows empty files after a driver is removed, and an interrupted copy leaves them.
#[test]
fn empty_files_say_nothing_good() {
    let all = Selection { only: RULES.iter().map(|rule| rule.code.to_owned()).collect(), skip: vec![] };
    for kernel in ["6.1", "6.12-rt", "7.2-rt"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/{kernel}.snapshot"));
        let machine = FsRoot::open(&file).expect("a snapshot").noting();
        Snapshot::read(&machine);
        let host = Snapshot::read(&FsRoot::captured(machine.into_notes().changed(|_| String::new())));
        for options in asks() {
            for answered in check(&host, &options, &all).answers {
                let Ok(answer) = &answered.verdict else { continue };
                // On these machines a missing file is known to be absent, which may be a reason to pass.
                let absent = answer.evidence.iter().all(|proof| proof.value == "(it does not exist)");
                assert!(
                    answer.status != RuleStatus::Pass || absent,
                    "{kernel}, every file empty: {answered:#?}"
                );
            }
        }
    }
}
