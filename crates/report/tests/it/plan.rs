//! What tuning would change, for a terminal, as Markdown and as JSON.

use crate::schema_check::violations;
use crate::{assert_current, fixture};
use whylate_profiles::{DesiredSetting, DesiredState, Pattern, Reasons, Selector, Skipped, ThreadSelector};
use whylate_report::{Style, plan};
use whylate_tuning::PlanDocument;
use whylate_tuning::{
    Change, Conflict, MachineIdentity, Plan, PlanRefusal, PredictedRefusal, Setting, ThreadId, Unchanged,
};

fn knob(path: &str) -> Setting {
    Setting::Tunable { path: path.to_owned() }
}

fn thread(tid: i32, name: &str) -> ThreadId {
    ThreadId { pid: tid, tid, started: 7, name: name.to_owned() }
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn change(setting: Setting, now: Option<&str>, then: Option<&str>, why: &str) -> Change {
    Change {
        setting,
        now: now.map(str::to_owned),
        then: then.map(str::to_owned),
        reasons: Reasons { why: text(why), ..Reasons::default() },
        origin: "realtime.toml [sysctl]".to_owned(),
        optional: false,
        prediction: None,
        note: None,
    }
}

/// Something of everything.
fn full() -> Plan {
    let reasons = Reasons {
        why: text("Timers of other CPUs stay where they were set."),
        rule: text("timer-migration"),
        benefit: text("up to 1203 us less, oslat on 128 CPUs (commit 7dec062cfcf2)"),
        risk: text("Idle CPUs wake up more often."),
    };
    let mut changes = vec![
        Change {
            note: text("the running kernel was booted with isolcpus=1"),
            ..change(
                Setting::Parameter { name: "isolcpus".to_owned() },
                None,
                Some("managed_irq,domain,2-3"),
                "The scheduler places nothing else there.",
            )
        },
        change(
            Setting::Parameter { name: "threadirqs".to_owned() },
            None,
            Some(""),
            "Handlers run in threads.",
        ),
        Change { reasons, ..change(knob("/proc/sys/kernel/timer_migration"), Some("1"), Some("0"), "") },
        Change {
            prediction: text("EINVAL: it takes 0 to 200"),
            ..change(knob("/proc/sys/vm/swappiness"), Some("60"), Some("500"), "More is more.")
        },
    ];
    for cpu in [0, 1, 2, 3, 10] {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
        changes.push(change(
            knob(&path),
            Some("powersave"),
            Some("performance"),
            "Frequencies do not change.",
        ));
    }
    for state in ["cpu2/cpuidle/state2", "cpu3/cpuidle/state2"] {
        let path = format!("/sys/devices/system/cpu/{state}/disable");
        changes.push(change(knob(&path), Some("0"), Some("1"), "It takes too long to leave."));
    }
    for irq in [24, 25, 30] {
        let path = format!("/proc/irq/{irq}/smp_affinity_list");
        changes.push(change(
            knob(&path),
            Some("0-3"),
            Some("0-1"),
            "No device interrupts the real-time CPUs.",
        ));
    }
    changes.push(change(
        knob("/proc/irq/31/smp_affinity_list"),
        Some("2"),
        Some("0-1"),
        "No device interrupts the real-time CPUs.",
    ));
    for (tid, name) in
        [(2, "[kthreadd]"), (1, "systemd"), (900, "sh\u{1b}[31m"), (901, "bash"), (902, "bash")]
    {
        let setting = Setting::ThreadCpus { thread: thread(tid, name) };
        changes.push(change(setting, Some("0-3"), Some("0-1"), "Other programs keep off."));
    }
    changes.push(change(
        Setting::ThreadPolicy { thread: thread(26, "[ktimers/2]") },
        Some("fifo 1"),
        Some("fifo 3"),
        "Timers come before what waits for them.",
    ));
    changes.push(change(
        Setting::UnitActive { unit: "irqbalance.service".to_owned() },
        Some("active"),
        Some("inactive"),
        "It moves interrupts.",
    ));
    changes.push(change(
        Setting::Partition { group: "rt".to_owned() },
        None,
        Some("isolated 2-3"),
        "At once.",
    ));
    changes.push(change(Setting::CpuDmaLatency, None, Some("10"), "No deep idle states."));
    changes.push(change(
        Setting::Variable {
            file: "/etc/default/irqbalance".to_owned(),
            section: None,
            name: "IRQBALANCE_BANNED_CPULIST".to_owned(),
        },
        Some(""),
        Some("2-3"),
        "It leaves them alone.",
    ));
    let threads = ThreadSelector {
        named: Pattern::Glob("*".to_owned()),
        except: vec![Pattern::Regex("^rt".to_owned())],
    };
    Plan {
        machine: MachineIdentity { release: text("6.12.0-rt"), cpus: text("0-3"), boot_id: text("b") },
        desired: DesiredState {
            profile: "realtime".to_owned(),
            variables: vec![("isolated".to_owned(), "2-3".to_owned()), ("own".to_owned(), String::new())],
            settings: vec![
                DesiredSetting {
                    selector: Selector::ThreadCpus { threads },
                    value: text("0-1"),
                    reasons: Reasons::default(),
                    origin: "realtime.toml [threads]".to_owned(),
                    optional: true,
                },
                DesiredSetting {
                    selector: Selector::Irqs,
                    value: None,
                    reasons: Reasons::default(),
                    origin: "realtime.toml".to_owned(),
                    optional: false,
                },
            ],
            conditional: Vec::new(),
            skipped: vec![Skipped {
                what: "[script] script.sh".to_owned(),
                why: "scripts are not run".to_owned(),
            }],
        },
        changes,
        unchanged: vec![
            Unchanged { setting: knob("/proc/sys/vm/swappiness"), value: text("10"), note: None },
            Unchanged {
                setting: Setting::Parameter { name: "skew_tick".to_owned() },
                value: text("1"),
                note: text("the running kernel was booted without it"),
            },
        ],
        skipped: [
            ("kernel parameter nohz_full", "this kernel was built without CONFIG_NO_HZ_FULL, and ignores it"),
            ("/sys/kernel/rcu_normal", "permission denied: run as root"),
            ("/proc/sys/kernel/x", "this kernel has no such file"),
            ("/proc/sys/kernel/y", "this kernel has no such file"),
        ]
        .map(|(what, why)| Skipped { what: what.to_owned(), why: why.to_owned() })
        .into(),
        predicted: vec![PredictedRefusal {
            setting: knob("/sys/module/pcie_aspm/parameters/policy"),
            now: text("default"),
            then: text("performance"),
            why: "EPERM: the firmware controls ASPM (kernel message: _OSC failed (AE_ERROR); disabling ASPM)"
                .to_owned(),
            origin: "realtime.toml [files]".to_owned(),
        }],
        conflicts: vec![Conflict {
            with: "irqbalance".to_owned(),
            why: "it runs, and moves interrupts by load".to_owned(),
            fix: "systemctl disable --now irqbalance.service".to_owned(),
            settings: ["a", "b", "c", "d"].map(str::to_owned).into(),
        }],
        refusals: vec![PlanRefusal {
            code: "isolates-cpu-0".to_owned(),
            why: "CPU 0 would be isolated".to_owned(),
            fix: "isolate others; or --allow isolates-cpu-0".to_owned(),
        }],
    }
}

/// Nothing to change, or nothing to be seen.
fn empty(blind: bool) -> Plan {
    let left = Skipped { what: "interrupts".to_owned(), why: "permission denied: run as root".to_owned() };
    Plan {
        desired: DesiredState { profile: "audio".to_owned(), ..DesiredState::default() },
        skipped: if blind { vec![left] } else { Vec::new() },
        ..Plan::default()
    }
}

#[test]
fn it_reads_as_before() {
    let text = |plan: &Plan, width| plan::terminal::render(plan, &Style { color: false, width });
    assert_current(&fixture("plan-100.txt"), &text(&full(), 100));
    assert_current(&fixture("plan-empty.txt"), &(text(&empty(false), 80) + "\n" + &text(&empty(true), 80)));
    assert_current(&fixture("plan.md"), &plan::markdown::render(&full()));
    assert_current(&fixture("plan.json"), &format!("{:#}\n", plan::json::render(&full())));
}

#[test]
fn a_document_is_read_as_the_plan_it_was_made_of() {
    for plan in [full(), empty(true)] {
        let document = plan::json::render(&plan);
        assert_eq!(violations(&plan::json::schema(), &document), Vec::<String>::new());
        assert_eq!(serde_json::from_value::<Plan>(document.clone()).expect("a plan"), plan);
        let read: PlanDocument = serde_json::from_value(document.clone()).expect("our own document");
        assert_eq!(serde_json::to_value(&read).expect("plain data"), document);
    }
    let mut later = plan::json::render(&full());
    later["changes"][0]["later"] = true.into();
    later["later"] = 1.into();
    assert_eq!(serde_json::from_value::<Plan>(later).expect("unknown fields are ignored"), full());
}

#[test]
fn names_from_the_machine_cannot_write_to_the_terminal() {
    let text = plan::terminal::render(&full(), &Style::default());
    assert!(text.contains("5 threads") && !text.contains('\u{1b}'), "{text}");
    assert!(!plan::markdown::render(&full()).contains('\u{1b}'));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [60, 80, 120] {
        let text = plan::terminal::render(&full(), &Style { color: false, width });
        let wide: Vec<&str> = text
            .lines()
            .filter(|line| line.chars().count() > width && !line.contains("/sys/") && !line.contains("/etc/"))
            .collect();
        assert_eq!(wide, Vec::<&str>::new(), "{width}");
    }
}
