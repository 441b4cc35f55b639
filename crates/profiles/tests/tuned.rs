//! TuneD's profiles, on machines made of files.

use proptest::prelude::*;
use whylate_host::{FsRoot, Snapshot, Why};
use whylate_profiles::tuned::{self, TunedError};
use whylate_profiles::{DesiredSetting, DesiredState, Pattern, Selector};

const CPU: &str = "/sys/devices/system/cpu";

/// Four CPUs in two sockets, with idle states, a governor each, a disk, irqbalance and systemd.
fn machine(more: &[(&str, &str)]) -> FsRoot {
    let mut files: Vec<(String, String)> = [
        ("online", "0-3\n"),
        ("present", "0-3\n"),
        ("cpu0/cpuidle/state0/name", "POLL\n"),
        ("cpu0/cpuidle/state0/latency", "0\n"),
        ("cpu0/cpuidle/state1/name", "C1\n"),
        ("cpu0/cpuidle/state1/latency", "2\n"),
    ]
    .map(|(name, text)| (format!("{CPU}/{name}"), text.to_owned()))
    .into();
    for (cpu, governors) in
        ["performance powersave", "performance powersave", "powersave", "powersave"].iter().enumerate()
    {
        files.push((format!("{CPU}/cpu{cpu}/topology/physical_package_id"), format!("{}\n", cpu / 2)));
        files.push((format!("{CPU}/cpu{cpu}/cpufreq/scaling_available_governors"), format!("{governors}\n")));
        files.push((format!("{CPU}/cpu{cpu}/cpufreq/scaling_governor"), "powersave\n".to_owned()));
    }
    let rest = [
        (
            "/proc/cpuinfo",
            "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Some CPU\nflags\t: fpu hypervisor\n",
        ),
        ("/proc/cmdline", "quiet\n"),
        ("/proc/sys/kernel/osrelease", "6.1.0-rt\n"),
        ("/proc/sys/kernel/version", "#1 SMP PREEMPT_RT\n"),
        ("/proc/sys/kernel/hostname", "host\n"),
        ("/proc/sys/kernel/arch", "x86_64\n"),
        ("/proc/sys/kernel/pid_max", "32768\n"),
        ("/proc/sys/vm/swappiness", "60\n"),
        ("/sys/block/sda/removable", "0\n"),
        ("/sys/block/sda/queue/read_ahead_kb", "128\n"),
        ("/sys/block/sr0/removable", "1\n"),
        ("/sys/block/sr0/queue/read_ahead_kb", "128\n"),
        ("/sys/bus/workqueue/devices/writeback/cpumask", "f\n"),
        ("/sys/module/kvm/parameters/nx_huge_pages", "Y\n"),
        ("/etc/default/irqbalance", "#OPTIONS=\n"),
        ("/etc/systemd/system.conf", "[Manager]\n"),
    ];
    files.extend(rest.map(|(path, text)| (path.to_owned(), text.to_owned())));
    files.extend(more.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    FsRoot::memory(&files)
}

fn load_on(tree: &FsRoot, name: &str, given: &[(&str, &str)]) -> Result<DesiredState, TunedError> {
    let given: Vec<(String, String)> =
        given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    tuned::load(name, tree, &Snapshot::read(tree), &given)
}

/// The wishes of a profile that consists of one file.
fn one(text: &str) -> DesiredState {
    load_on(&machine(&[("/etc/tuned/p/tuned.conf", text)]), "p", &[]).expect("wishes")
}

fn knobs(desired: &DesiredState) -> Vec<(String, String)> {
    let knob = |setting: &DesiredSetting| match &setting.selector {
        Selector::Tunable { path } => Some((path.clone(), setting.value.clone().unwrap_or_default())),
        _ => None,
    };
    desired.settings.iter().filter_map(knob).collect()
}

fn variable<'a>(desired: &'a DesiredState, name: &str) -> Option<&'a str> {
    desired.variables.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
}

fn skipped(desired: &DesiredState, part: &str) -> bool {
    desired.skipped.iter().any(|left| format!("{}: {}", left.what, left.why).contains(part))
}

#[test]
fn functions_are_replaced_from_the_inside_out() {
    for (text, value) in [
        ("${f:cpulist_unpack:0-2,^1}", "0,2"),
        ("${f:cpulist_pack:0,1,2,5}", "0-2,5"),
        ("${f:cpulist2hex:0-3,33}", "00000002,0000000f"),
        ("${f:cpulist2hex_invert:1}", "0000000d"),
        ("${f:cpulist_invert:1}", "0,2,3"),
        ("${f:cpulist_online:2-9}", "2,3"),
        ("${f:cpulist_present:0xff}", "0,1,2,3"),
        ("${f:cpulist2devs:1-2}", "cpu1,cpu2"),
        ("${f:hex2cpulist:0000000a}", "1,3"),
        ("${f:calc_isolated_cores:1}", "1,3"),
        ("${f:calc_isolated_cores}", "1,3"),
        ("${f:calc_isolated_cores:0}", "0-3"),
        ("${f:package2cpus:1}", "cpu2,cpu3"),
        ("${f:check_net_queue_count:x}", "4"),
        ("${f:check_net_queue_count:2}", "2"),
        ("${f:kb2s:4}", "8"),
        ("${f:s2kb:5}", "2"),
        ("${f:s2kb:7}", "4"),
        ("[${f:strip: a: b }]", "[a b]"),
        ("${f:virt_check:guest:metal}", "guest"),
        ("${f:cpuinfo_check:AMD:a:Intel$:b:other}", "b"),
        ("${f:cpuinfo_check:AMD:a:other}", "other"),
        ("${f:lscpu_check:^Vendor ID\\:\\s+GenuineIntel:intel:other}", "intel"),
        ("${f:regex_search_ternary:${two}:^[0-9]-:range:no}", "range"),
        ("${f:strip:${f:cpulist_invert:${f:cpulist_unpack:${two}}}}", "0,1"),
        ("${f:strip:a\\:b}", "a:b"),
        ("${two}\\${two}", "2-3${two}"),
        ("${f:exec:id:-u}", "unknown"),
        ("${f:strip:${f:exec:mktemp:-d}}", "unknown"),
        ("${f:nonsense:1}", "unknown"),
        ("${missing}", "unknown"),
    ] {
        let desired = one(&format!("[variables]\ntwo=2-3\nx={text}\n[sysctl]\nvm.swappiness=${{x}}\n"));
        // What has a reference left has no value.
        let expected = (value != "unknown" && !value.contains("${")).then_some(value);
        assert_eq!(variable(&desired, "x"), expected, "{text}");
        assert_eq!(skipped(&desired, "vm.swappiness"), expected.is_none(), "{text}: {:?}", desired.skipped);
    }
}

#[test]
fn the_later_profile_has_the_last_word_option_by_option() {
    let tree = machine(&[
        (
            "/usr/lib/tuned/base/tuned.conf",
            "[main]\nsummary=Base\n[sysctl]\nvm.swappiness=1\nkernel.pid_max=2\n[a]\ntype=sysfs\n/sys/a=1\n",
        ),
        (
            "/etc/tuned/top/tuned.conf",
            "[main]\nsummary=Top\ninclude = base ; -absent\n[sysctl]\ndrop=kernel.pid_max\nvm.swappiness=${f:strip: 3 }\n[a]\ntype=sysfs\nreplace=1\n/sys/b=2\n",
        ),
        ("/etc/tuned/base/tuned.conf", "[main]\ninclude=base\n[sysctl]\nvm.dirty_ratio=9\n"),
    ]);
    let desired = load_on(&tree, "top", &[]).expect("wishes");
    let path = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        knobs(&desired),
        [path("/proc/sys/vm/swappiness", "3"), path("/proc/sys/vm/dirty_ratio", "9"), path("/sys/b", "2")]
    );
    assert_eq!(desired.profile, "tuned:top");
    assert_eq!(desired.settings[0].origin, "/etc/tuned/top/tuned.conf:6 [sysctl]");
    let listed = tuned::list(&tree).expect("list");
    let names: Vec<_> = listed.iter().map(|one| (one.name.as_str(), one.summary.as_deref())).collect();
    assert_eq!(names, [("base", None), ("top", Some("Top"))]);
}

#[test]
fn variables_come_from_files_and_from_the_user() {
    let profile = "[variables]\ninclude=/etc/tuned/v.conf\ncheck=\\\\${cores}\ncores=${cores}\na=${f:assertion_non_equal:cores are set:${cores}:${check}}\n[irqbalance]\nbanned_cpus=${cores}\n";
    let with = |variables: &'static str| {
        machine(&[("/etc/tuned/p/tuned.conf", profile), ("/etc/tuned/v.conf", variables)])
    };
    let banned = |desired: &DesiredState| desired.settings[0].value.clone();
    let desired = load_on(&with("# cores=9\ncores=2-3\n"), "p", &[]).expect("wishes");
    assert_eq!(banned(&desired), Some("0000000c".to_owned()));
    let desired = load_on(&with("cores=2-3\n"), "p", &[("cores", "1")]).expect("wishes");
    assert_eq!(banned(&desired), Some("00000002".to_owned()));
    assert_eq!(variable(&desired, "cores"), Some("1"));

    let error = load_on(&with("# cores=9\n"), "p", &[]).expect_err("not set");
    assert!(error.to_string().starts_with("/etc/tuned/p/tuned.conf:5 [variables]"), "{error}");
    assert!(error.to_string().contains("cores are set"), "{error}");
    let error = load_on(&with("cores=1\n"), "p", &[("coers", "1")]).expect_err("misspelt");
    assert!(matches!(&error, TunedError::Given { name, .. } if name == "coers"), "{error}");
    let absent = machine(&[("/etc/tuned/p/tuned.conf", profile)]);
    assert!(load_on(&absent, "p", &[]).expect_err("absent").to_string().contains("/etc/tuned/v.conf"));
}

#[test]
fn threads_and_interrupts_leave_the_isolated_cpus() {
    let desired = one(
        "[scheduler]\nisolated_cores=2-3\nps_blacklist=^\\[ksoftirqd;^pmd\nsched_min_granularity_ns=5\ndefault_irq_smp_affinity=0\ngroup.b=0:f:2:*:^\\[ktimers\ngroup.a=0:*:1:c:^\\[rcuc\ngroup.c=\nruntime=0\n",
    );
    let regex = |text: &str| Pattern::Regex(text.to_owned());
    let Selector::ThreadCpus { threads } = &desired.settings[0].selector else {
        panic!("{:?}", desired.settings)
    };
    assert_eq!((&threads.named, desired.settings[0].value.as_deref()), (&regex(".*"), Some("0-1")));
    assert_eq!(threads.except, [regex("^\\[ksoftirqd"), regex("^\\[?pmd")]);
    assert_eq!(
        (&desired.settings[1].selector, desired.settings[1].value.as_deref()),
        (&Selector::Irqs, Some("0-1"))
    );
    let path = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        knobs(&desired),
        [
            path("/proc/irq/default_smp_affinity", "0"),
            path("/sys/kernel/debug/sched/min_granularity_ns", "5")
        ]
    );
    let policies: Vec<_> = desired
        .settings
        .iter()
        .filter_map(|setting| match &setting.selector {
            Selector::ThreadPolicy { threads } => Some((threads.named.clone(), setting.value.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(policies, [(regex("^\\[ktimers"), Some("fifo 2".to_owned()))]);
    let last = desired.settings.last().expect("a wish");
    assert!(matches!(&last.selector, Selector::ThreadCpus { threads } if threads.named == regex("^\\[rcuc")));
    assert_eq!(last.value.as_deref(), Some("2-3"));
    assert!(skipped(&desired, "a priority without a policy"));
    assert!(skipped(&desired, "runtime=0"));

    // To forget an exception would move threads that must stay.
    let desired = one("[scheduler]\nisolated_cores=2-3\nps_blacklist=(?!x)\n");
    assert!(desired.settings.iter().all(|setting| setting.selector == Selector::Irqs));
    assert!(skipped(&desired, "is not understood"));
    let desired = one("[scheduler]\nisolated_cores=9\n");
    assert!(desired.settings.is_empty() && skipped(&desired, "which are online"));
}

#[test]
fn each_plugin_says_what_it_would_set() {
    let desired = one(
        "[cpu]\nforce_latency=cstate.id_no_zero:0|cstate.name:C1|9\ngovernor=performance|powersave\nenergy_perf_bias=powersave|power\nno_turbo=true\n\
         [bootloader]\ncmdline_a=+nohz_full=2 quiet skew_tick=1\ncmdline_b=-quiet\ninitrd_add_dir=/x\n\
         [systemd]\ncpu_affinity=0-1\n[service]\nservice.x=stop,disable\n\
         [vm]\ntransparent_hugepages=never\n[disk]\nreadahead=>4096\n[sysfs]\n/sys/bus/workqueue/devices/?riteback/cpumask=00000003\n/etc/x=1\n\
         /sys/module/kvm/parameters/nx_huge_pages=0\n[net]\nchannels=combined 1\n[script]\nscript=s.sh\n[rtentsk]\n[modules]\na=b\n[x]\ny=z\n\
         [sysctl]\nkernel.pid_max=>4194304\nvm.swappiness=<90\n",
    );
    let path = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        knobs(&desired),
        [
            path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance"),
            path("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance"),
            path("/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave"),
            path("/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "powersave"),
            path("/sys/devices/system/cpu/cpu*/power/energy_perf_bias", "15"),
            path("/sys/devices/system/cpu/intel_pstate/no_turbo", "1"),
            path("/sys/kernel/mm/transparent_hugepage/enabled", "never"),
            path("/sys/block/sda/queue/read_ahead_kb", "4096"),
            path("/sys/bus/workqueue/devices/writeback/cpumask", "0-1"),
            path("/sys/module/kvm/parameters/nx_huge_pages", "N"),
            path("/proc/sys/kernel/pid_max", "4194304"),
        ]
    );
    let value = |selector: Selector| {
        desired
            .settings
            .iter()
            .find(|setting| setting.selector == selector)
            .and_then(|setting| setting.value.clone())
    };
    let parameter = |name: &str| value(Selector::Parameter { name: name.to_owned() });
    assert_eq!(value(Selector::CpuDmaLatency).as_deref(), Some("2"));
    assert_eq!(parameter("nohz_full").as_deref(), Some("2"));
    assert_eq!(parameter("skew_tick").as_deref(), Some("1"));
    assert_eq!(parameter("quiet"), None);
    assert_eq!(value(Selector::UnitActive { unit: "x.service".to_owned() }).as_deref(), Some("inactive"));
    assert_eq!(value(Selector::UnitEnabled { unit: "x.service".to_owned() }).as_deref(), Some("disabled"));
    let affinity = Selector::Variable {
        file: "/etc/systemd/system.conf".to_owned(),
        section: Some("Manager".to_owned()),
        name: "CPUAffinity".to_owned(),
    };
    assert_eq!(value(affinity).as_deref(), Some("0 1"));
    for part in [
        "initrd_add_dir",
        "/etc/x=1",
        "channels=",
        "/etc/tuned/p/s.sh",
        "rtentsk",
        "[modules]",
        "`x` is not a supported plugin",
    ] {
        assert!(skipped(&desired, part), "{part}: {:#?}", desired.skipped);
    }
}

#[test]
fn units_are_for_machines_and_in_an_order() {
    let desired = one(
        "[late]\ntype=sysctl\npriority=5\nkernel.pid_max=1\n[early]\ntype=sysctl\npriority=-1\nkernel.pid_max=2\nvm.swappiness=2\n\
         [other]\ntype=sysctl\nuname_regex=aarch64\nkernel.pid_max=3\n[own]\ntype=sysctl\npriority=6\nuname_regex=x86_64$\ncpuinfo_regex=^vendor_id.*Intel\nvm.dirty_ratio=4\n\
         [off]\ntype=sysctl\nenabled=0\nkernel.pid_max=5\n",
    );
    let path = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        knobs(&desired),
        [
            path("/proc/sys/vm/swappiness", "2"),
            path("/proc/sys/kernel/pid_max", "1"),
            path("/proc/sys/vm/dirty_ratio", "4")
        ]
    );
}

#[test]
fn what_is_given_twice_is_not_given_by_halves() {
    let desired =
        one("[bootloader]\ncmdline=+hugepagesz=1G hugepages=4 hugepagesz=2M hugepages=9 quiet quiet\n");
    assert_eq!(desired.settings.len(), 1);
    assert!(skipped(&desired, "hugepagesz=1G") && skipped(&desired, "hugepages=9"));
    let desired = one("[bootloader]\nskip_grub_config=True\ncmdline=quiet\n");
    assert!(desired.settings.is_empty() && skipped(&desired, "skip_grub_config"));
}

#[test]
fn errors_name_the_file_the_section_and_the_line() {
    let tree = machine(&[
        ("/etc/tuned/p/tuned.conf", "[main]\n\ninclude=absent\n"),
        ("/etc/tuned/q/tuned.conf", "[sysctl]\nnonsense\n"),
        ("/etc/tuned/r/tuned.conf", "[variables]\na=1\nb=${f:assertion:one is two:${a}:2}\n"),
        ("/etc/tuned/s/tuned.conf", "[variables]\na=${f:cpulist2hex:99999999}\n"),
        ("/etc/tuned/t/tuned.conf", "[sysctl]\npriority=x\n"),
    ]);
    for (name, parts) in [
        ("p", ["`absent`", "/etc/tuned/p/tuned.conf:3 [main]"]),
        ("q", ["/etc/tuned/q/tuned.conf:2 [sysctl]", "neither"]),
        ("r", ["/etc/tuned/r/tuned.conf:3 [variables]", "`1` is not `2`"]),
        ("s", ["/etc/tuned/s/tuned.conf:2 [variables]", "CPU 99999999"]),
        ("t", ["/etc/tuned/t/tuned.conf:2 [sysctl]", "priority"]),
        ("absent", ["no TuneD profile `absent`", "there are: p, q, r, s, t"]),
        ("../p", ["not a name", "../p"]),
    ] {
        let error = load_on(&tree, name, &[]).expect_err("wrong").to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{name}: {error}");
    }
    let tree = machine(&[]).refused("/etc/tuned/p/tuned.conf", Why::Denied);
    let error = load_on(&tree, "p", &[]).expect_err("refused").to_string();
    assert!(error.contains("/etc/tuned/p/tuned.conf") && error.contains("permission denied"), "{error}");
}

#[test]
fn variables_cannot_multiply_each_other_without_end() {
    let mut text = "[variables]\nv0=xxxxxxxx\n".to_owned();
    for number in 1..64 {
        let before = number - 1;
        text.push_str(&format!("v{number}=${{v{before}}}${{v{before}}}\n"));
    }
    let tree = machine(&[("/etc/tuned/p/tuned.conf", &text)]);
    assert!(load_on(&tree, "p", &[]).expect_err("too long").to_string().contains("too long"));
    let calls = "${f:strip:a}".repeat(2000);
    let tree = machine(&[("/etc/tuned/p/tuned.conf", &format!("[variables]\nv={calls}\n"))]);
    assert!(load_on(&tree, "p", &[]).expect_err("too many").to_string().contains("too many functions"));
}

/// Pieces that profiles are made of, so that more than noise comes together.
fn piece() -> impl Strategy<Value = String> {
    let pieces = [
        "[cpu]\n",
        "[scheduler]\n",
        "[bootloader]\n",
        "[sysfs]\n",
        "[sysctl]\n",
        "[variables]\n",
        "[disk]\n",
        "[irq]\n",
        "[main]\n",
        "[video]\n",
        "[audio]\n",
        "[net]\n",
        "[vm]\n",
        "include=p\n",
        "devices=!*,cpu[0-\n",
        "isolated_cores=",
        "group.x=0:f:1:f:(\n",
        "force_latency=cstate.id:|",
        "cmdline=-",
        "${f:",
        "cpulist2hex:",
        "}",
        "${v}",
        "v=",
        "\\",
        "0-3",
        ",0x",
        "^1",
        "/sys/*/[a-",
        "=",
        ">",
        "1",
        "\n",
        "  ",
        "#",
        "type=",
        "é",
    ];
    prop::sample::select(pieces.to_vec()).prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_is_read_or_refused(pieces in prop::collection::vec(prop_oneof![9 => piece(), 1 => "\\PC{0,5}"], 0..40)) {
        let text = pieces.concat();
        let tree = FsRoot::memory(&[
            ("/etc/tuned/p/tuned.conf", text.as_str()),
            ("/sys/devices/system/cpu/online", "0-3\n"),
            ("/sys/devices/system/cpu/present", "0-3\n"),
            ("/sys/block/sda/removable", "0\n"),
        ]);
        match load_on(&tree, "p", &[]) {
            Ok(desired) => {
                for (at, setting) in desired.settings.iter().enumerate() {
                    prop_assert!(desired.settings[at + 1..].iter().all(|other| other.selector != setting.selector), "{:?}", setting);
                    prop_assert!(setting.origin.starts_with("/etc/tuned/p/tuned.conf:"), "{}", setting.origin);
                }
                prop_assert!(desired.skipped.iter().all(|left| !left.why.is_empty()));
            }
            Err(error) => prop_assert!(error.to_string().contains("/etc/tuned/p/tuned.conf"), "{}", error),
        }
    }
}
