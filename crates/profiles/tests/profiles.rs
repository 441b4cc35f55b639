//! Profiles as users write them: their meaning, and the messages about mistakes.

use proptest::prelude::*;
use std::path::{Path, PathBuf};
use whylate_host::{FsRoot, Snapshot, Why};
use whylate_profiles::profile::{self, ProfileError};
use whylate_profiles::{DesiredSetting, DesiredState, Pattern, Selector};

const FILES: &[(&str, &str)] = &[
    ("/sys/devices/system/cpu/present", "0-3\n"),
    ("/sys/devices/system/cpu/online", "0-3\n"),
    ("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n"),
    ("/sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1\n"),
    ("/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2-3\n"),
    ("/sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "2-3\n"),
    ("/sys/devices/system/node/node0/cpulist", "0-3\n"),
    ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
    ("/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet\n"),
    ("/proc/sys/kernel/osrelease", "6.1.0\n"),
    ("/sys/kernel/debug/sched/verbose", "N\n"),
    ("/usr/lib/systemd/system/x.service", ""),
];

fn four_cpus() -> Snapshot {
    Snapshot::read(&FsRoot::memory(FILES))
}

fn put(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).expect("a file");
    path.to_str().expect("UTF-8").to_owned()
}

fn pairs(given: &[(&str, &str)]) -> Vec<(String, String)> {
    given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn load(text: &str, given: &[(&str, &str)]) -> Result<DesiredState, ProfileError> {
    let dir = tempfile::tempdir().expect("a directory");
    let path = put(dir.path(), "own.toml", text);
    profile::load(&path, &pairs(given), &four_cpus(), &[])
}

fn loaded(text: &str, given: &[(&str, &str)]) -> DesiredState {
    load(text, given).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What is wished, in short.
fn short(desired: &DesiredState) -> Vec<String> {
    desired.settings.iter().map(one).collect()
}

fn one(setting: &DesiredSetting) -> String {
    let what = match &setting.selector {
        Selector::Tunable { path } => path.clone(),
        Selector::ThreadPolicy { threads } => format!("policy {}", threads.named),
        Selector::ThreadCpus { threads } | Selector::ThreadPlacement { threads } => {
            let except: Vec<String> = threads.except.iter().map(Pattern::to_string).collect();
            format!("cpus {} but {}", threads.named, except.join(" "))
        }
        Selector::Irqs => "irqs".to_owned(),
        Selector::Parameter { name } => format!("parameter {name}"),
        Selector::UnitActive { unit } => format!("{unit} runs"),
        Selector::UnitEnabled { unit } => format!("{unit} at boot"),
        Selector::Variable { file, section, name } => {
            format!("{file} {} {name}", section.as_deref().unwrap_or("-"))
        }
        Selector::Partition { group } => format!("partition {group}"),
        Selector::CpuDmaLatency => "latency".to_owned(),
    };
    format!("{what} = {}", setting.value.as_deref().unwrap_or("(none)"))
}

#[test]
fn every_section() {
    let desired = loaded(
        r#"
        [variables]
        isolated = { type = "cpus", required = true }
        name = "rt"
        [kernel-parameters]
        isolcpus = "domain,${isolated}"
        quiet = true
        nosmt = false
        skew_tick = { value = 1, why = "W", rule = "skew-tick", benefit = "B", risk = "R", optional = true }
        [sysctl]
        vm.swappiness = 10
        kernel.nmi_watchdog = { value = 0 }
        "net/ipv4/conf/eth0.5/rp_filter" = 1
        [files]
        "/sys/x/cpu${each isolated}/y" = "${all - isolated}"
        "/proc/irq/*/z" = "$$5 ${name}"
        [irqs]
        cpus = "not isolated"
        [threads]
        "[irq/*]" = { policy = "fifo 50" }
        "*" = { cpus = "0-1", except = ["[*", "${name}-*"] }
        '/^rcu.*$/' = { policy = "other 0", cpus = "0" }
        [units]
        "a.service" = { runs = false, at-boot = "masked" }
        "b.timer" = { at-boot = true }
        [partitions]
        "a.slice/b" = { kind = "isolated", cpus = "isolated" }
        [latency]
        cpu-dma-latency = 5
        [limits."@rt"]
        rtprio = 95
        memlock = { value = "unlimited", optional = true }
        core = false
        [config."/etc/default/x"]
        LIST = "${isolated}"
        GONE = false
        [config."/etc/x.conf".Manager]
        CPUAffinity = { value = "0-1", optional = true }
        "#,
        &[("isolated", "2-3")],
    );
    assert_eq!(
        short(&desired),
        [
            "parameter isolcpus = domain,2-3",
            "parameter quiet = ",
            "parameter nosmt = (none)",
            "parameter skew_tick = 1",
            "/proc/sys/vm/swappiness = 10",
            "/proc/sys/kernel/nmi_watchdog = 0",
            "/proc/sys/net/ipv4/conf/eth0.5/rp_filter = 1",
            "/sys/x/cpu2/y = 0-1",
            "/sys/x/cpu3/y = 0-1",
            "/proc/irq/*/z = $5 rt",
            "irqs = 0-1",
            "policy [irq/*] = fifo 50",
            "cpus * but [* rt-* = 0-1",
            "policy /^rcu.*$/ = other 0",
            "cpus /^rcu.*$/ but  = 0",
            "a.service runs = inactive",
            "a.service at boot = masked",
            "b.timer at boot = enabled",
            "partition a.slice/b = isolated 2-3",
            "latency = 5",
            "/etc/security/limits.d/zz-whylate.conf @rt rtprio = 95",
            "/etc/security/limits.d/zz-whylate.conf @rt memlock = unlimited",
            "/etc/security/limits.d/zz-whylate.conf @rt core = (none)",
            "/etc/default/x - LIST = 2-3",
            "/etc/default/x - GONE = (none)",
            "/etc/x.conf Manager CPUAffinity = 0-1",
        ]
    );
    let tick = &desired.settings[3];
    let reasons = &tick.reasons;
    assert_eq!(
        [&reasons.why, &reasons.rule, &reasons.benefit, &reasons.risk].map(|text| text.as_deref()),
        [Some("W"), Some("skew-tick"), Some("B"), Some("R")]
    );
    assert!(tick.optional && !desired.settings[0].optional);
    assert_eq!(tick.origin, "own.toml [kernel-parameters]");
    assert_eq!(desired.variables, pairs(&[("isolated", "2-3"), ("name", "rt")]));
}

#[test]
fn mistakes_are_reported_with_their_line_and_what_is_possible() {
    for (text, parts) in [
        ("a =", &["own.toml:1: this is not TOML", "https://toml.io"][..]),
        ("\n[sysctls]\na.b = 1", &["own.toml:2: a profile has no `sysctls`: is `sysctl` meant?", "config"]),
        ("summary = 1", &[":1: `summary` is the number 1", "it takes text"]),
        ("sysctl = 1", &[":1: `sysctl` is the number 1", "[sysctl]"]),
        ("[sysctl]\nvm.swappiness = true", &[":2: the value is `true`", "1 or 0"]),
        ("[sysctl]\nvm.swappiness = 1.5", &[":2: the value is a number with a fraction", "whole number"]),
        ("[sysctl]\nvm.swappiness = \"\"", &[":2: the value is empty"]),
        ("[sysctl]\nvm.swappiness = \"a\\nb\"", &[":2: the value is empty, or not one line"]),
        ("[sysctl]\nvm.swappiness = { why = \"x\" }", &[":2: this entry has no value", "leave-alone"]),
        (
            "[sysctl]\nvm.swappiness = { value = 1, wy = \"x\" }",
            &[":2: an entry has no `wy`: is `why` meant?"],
        ),
        ("[sysctl]\n\"../etc/passwd\" = 1", &[":2: `../etc/passwd` is not a sysctl", "vm.swappiness"]),
        ("[sysctl]\nvm.x = { value = 1, rule = \"x\" }", &[":2: there is no rule `x`", "irq-affinity"]),
        ("[files]\n\"/etc/passwd\" = 1", &[":2: `/etc/passwd` is not a kernel file", "/sys"]),
        ("[files]\n\"/sys/../etc/x\" = 1", &[":2: `/sys/../etc/x` is not a kernel file"]),
        ("[kernel-parameters]\n\"a b\" = 1", &[":2: `a b` is not a kernel parameter"]),
        ("[irqs]\ncpu = \"0\"", &[":2: [irqs] has no `cpu`: is `cpus` meant?"]),
        ("[irqs]\ncpus = 0", &[":2: `cpus` is the number 0", "in quotes"]),
        ("[irqs]\ncpus = \"none\"", &[":2: `none` has no CPU", "when"]),
        // As the refusal of a plan has it, which this comes before.
        (
            "[variables]\nisolated = { type = \"cpus\", default = \"all\" }\n[irqs]\ncpus = \"not isolated\"",
            &[
                ":4: `not isolated` has no CPU: CPUs 0-3 would be isolated, and the online CPUs are 0-3: none is left",
                "leave at least one CPU",
            ],
        ),
        ("[irqs]\ncpus = \"4\"", &[":2: there is no CPU 4", "this machine has 0-3"]),
        ("[irqs]\ncpus = \"node(1)\"", &[":2: there is no NUMA node 1", "there are 0"]),
        ("[irqs]\ncpus = \"isolated\"", &[":2: there is no variable `isolated`", "there are none"]),
        ("[threads]\n\"x\" = \"fifo 50\"", &[":2: `x` is the text", "policy = \"fifo 50\""]),
        ("[threads]\n\"x\" = {}", &[":2: these threads have neither a policy nor CPUs", "`policy = ...`"]),
        ("[threads]\n\"x\" = { policy = \"fifo 100\" }", &[":2: `fifo 100` is not a policy", "fifo 99"]),
        ("[threads]\n\"x\" = { policy = \"deadline 1 2 3\" }", &["is not a policy", "the application"]),
        ("[threads]\n\"/(/\" = { cpus = \"0\" }", &[":2: `/(/` is not a regular expression", "`*`"]),
        ("[units]\nirqbalance = { runs = false }", &[":2: `irqbalance` is not a systemd unit", ".service"]),
        ("[units]\n\"a.service\" = { runs = \"no\" }", &[":2: `runs` is the text \"no\"", "true or false"]),
        ("[units]\n\"a.service\" = { at-boot = \"off\" }", &[":2: `at-boot` is", "masked"]),
        ("[partitions]\na = { cpus = \"1\" }", &[":2: a partition needs a kind and CPUs"]),
        ("[partitions]\na = { kind = \"x\", cpus = \"1\" }", &[":2: there is no kind `x`", "isolated"]),
        ("[latency]\ncpu-dma-latency = -1", &[":2: `-1` is not a latency", "microseconds"]),
        ("[limits]\n\"@a b\" = { nice = 1 }", &[":2: `@a b` is no user and no group", "@audio"]),
        ("[limits.\"@a\"]\nrtprior = 1", &[":2: [limits] has no `rtprior`: is `rtprio` meant?"]),
        ("[limits.a]\nrtprio = \"1 # x\"", &[":2: the value is more than one word", "unlimited"]),
        ("[limits]\nrtprio = 1", &[":2: `rtprio` is the number 1", "[limits.\"rtprio\"]"]),
        ("[config.\"/root/x\"]\nA = 1", &[":1: `/root/x` is not a configuration file", "/etc"]),
        ("[config.\"/etc/x\"]\n\"A B\" = 1", &[":2: `A B` is not a variable name"]),
        ("[variables]\nall = 1", &[":2: `all` has a meaning of its own"]),
        ("[variables]\ntsc = 1", &[":2: `tsc` has a meaning of its own"]),
        ("[variables]\n\"1a\" = 1", &[":2: `1a` is not a name"]),
        ("[variables]\na = {}", &[":2: `a` has no default and is not required", "required = true"]),
        ("[variables]\na = { default = 1, required = true }", &[":2: `a` has a default and is required"]),
        ("[variables]\na = { type = \"cpu\", default = 1 }", &[":2: there is no type `cpu`", "cpus, text"]),
        (
            "[variables]\na = \"${b}\"\nb = \"${a}\"",
            &[":2: variables depend on each other in a circle: a -> b -> a"],
        ),
        ("[variables]\na = \"${b}\"", &[":2: there is no variable `b`", "there are a"]),
        ("[variables]\na = \"$b\"", &[":2: `$` stands alone", "`$$`"]),
        ("[variables]\na = { type = \"number\", default = \"x\" }", &[":2: `x` is not a whole number"]),
        (
            "[variables]\na = \"x\"\n[irqs]\ncpus = \"a\"",
            &[":4: `a` is not a set of CPUs but `x`", "type = \"cpus\""],
        ),
        ("[irqs]\ncpus = \"all-isolated\"", &[":2: there is no variable `all-isolated`", "blanks around it"]),
        ("[sysctl]\na.b = { value = 1, when = \"c\" }", &[":2: there is no variable `c`", "fair-server"]),
        ("[sysctl]\na.b = \"${each all}\"", &[":2: `${each ...}` stands for each CPU in turn"]),
        ("[sysctl]\na.b = \"${all\"", &[":2: `${all` has no `}`"]),
        ("extends = \"nothing\"", &[":1: there is not a profile `nothing`", "cpu-partitioning"]),
        ("extends = \"own.toml\"", &[":1: ", "own.toml: a profile cannot extend itself"]),
    ] {
        let error = load(text, &[]).expect_err(text).to_string();
        for part in parts {
            assert!(error.contains(part), "{part} in {error}\n{text}");
        }
        assert!(!error.contains('\n'), "one line: {error}");
    }
}

#[test]
fn given_values() {
    let text = "[variables]\nisolated = { type = \"cpus\", required = true, prompt = \"for control\" }\n\
                n = { type = \"number\", default = 1 }\nyes = { default = false }\n[irqs]\ncpus = \"not isolated\"";
    let needs = load(text, &[]).expect_err("isolated").to_string();
    assert!(needs.contains("a value for `isolated` (for control): give --isolated LIST"), "{needs}");
    assert_eq!(short(&loaded(text, &[("isolated", "siblings(3)")])), ["irqs = 0-1"]);
    for (given, part) in [
        (("isolated", "7"), "isolated=7: there is no CPU 7; this machine has 0-3"),
        (("isolated", "x y"), "isolated=x y: `y` is unexpected"),
        (("isolation", "2"), "isolation=2: the profile "),
        (("n", "many"), "n=many: `many` is not a whole number"),
        (("yes", "perhaps"), "yes=perhaps: `perhaps` is neither yes nor no"),
    ] {
        let error = load(text, &[("isolated", "2"), given]).expect_err(part).to_string();
        assert!(error.contains(part), "{part} in {error}");
    }
}

#[test]
fn profiles_extend_others() {
    let dirs = [tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory")];
    let paths: Vec<PathBuf> = dirs.iter().map(|dir| dir.path().to_owned()).collect();
    let base = "summary = \"Base\"\n[variables]\na = { type = \"cpus\", required = true }\n[sysctl]\nvm.x = 1\nvm.y = 1\n\
                vm.z = 1\n[threads]\n\"b\" = { policy = \"fifo 1\", cpus = \"a\", except = [\"c\"] }";
    put(dirs[1].path(), "base.toml", base);
    put(dirs[1].path(), "left.toml", "extends = \"base\"\n[sysctl]\nvm.y = 2");
    put(dirs[1].path(), "right.toml", "extends = \"base\"\n[sysctl]\nvm.z = 3");
    let top = "extends = [\"left\", \"right\"]\n[variables]\na = \"1\"\n[sysctl]\nvm.x = { leave-alone = true }\n\
               [threads]\n\"b\" = { cpus = \"0\" }";
    put(dirs[0].path(), "top.toml", top);
    let desired = profile::load("top", &[], &four_cpus(), &paths).expect("a profile");
    let expected = ["/proc/sys/vm/y = 2", "/proc/sys/vm/z = 3", "policy b = fifo 1", "cpus b but  = 0"];
    assert_eq!(short(&desired), expected);
    assert_eq!(desired.settings[1].origin, "right.toml [sysctl]");

    // One of its own name, in the next directory, and then the built-in one.
    put(dirs[0].path(), "base.toml", "extends = \"base\"\n[variables]\na = \"2\"");
    let desired = profile::load("base", &[], &four_cpus(), &paths).expect("a profile");
    assert_eq!(desired.variables, pairs(&[("a", "2")]));
    put(dirs[0].path(), "audio.toml", "summary = \"Ours\"\nextends = \"audio\"\n[sysctl]\nvm.swappiness = 1");
    let ours = profile::load("audio", &[], &four_cpus(), &paths).expect("a profile");
    let shipped = profile::load("audio", &[], &four_cpus(), &[]).expect("a profile");
    assert_eq!(ours.settings.len(), shipped.settings.len());
    assert!(short(&ours).contains(&"/proc/sys/vm/swappiness = 1".to_owned()));

    put(dirs[0].path(), "one.toml", "extends = \"two\"");
    put(dirs[0].path(), "two.toml", "\nextends = \"one\"");
    let circle = profile::load("one", &[], &four_cpus(), &paths).expect_err("a circle").to_string();
    assert!(circle.contains("two.toml:2: ") && circle.contains("one.toml extends "), "{circle}");

    put(dirs[0].path(), "broken.toml", "summary = 1");
    let listed = profile::list(&paths);
    let named = |name: &str| listed.iter().find(|listed| listed.name == name).expect(name);
    assert_eq!(named("audio").summary.as_deref(), Ok("Ours"));
    assert_eq!(named("realtime").path, None);
    assert_eq!(named("base").path, Some(paths[0].join("base.toml")));
    assert!(named("broken").summary.is_err());
    let unknown = profile::load("absent", &[], &four_cpus(), &paths).expect_err("none").to_string();
    assert!(
        unknown.contains("absent.toml") && unknown.contains("realtime") && unknown.contains("top"),
        "{unknown}"
    );
}

#[test]
fn files_that_are_no_profiles() {
    let dir = tempfile::tempdir().expect("a directory");
    let binary = dir.path().join("binary.toml");
    std::fs::write(&binary, [0xff, 0xfe]).expect("a file");
    let long = dir.path().join("long.toml");
    std::fs::write(&long, vec![b'#'; (1 << 20) + 1]).expect("a file");
    for (path, part) in [
        (binary.to_str(), "not UTF-8"),
        (long.to_str(), "longer than"),
        (dir.path().to_str(), "not a regular file"),
        (Some("/dev/zero"), "not a regular file"),
        (Some("/nowhere/x.toml"), "no such file; `whylate plan --list`"),
    ] {
        let error = profile::load(path.expect("UTF-8"), &[], &four_cpus(), &[]).expect_err(part).to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn conditions_choose_entries_and_unknown_facts_are_reported() {
    let text = "[variables]\na = { type = \"cpus\", default = \"none\" }\nb = false\n[sysctl]\n\
                v.a = { value = 1, when = \"a\" }\nv.b = { value = 1, when = \"not b\" }\n\
                v.c = { value = 1, when = \"tsc\" }\nv.d = { value = 1, when = \"b or stalld\" }\n\
                v.e = { value = 1, when = \"rt-groups\" }\nv.f = { value = 1, when = \"rt-groups or not b\" }";
    let desired = loaded(text, &[]);
    assert_eq!(short(&desired), ["/proc/sys/v/b = 1", "/proc/sys/v/c = 1", "/proc/sys/v/f = 1"]);
    let left: Vec<&str> = desired.skipped.iter().map(|left| left.what.as_str()).collect();
    assert_eq!(left, ["v.d = 1", "v.e = 1"]);
    assert!(desired.skipped[0].why.contains("b or stalld; this is not true here"), "{:?}", desired.skipped);
    assert!(desired.skipped[1].why.contains("cannot tell: ") && desired.skipped[1].why.contains("config"));
}

/// What is built in has a summary and reasons, and needs nothing but its variables.
#[test]
fn built_in_profiles_are_whole() {
    let machine = four_cpus();
    for built_in in profile::built_in() {
        let given =
            pairs(if built_in.text.contains("required = true") { &[("isolated", "2-3")] } else { &[] });
        let desired =
            profile::load(built_in.name, &given, &machine, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert!(desired.settings.len() > 15, "{}", built_in.name);
        for setting in desired.settings {
            assert!(setting.reasons.why.is_some(), "{}: {:?} has a reason", built_in.name, setting.selector);
        }
        let listed = profile::list(&[]);
        assert!(listed.iter().any(|listed| listed.name == built_in.name));
        assert!(built_in.text.contains(&format!("summary = \"{}\"", built_in.summary)), "{}", built_in.name);
    }
    assert_eq!(
        profile::built_in().iter().map(|profile| profile.name).collect::<Vec<_>>(),
        whylate_checks::Profile::ALL.iter().map(|profile| profile.name()).collect::<Vec<_>>()
    );
}

/// Where the machine cannot be read there is an error that names it, and no profile for no CPU.
#[test]
fn a_machine_that_cannot_be_read() {
    let host = Snapshot::read(&FsRoot::refusing(Why::Denied));
    let given = pairs(&[("isolated", "2-3")]);
    let error = profile::load("realtime", &given, &host, &[]).expect_err("no CPUs").to_string();
    assert!(error.contains("/sys/devices/system/cpu/present"), "{error}");
    let desired = profile::load("audio", &[], &host, &[]).expect("it asks for no CPU");
    assert!(!desired.settings.is_empty());
}

/// The profile of docs/profiles.md, and what its tables have of CPUs.
#[test]
fn examples_of_the_page() {
    let page = include_str!("../../../docs/profiles.md");
    let example =
        page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let desired = loaded(example, &[]);
    let short = short(&desired);
    for expected in [
        "/proc/sys/kernel/watchdog_thresh = 5",
        "/proc/sys/kernel/printk = 3 4 1 3",
        "parameter intel_idle.max_cstate = 1",
        "parameter audit = 0",
        "parameter quiet = ",
        "parameter nosmt = (none)",
        "/sys/class/net/*/threaded = 1",
        "/sys/devices/system/cpu/cpu3/power/pm_qos_resume_latency_us = n/a",
        "policy [irq/*-eth1*] = fifo 85",
        "cpus [irq/*-eth1*] but  = 2",
        "policy [ksoftirqd/2] = fifo 2",
        "policy [ksoftirqd/3] = fifo 2",
        "multipathd.service runs = inactive",
        "multipathd.service at boot = masked",
        "/etc/default/grub - GRUB_TIMEOUT = 2",
        "parameter isolcpus = managed_irq,domain,2-3",
    ] {
        assert!(short.iter().any(|own| own == expected), "{expected} in {short:#?}");
    }
    assert!(!short.iter().any(|own| own.contains("swappiness")));
    let table = page.split("## CPUs").nth(1).expect("the table of CPUs");
    let expected = [
        ("2-3", "2-3"),
        ("0,4-7", ""),
        ("all", "0-3"),
        ("online", "0-3"),
        ("none", ""),
        ("cores", "0,2"),
        ("siblings(2-3)", "2-3"),
        ("node(0)", "0-3"),
        ("node(0-1)", ""),
        ("first(isolated)", "2"),
        ("last(2 of cores)", "0,2"),
        ("a + b", "0-2"),
        ("a, b", "0-2"),
        ("a & b", "1"),
        ("all - isolated", "0-1"),
        ("not isolated", "0-1"),
    ];
    let written: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once(" | "))
        .flat_map(|(cell, _)| cell.trim_end_matches('`').split("`, `"))
        .collect();
    assert_eq!(written, expected.map(|(set, _)| set));
    for (set, cpus) in expected {
        let text = format!(
            "[variables]\nisolated = {{ type = \"cpus\", default = \"2-3\" }}\na = {{ type = \"cpus\", default = \"0-1\" }}\n\
             b = {{ type = \"cpus\", default = \"1-2\" }}\n[irqs]\ncpus = \"{set}\""
        );
        match load(&text, &[]) {
            Ok(desired) => assert_eq!(desired.settings[0].value.as_deref(), Some(cpus), "{set}"),
            // CPUs and nodes that four CPUs do not have, and the set without any.
            Err(error) => assert!(cpus.is_empty(), "{set}: {error}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a profile is, there are wishes or there is a reason.
    #[test]
    fn no_profile_is_too_much(text in "\\PC{0,300}") {
        let _ = load(&text, &[]);
    }

    /// A built-in profile with a piece of it replaced.
    #[test]
    fn nor_a_damaged_one(at in 0usize..4000, length in 0usize..40, piece in "[\\[\\]{}\"'=.,$a-c0-3 \n-]{0,12}") {
        let text = profile::built_in()[2].text.replace("cpu-partitioning", "realtime");
        let (from, to) = (at.min(text.len()), (at + length).min(text.len()));
        let (Some(before), Some(after)) = (text.get(..from), text.get(to..)) else { return Ok(()) };
        let _ = load(&format!("{before}{piece}{after}"), &[("isolated", "2-3")]);
    }
}
