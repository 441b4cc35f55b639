//! Plans of whole machines: changes, their order, conflicts and refusals.

use proptest::prelude::*;
use std::collections::BTreeMap;
use whylate_host::{FsRoot, Snapshot};
use whylate_profiles::{DesiredSetting, DesiredState, Pattern, Reasons, Selector, ThreadSelector, tunable};
use whylate_tuning::{
    Agreement, AllowedRefusals, Plan, Setting, SideSource, ValueState, compare_settings, plan, without_root,
};

type Files = BTreeMap<String, String>;

fn desired_setting(selector: Selector, value: &str) -> DesiredSetting {
    DesiredSetting {
        selector,
        value: Some(value.to_owned()),
        reasons: Reasons::default(),
        origin: "test".to_owned(),
        optional: false,
    }
}

fn knob(path: &str, value: &str) -> DesiredSetting {
    desired_setting(Selector::Tunable { path: path.to_owned() }, value)
}

fn parameter(name: &str, value: &str) -> DesiredSetting {
    desired_setting(Selector::Parameter { name: name.to_owned() }, value)
}

fn cpus_of(named: &str, value: &str) -> DesiredSetting {
    let threads = ThreadSelector { named: Pattern::Glob(named.to_owned()), except: Vec::new() };
    desired_setting(Selector::ThreadCpus { threads }, value)
}

fn policy_of(named: &str, value: &str) -> DesiredSetting {
    let threads = ThreadSelector { named: Pattern::Glob(named.to_owned()), except: Vec::new() };
    desired_setting(Selector::ThreadPolicy { threads }, value)
}

fn desired(desired: Vec<DesiredSetting>) -> DesiredState {
    DesiredState { profile: "test".to_owned(), settings: desired, ..DesiredState::default() }
}

fn tree(files: &Files) -> FsRoot {
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    FsRoot::memory(&files)
}

fn planned(files: &Files, asked: Vec<DesiredSetting>) -> Plan {
    permitted(files, asked, &[])
}

fn permitted(files: &Files, asked: Vec<DesiredSetting>, codes: &[&str]) -> Plan {
    let tree = tree(files);
    let codes: Vec<String> = codes.iter().map(|&code| code.to_owned()).collect();
    plan(desired(asked), &tree, &Snapshot::read(&tree), &AllowedRefusals::of(&codes).expect("codes"))
}

/// Four CPUs, a kernel with everything, an interrupt, kernel threads and a program's threads.
fn machine() -> Files {
    let mut files: Files = [
        ("/proc/sys/kernel/osrelease", "6.1.0-28-rt-amd64\n"),
        ("/proc/sys/kernel/version", "#1 SMP PREEMPT_RT Debian\n"),
        ("/proc/sys/kernel/random/boot_id", "b0\n"),
        ("/boot/config-6.1.0-28-rt-amd64", "CONFIG_SMP=y\nCONFIG_CPU_ISOLATION=y\nCONFIG_NO_HZ_FULL=y\n"),
        ("/boot/grub/grub.cfg", GRUB),
        ("/etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\n"),
        ("/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro quiet\n"),
        ("/sys/devices/system/cpu/online", "0-3\n"),
        ("/sys/devices/system/cpu/present", "0-3\n"),
        ("/sys/devices/system/cpu/possible", "0-3\n"),
        ("/sys/devices/system/cpu/isolated", "\n"),
        ("/sys/devices/system/cpu/nohz_full", "(null)\n"),
        ("/proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
        ("/proc/sys/kernel/sched_rt_period_us", "1000000\n"),
        ("/proc/sys/kernel/timer_migration", "1\n"),
        ("/proc/sys/vm/swappiness", "60\n"),
        ("/proc/irq/default_smp_affinity", "f\n"),
        ("/proc/irq/24/smp_affinity_list", "0-3\n"),
        ("/proc/irq/24/eth0/x", ""),
        ("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n"),
        ("/sys/fs/cgroup/system.slice/cgroup.procs", ""),
        ("/etc/systemd/system.conf", "[Manager]\n"),
        ("/usr/lib/systemd/system/irqbalance.service", "[Install]\n"),
        ("/run/systemd/system/x", ""),
        ("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"),
    ]
    .into_iter()
    .map(|(path, text)| (path.to_owned(), text.to_owned()))
    .collect();
    thread(&mut files, 2, "kthreadd", true, (0, 0), "0-3");
    thread(&mut files, 17, "ktimers/2", true, (1, 1), "2");
    thread(&mut files, 700, "app", false, (0, 0), "0-3");
    files
}

const GRUB: &str = "### BEGIN /etc/grub.d/10_linux ###\nset default=\"0\"\nmenuentry 'Debian' {\n\
                    \tlinux /vmlinuz root=/dev/sda1 ro quiet\n\tinitrd /initrd.img\n}\n";

fn thread(files: &mut Files, pid: i32, name: &str, kernel: bool, (policy, priority): (u32, u32), cpus: &str) {
    let flags = if kernel { 0x0020_0000 } else { 0 };
    let dir = format!("/proc/{pid}/task/{pid}");
    let stat = format!(
        "{pid} ({name}) S 0 0 0 0 0 {flags} 0 0 0 0 0 0 0 0 0 0 0 0 5{pid} 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 {priority} \
         {policy} 0\n"
    );
    files.insert(format!("{dir}/stat"), stat);
    files.insert(format!("{dir}/status"), format!("Cpus_allowed_list:\t{cpus}\n"));
}

fn changes(plan: &Plan) -> Vec<String> {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    plan.changes
        .iter()
        .map(|change| format!("{}: {} -> {}", change.setting, text(&change.now), text(&change.then)))
        .collect()
}

fn conflicts(plan: &Plan) -> Vec<&str> {
    plan.conflicts.iter().map(|conflict| conflict.with.as_str()).collect()
}

fn refusals(plan: &Plan) -> Vec<&str> {
    plan.refusals.iter().map(|refusal| refusal.code.as_str()).collect()
}

#[test]
fn a_plan_is_what_differs_in_the_order_of_the_wishes() {
    let asked = vec![
        knob("/proc/sys/vm/swappiness", "10"),
        knob("/proc/sys/kernel/timer_migration", "1"),
        knob("/proc/sys/kernel/nothing", "1"),
        desired_setting(Selector::Irqs, "0-1"),
        cpus_of("*", "0-1"),
        policy_of("[ktimers/*]", "fifo 3"),
    ];
    let plan = planned(&machine(), asked.clone());
    assert_eq!(
        changes(&plan),
        [
            "vm.swappiness: 60 -> 10",
            "/proc/irq/default_smp_affinity: 0-3 -> 0-1",
            "/proc/irq/24/smp_affinity_list: 0-3 -> 0-1",
            "CPUs of [kthreadd] (2): 0-3 -> 0-1",
            "CPUs of app (700): 0-3 -> 0-1",
            "policy of [ktimers/2] (17): fifo 1 -> fifo 3",
        ]
    );
    assert_eq!(plan.unchanged.len(), 1);
    let left: Vec<&str> = plan.skipped.iter().map(|left| left.what.as_str()).collect();
    assert_eq!(left, ["/proc/sys/kernel/nothing", "CPUs of [ktimers/2]"]);
    assert_eq!((plan.machine.cpus.as_deref(), plan.machine.boot_id.as_deref()), (Some("0-3"), Some("b0")));
    assert_eq!(plan, planned(&machine(), asked), "again it is the same");
    let read: Plan =
        serde_json::from_str(&serde_json::to_string(&plan).expect("plain data")).expect("its own");
    assert_eq!(read, plan);
}

#[test]
fn of_patterns_that_overlap_the_later_one_counts() {
    let mut files = machine();
    for cpu in [0, 10, 2] {
        files.insert(
            format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"),
            "powersave\n".to_owned(),
        );
    }
    let at = |cpu: &str| format!("/sys/devices/system/cpu/{cpu}/cpufreq/scaling_governor");
    let plan = planned(&files, vec![knob(&at("cpu*"), "performance"), knob(&at("cpu2"), "schedutil")]);
    let lines = changes(&plan);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].contains("cpu0/") && lines[1].contains("cpu10/"), "{lines:?}");
    assert!(lines[2].ends_with("cpu2/cpufreq/scaling_governor: powersave -> schedutil"), "{lines:?}");
}

#[test]
fn a_parameter_that_the_kernel_does_not_have_is_left_alone() {
    let plan = planned(&machine(), vec![parameter("rcu_nocbs", "2-3"), parameter("nohz_full", "2-3")]);
    assert_eq!(changes(&plan), ["kernel parameter nohz_full: - -> 2-3"]);
    assert!(plan.skipped[0].why.contains("CONFIG_RCU_NOCB_CPU"), "{:?}", plan.skipped);
}

#[test]
fn who_would_undo_it() {
    let irqs = || vec![desired_setting(Selector::Irqs, "0-1")];
    let mut files = machine();
    assert_eq!(conflicts(&planned(&files, irqs())), [""; 0]);
    thread(&mut files, 71, "irqbalance", false, (0, 0), "0-3");
    assert_eq!(conflicts(&planned(&files, irqs())), ["irqbalance"]);
    let stopped =
        || desired_setting(Selector::UnitActive { unit: "irqbalance.service".to_owned() }, "inactive");
    assert_eq!(conflicts(&planned(&files, [irqs(), vec![stopped()]].concat())), [""; 0]);
    files.insert("/etc/default/irqbalance".to_owned(), "IRQBALANCE_BANNED_CPULIST=2-3\n".to_owned());
    assert_eq!(conflicts(&planned(&files, irqs())), [""; 0], "irqbalance already has this list");
    files.insert("/etc/default/irqbalance".to_owned(), "IRQBALANCE_BANNED_CPULIST=3\n".to_owned());
    assert_eq!(conflicts(&planned(&files, irqs())), ["irqbalance"], "of one of them alone");

    // A mask counts before the list, whatever the plan puts there.
    let notify = |name: &str, value: &str| {
        let (file, name) = ("/etc/default/irqbalance".to_owned(), name.to_owned());
        [irqs(), vec![desired_setting(Selector::Variable { file, section: None, name }, value)]].concat()
    };
    let list = || notify("IRQBALANCE_BANNED_CPULIST", "2-3");
    assert_eq!(conflicts(&planned(&files, list())), [""; 0]);
    for (mask, against) in [("c", false), ("", false), ("8", true)] {
        let text = format!("IRQBALANCE_BANNED_CPUS={mask}\n");
        files.insert("/etc/default/irqbalance".to_owned(), text);
        let plan = planned(&files, list());
        assert_eq!(!conflicts(&plan).is_empty(), against, "{mask}");
        if let Some(conflict) = plan.conflicts.first() {
            assert!(
                conflict.why.contains("IRQBALANCE_BANNED_CPUS=8 in /etc/default/irqbalance"),
                "{conflict:?}"
            );
            assert!(conflict.fix.starts_with("IRQBALANCE_BANNED_CPUS=0000000c there"), "{conflict:?}");
        }
    }
    assert_eq!(
        conflicts(&planned(&files, notify("IRQBALANCE_BANNED_CPUS", "c"))),
        [""; 0],
        "it sets the mask"
    );
    let mut both = [list(), notify("IRQBALANCE_BANNED_CPUS", "")].concat();
    both.last_mut().expect("the mask").value = None;
    assert_eq!(conflicts(&planned(&files, both)), [""; 0], "it takes the mask away");

    let mut files = machine();
    files.insert("/etc/tuned/active_profile".to_owned(), "throughput-performance\n".to_owned());
    let swappiness = || vec![knob("/proc/sys/vm/swappiness", "10")];
    assert_eq!(conflicts(&planned(&files, swappiness())), [""; 0], "it neither runs nor starts");
    thread(&mut files, 72, "tuned", false, (0, 0), "0-3");
    assert_eq!(conflicts(&planned(&files, swappiness())), ["TuneD"]);

    let mut files = machine();
    files.insert("/etc/sysctl.d/50-x.conf".to_owned(), "vm.swappiness = 30\n".to_owned());
    let plan = planned(&files, swappiness());
    assert_eq!(conflicts(&plan), ["/etc/sysctl.d/50-x.conf"]);
    assert!(plan.conflicts[0].why.contains("vm.swappiness = 30"), "{:?}", plan.conflicts);
    files.insert("/etc/sysctl.d/50-x.conf".to_owned(), "vm.swappiness = 10\n".to_owned());
    assert_eq!(conflicts(&planned(&files, swappiness())), [""; 0], "it sets the same");

    let mut files = machine();
    files
        .insert("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor".to_owned(), "powersave\n".to_owned());
    thread(&mut files, 73, "power-profiles-", false, (0, 0), "0-3");
    let governor = vec![knob("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", "performance")];
    assert_eq!(conflicts(&planned(&files, governor)), ["power-profiles-daemon"]);
}

#[test]
fn parameters_that_contradict_each_other() {
    let mut files = machine();
    files.insert("/boot/grub/grub.cfg".to_owned(), GRUB.replace("quiet", "quiet nohz=off"));
    let plan = planned(&files, vec![parameter("nohz_full", "2-3")]);
    assert_eq!(conflicts(&plan), ["nohz=off on the kernel command line"]);
    let mended = DesiredSetting { value: None, ..parameter("nohz", "") };
    assert_eq!(conflicts(&planned(&files, vec![parameter("nohz_full", "2-3"), mended])), [""; 0]);
    files.insert(
        "/etc/tuned/bootcmdline".to_owned(),
        "TUNED_BOOT_CMDLINE=\"isolcpus=1 skew_tick=1\"\n".to_owned(),
    );
    assert_eq!(conflicts(&planned(&files, vec![parameter("isolcpus", "2-3")])), ["TuneD"]);
}

#[test]
fn what_must_not_be() {
    let files = machine();
    for (asked, expected) in [
        (vec![parameter("isolcpus", "managed_irq,domain,2-3")], vec![]),
        (vec![parameter("isolcpus", "0-3")], vec!["no-housekeeping-cpu", "isolates-cpu-0"]),
        (
            vec![parameter("isolcpus", "1-N"), parameter("nohz_full", "0")],
            vec!["no-housekeeping-cpu", "isolates-cpu-0"],
        ),
        (vec![parameter("isolcpus", "0-1")], vec!["isolates-cpu-0"]),
        (vec![parameter("isolcpus", "3-5")], vec!["unknown-cpus"]),
        (
            vec![desired_setting(Selector::Partition { group: "rt".to_owned() }, "isolated 0-3")],
            vec!["no-housekeeping-cpu", "isolates-cpu-0"],
        ),
        (vec![cpus_of("*", "7")], vec!["no-housekeeping-cpu", "unknown-cpus"]),
        (vec![knob("/proc/sys/kernel/sched_rt_runtime_us", "-1")], vec!["throttling-off-no-net"]),
        (vec![knob("/proc/sys/kernel/sched_rt_runtime_us", "980000")], vec![]),
    ] {
        let plan = planned(&files, asked.clone());
        assert_eq!(refusals(&plan), expected, "{asked:?}: {:?}", plan.refusals);
        assert!(!plan.changes.is_empty(), "they are shown all the same");
    }
    let off = || vec![knob("/proc/sys/kernel/sched_rt_runtime_us", "-1")];
    assert_eq!(refusals(&permitted(&files, off(), &["throttling-off-no-net"])), [""; 0]);
    let mut caught = files.clone();
    thread(&mut caught, 80, "stalld", false, (1, 10), "0-3");
    assert_eq!(refusals(&planned(&caught, off())), [""; 0], "stalld catches one that loops");
    let mut offline = files.clone();
    offline.insert("/sys/devices/system/cpu/online".to_owned(), "0-2\n".to_owned());
    let plan = planned(&offline, vec![parameter("isolcpus", "2-3")]);
    assert!(
        refusals(&plan) == ["unknown-cpus"] && plan.refusals[0].why.contains("CPUs 3, which are offline"),
        "{plan:?}"
    );
}

#[test]
fn where_nothing_can_be_written() {
    let mut files = machine();
    files.insert("/sys/kernel/debug/sched/fair_server/cpu0/runtime".to_owned(), "50000000\n".to_owned());
    let server = || vec![knob("/sys/kernel/debug/sched/fair_server/cpu*/runtime", "40000000")];
    assert_eq!(refusals(&planned(&files, server())), [""; 0]);
    files.insert("/sys/kernel/security/lockdown".to_owned(), "none [integrity] confidentiality\n".to_owned());
    assert_eq!(refusals(&planned(&files, server())), ["locked-down"]);
    let mut files = machine();
    files.insert("/proc/self/mounts".to_owned(), "proc /proc/sys proc ro 0 0\n".to_owned());
    files.insert("/.dockerenv".to_owned(), String::new());
    files.insert("/proc/self/status".to_owned(), "CapEff:\t00000000a80425fb\n".to_owned());
    let plan = planned(&files, vec![knob("/proc/sys/vm/swappiness", "10")]);
    assert_eq!(refusals(&plan), ["locked-down", "container"]);
    files.insert("/proc/self/status".to_owned(), "CapEff:\t0000000000000000\n".to_owned());
    let not_root = planned(&files, vec![knob("/proc/sys/vm/swappiness", "10")]);
    assert_eq!(refusals(&not_root), ["locked-down"], "a user other than root is refused before that");
    assert!(without_root(&plan, false).is_some_and(|refusal| refusal.code == "not-root"));
    assert_eq!(without_root(&plan, true), None);
}

#[test]
fn a_machine_of_which_nothing_is_known_is_left_alone() {
    let tree = FsRoot::refusing(whylate_host::Why::Denied);
    let asked = vec![
        knob("/proc/sys/vm/swappiness", "10"),
        knob("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", "performance"),
        desired_setting(Selector::Irqs, "0"),
        cpus_of("*", "0"),
        policy_of("*", "fifo 1"),
        parameter("isolcpus", "1"),
        desired_setting(Selector::UnitActive { unit: "a.service".to_owned() }, "inactive"),
        desired_setting(Selector::UnitEnabled { unit: "a.service".to_owned() }, "disabled"),
        desired_setting(Selector::Partition { group: "rt".to_owned() }, "isolated 1"),
        desired_setting(
            Selector::Variable { file: "/etc/x".to_owned(), section: None, name: "A".to_owned() },
            "1",
        ),
        desired_setting(Selector::CpuDmaLatency, "0"),
    ];
    let plan = plan(desired(asked.clone()), &tree, &Snapshot::read(&tree), &AllowedRefusals::default());
    assert_eq!((plan.changes.as_slice(), plan.unchanged.as_slice()), (&[][..], &[][..]));
    assert!(plan.skipped.len() >= asked.len() && plan.is_blind(), "{plan:?}");
}

#[test]
fn a_request_that_nobody_would_hold_is_left_alone() {
    let mut files = machine();
    files.retain(|path, _| !path.starts_with("/run/systemd"));
    // As good as no request: some 2000 s.
    files.insert("/dev/cpu_dma_latency".to_owned(), "\0\u{14}\u{35}\u{77}".to_owned());
    files.insert("/proc/1/comm".to_owned(), "runit\n".to_owned());
    let plan = planned(
        &files,
        vec![desired_setting(Selector::CpuDmaLatency, "10"), knob("/proc/sys/vm/swappiness", "10")],
    );
    assert!(plan.changes.iter().all(|change| change.setting != Setting::CpuDmaLatency), "{plan:?}");
    assert!(plan.skipped.iter().any(|left| left.why.contains("systemd, which would run that")), "{plan:?}");
    files.insert("/run/systemd/system/x".to_owned(), String::new());
    let plan = planned(&files, vec![desired_setting(Selector::CpuDmaLatency, "10")]);
    assert!(plan.changes.iter().any(|change| change.setting == Setting::CpuDmaLatency), "{plan:?}");
}

/// The machine after the changes of a plan.
fn applied(files: &Files, plan: &Plan) -> Files {
    let mut files = files.clone();
    for change in &plan.changes {
        let then = change.then.clone().unwrap_or_default();
        match &change.setting {
            Setting::Tunable { path } => {
                files.insert(path.clone(), format!("{}\n", tunable::written(path, &then)));
            }
            Setting::ThreadCpus { thread } => {
                let status = format!("/proc/{}/task/{}/status", thread.pid, thread.tid);
                files.insert(status, format!("Cpus_allowed_list:\t{then}\n"));
            }
            Setting::ThreadPolicy { thread } => {
                let path = format!("/proc/{}/task/{}/stat", thread.pid, thread.tid);
                let (policy, number) = then.split_once(' ').expect("a policy with its number");
                let raw = whylate_base::Policy::from_name(policy).expect("a policy").raw();
                let stat = files[&path].clone();
                let mut fields: Vec<String> = stat.trim_end().split(' ').map(str::to_owned).collect();
                let fair = policy == "other";
                fields[18] = if fair { number.to_owned() } else { fields[18].clone() };
                fields[39] = if fair { "0".to_owned() } else { number.to_owned() };
                fields[40] = raw.to_string();
                files.insert(path, format!("{}\n", fields.join(" ")));
            }
            Setting::Parameter { name } => {
                let grub = files["/boot/grub/grub.cfg"].clone();
                let kept: Vec<&str> =
                    grub.split(' ').filter(|word| !word.starts_with(&format!("{name}="))).collect();
                let grub = kept.join(" ").replace(" ro ", &format!(" ro {name}={then} "));
                files.insert("/boot/grub/grub.cfg".to_owned(), grub);
            }
            Setting::UnitActive { .. } => {
                files.remove("/sys/fs/cgroup/system.slice/irqbalance.service/cgroup.events");
            }
            Setting::Partition { group } => {
                let (kind, cpus) = then.split_once(' ').expect("a partition");
                files.insert(format!("/sys/fs/cgroup/{group}/cpuset.cpus.partition"), format!("{kind}\n"));
                files.insert(format!("/sys/fs/cgroup/{group}/cpuset.cpus"), format!("{cpus}\n"));
            }
            other => panic!("{other} is not simulated"),
        }
    }
    files
}

fn list() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["0", "0-1", "1,3", "2-3", "0-3"]).prop_map(str::to_owned)
}

fn some_wish() -> impl Strategy<Value = DesiredSetting> {
    let names = || prop::sample::select(vec!["*", "[*", "app", "[ktimers/*]", "a*"]);
    prop_oneof![
        (prop::sample::select(vec!["kernel/timer_migration", "vm/swappiness", "no/such"]), 0u32..3)
            .prop_map(|(name, value)| knob(&format!("/proc/sys/{name}"), &value.to_string())),
        list().prop_map(|cpus| knob("/proc/irq/default_smp_affinity", &cpus)),
        list().prop_map(|cpus| desired_setting(Selector::Irqs, &cpus)),
        (names(), list()).prop_map(|(named, cpus)| cpus_of(named, &cpus)),
        (names(), prop::sample::select(vec!["fifo 1", "rr 7", "other 3", "other"]))
            .prop_map(|(named, policy)| policy_of(named, policy)),
        (prop::sample::select(vec!["isolcpus", "nohz_full", "skew_tick"]), list())
            .prop_map(|(name, value)| parameter(name, &value)),
        list().prop_map(|cpus| desired_setting(
            Selector::Partition { group: "rt".to_owned() },
            &format!("isolated {cpus}")
        )),
        Just(desired_setting(Selector::UnitActive { unit: "irqbalance.service".to_owned() }, "inactive")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What a plan has made is as it wishes.
    #[test]
    fn what_was_planned_and_made_needs_no_change(asked in prop::collection::vec(some_wish(), 1..8), runs: bool) {
        let mut files = machine();
        if runs {
            let path = "/sys/fs/cgroup/system.slice/irqbalance.service/cgroup.events";
            files.insert(path.to_owned(), "populated 1\n".to_owned());
        }
        // No two wishes have the same aim.
        let mut selectors = Vec::new();
        let asked: Vec<DesiredSetting> = asked
            .into_iter()
            .filter(|desired_setting| !selectors.contains(&desired_setting.selector) && { selectors.push(desired_setting.selector.clone()); true })
            .collect();
        let first = planned(&files, asked.clone());
        let settings: Vec<&Setting> = first.changes.iter().map(|change| &change.setting).collect();
        prop_assert!(settings.iter().enumerate().all(|(at, setting)| !settings[..at].contains(setting)));
        let again = planned(&applied(&files, &first), asked);
        prop_assert_eq!(changes(&again), Vec::<String>::new());
        // Where a second wish has taken a thread away from the first one's CPUs, it now counts as put there.
        let others = |plan: &Plan| {
            plan.skipped.iter().filter(|left| !left.what.starts_with("CPUs of")).cloned().collect::<Vec<_>>()
        };
        prop_assert_eq!(others(&again), others(&first));
    }
}

/// Each setting of a comparison as `name: A | B | here, agreement`.
fn compared(a: SideSource<'_>, b: SideSource<'_>, files: &Files) -> Vec<String> {
    let tree = tree(files);
    let comparison = compare_settings(a, b, ("/", &tree, &Snapshot::read(&tree)));
    let shown = |value: &whylate_tuning::SideValue| match value.state {
        ValueState::Known => value.values.iter().map(|value| format!("{value:?}")).collect::<String>(),
        state => format!("{state:?}"),
    };
    let rows = comparison.settings.iter().map(|row| {
        format!(
            "{}: {} | {} | {}, {:?}",
            row.name,
            shown(&row.a),
            shown(&row.b),
            shown(&row.here),
            row.agreement
        )
    });
    rows.collect()
}

#[test]
fn profiles_are_compared_by_what_they_come_to() {
    let files = machine();
    let swappiness = "/proc/sys/vm/swappiness";
    let one = desired(vec![
        knob(swappiness, "10"),
        knob("/proc/sys/kernel/timer_mig*", "0"),
        parameter("nohz_full", "2,3"),
    ]);
    let two = desired(vec![
        knob(swappiness, "1"),
        knob("/proc/sys/kernel/timer_migration", "0"),
        parameter("nohz_full", "2-3"),
        knob("/proc/sys/kernel/absent", "1"),
    ]);
    let rows = compared(SideSource::Profile(&one), SideSource::Profile(&two), &files);
    assert_eq!(
        rows,
        [
            "vm.swappiness: Some(\"10\") | Some(\"1\") | Some(\"60\"), Different",
            "kernel.timer_migration: Some(\"0\") | Some(\"0\") | Some(\"1\"), Same",
            "kernel parameter nohz_full: Some(\"2,3\") | Some(\"2-3\") | None, Same",
            "kernel.absent: NotSet | Some(\"1\") | NotApplicable, Different",
        ]
    );
}

fn machine_without_systemd() -> Files {
    machine().into_iter().filter(|(path, _)| !path.contains("systemd")).collect()
}

#[test]
fn a_machine_is_compared_by_the_settings_of_the_profile() {
    let files = machine();
    let mut other = machine();
    other.insert("/proc/sys/vm/swappiness".to_owned(), "10\n".to_owned());
    let one =
        desired(vec![knob("/proc/sys/vm/swappiness", "10"), knob("/proc/sys/kernel/timer_migration", "0")]);
    let there = tree(&other).refused("/proc/sys/kernel/timer_migration", whylate_host::Why::Denied);
    let host = Snapshot::read(&there);
    let machine = SideSource::Machine { name: "other", tree: &there, host: &host };
    assert_eq!(
        compared(SideSource::Profile(&one), machine, &files),
        [
            "vm.swappiness: Some(\"10\") | Some(\"10\") | Some(\"60\"), Same",
            "kernel.timer_migration: Some(\"0\") | Unread | Some(\"1\"), CannotTell",
        ]
    );
    // A request is what it is, whether or not systemd could hold one.
    let latency = desired(vec![desired_setting(Selector::CpuDmaLatency, "10")]);
    let mut requested = machine_without_systemd();
    requested.insert("/dev/cpu_dma_latency".to_owned(), "\u{14}\0\0\0".to_owned());
    let there = tree(&requested);
    let host = Snapshot::read(&there);
    let asked = SideSource::Machine { name: "asked", tree: &there, host: &host };
    let rows = compared(SideSource::Profile(&latency), asked, &files);
    assert!(rows.len() == 1 && rows[0].contains("| Some(\"20\") |"), "{rows:?}");
    let own = tree(&files);
    let own_host = Snapshot::read(&own);
    let same = SideSource::Machine { name: "own", tree: &own, host: &own_host };
    let both = compare_settings(same, same, ("/", &own, &own_host));
    assert!(!both.settings.is_empty());
    assert_eq!(both.count(Agreement::Different), 0);
    let differ = compared(same, machine, &files);
    let different: Vec<&String> = differ.iter().filter(|row| row.ends_with("Different")).collect();
    assert_eq!(different, ["vm.swappiness: Some(\"60\") | Some(\"10\") | Some(\"60\"), Different"]);
}
