//! `whylate ps`: its values against /proc, and what it answers of threads that are not there.

use crate::support::answer::list;
use crate::support::rights::has_realtime;
use crate::support::run::{Killed, whylate};
use serde_json::Value;
use std::process::{Command, Stdio};
use whylate_base::CpuSet;

/// A process that sleeps, until it is dropped.
fn sleeper() -> Killed {
    sleeper_by(&["sleep"])
}

/// One that a launcher starts, which becomes it.
fn sleeper_by(command: &[&str]) -> Killed {
    let (program, arguments) = command.split_first().expect("a program");
    let child = Command::new(program).args(arguments).arg("600").stdin(Stdio::null()).spawn().expect(program);
    let pid = child.id();
    // It is another program until execve(2) has ended.
    while std::fs::read_to_string(format!("/proc/{pid}/wchan"))
        .is_ok_and(|wchan| !wchan.contains("nanosleep"))
    {
        std::thread::yield_now();
    }
    Killed(child)
}

fn ps(arguments: &[&str]) -> Value {
    let run = whylate(["ps", "--json", "--interval", "20ms"].iter().chain(arguments));
    assert_eq!(run.code, Some(0), "{run:#?}");
    serde_json::from_str(&run.stdout).expect("a document")
}

#[test]
fn a_thread_is_as_proc_shows_it() {
    let sleeper = sleeper();
    let pid = sleeper.0.id();
    let report = ps(&["--task", &pid.to_string()]);
    let [thread] = list(&report["threads"]) else { panic!("{report:#}") };
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("its status");
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":"));
        line.map(str::trim).unwrap_or_else(|| panic!("{name} in {status}")).to_owned()
    };
    assert_eq!((thread["comm"].as_str(), thread["pid"].as_u64()), (Some("sleep"), Some(u64::from(pid))));
    assert_eq!((thread["policy"].as_str(), thread["state"].as_str()), (Some("other"), Some("S")));
    assert_eq!(thread["cpus"].as_str(), Some(value("Cpus_allowed_list").as_str()));
    assert_eq!(thread["voluntary_switches"].to_string(), value("voluntary_ctxt_switches"));
    assert_eq!(thread["involuntary_switches"].to_string(), value("nonvoluntary_ctxt_switches"));
    assert_eq!(thread["voluntary_per_second"].as_f64(), Some(0.0));
    let function = thread["blocked_on"]["function"].as_str().unwrap_or_default();
    assert!(function.contains("nanosleep"), "{thread:#}");
    let schedstat = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).expect("its schedstat");
    assert_eq!(Some(thread["cpu_time_ns"].to_string().as_str()), schedstat.split(' ').next());
}

/// What `chrt` and `taskset` have set is shown, and they show it alike.
#[test]
fn policies_and_cpus_are_as_chrt_and_taskset_have_them() {
    let said = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).env("LC_ALL", "C").output().expect(program);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let realtime = has_realtime();
    for (launcher, policy, priority, shown) in [
        (&["chrt", "--batch", "0", "sleep"][..], "batch", 0, "SCHED_BATCH"),
        (&["chrt", "--idle", "0", "sleep"], "idle", 0, "SCHED_IDLE"),
        (&["taskset", "-c", "0", "sleep"], "other", 0, "SCHED_OTHER"),
        (&["chrt", "--fifo", "3", "taskset", "-c", "0", "sleep"], "fifo", 3, "SCHED_FIFO"),
        (&["chrt", "--rr", "2", "sleep"], "rr", 2, "SCHED_RR"),
    ] {
        if priority > 0 && !realtime {
            continue;
        }
        let sleeper = sleeper_by(launcher);
        let pid = sleeper.0.id().to_string();
        let report = ps(&["--task", &pid]);
        let [thread] = list(&report["threads"]) else { panic!("{report:#}") };
        assert_eq!(thread["policy"].as_str(), Some(policy), "{thread:#}");
        assert_eq!(thread["priority"].as_u64().unwrap_or(0), priority, "{thread:#}");
        let chrt = said("chrt", &["-p", &pid]);
        assert!(chrt.contains(&format!("policy: {shown}")), "{chrt}");
        assert!(chrt.contains(&format!("priority: {priority}\n")), "{chrt}");
        let taskset = said("taskset", &["-pc", &pid]);
        // Versions differ in how they write a list of two.
        let cpus = |list: &str| list.trim().parse::<CpuSet>().expect("a list");
        let (_, theirs) = taskset.rsplit_once(": ").expect("a list");
        assert_eq!(cpus(thread["cpus"].as_str().expect("its CPUs")), cpus(theirs), "{taskset}");
    }
}

#[test]
fn interrupts_have_a_count_and_a_rate_for_each_cpu() {
    let report = ps(&[]);
    let cpus = std::fs::read_to_string("/proc/interrupts").expect("the interrupts");
    let cpus = cpus.lines().next().unwrap_or_default().split_ascii_whitespace().count();
    let irqs = list(&report["irqs"]);
    assert!(!irqs.is_empty());
    for irq in irqs {
        let counts = list(&irq["per_cpu"]).len();
        assert!(counts <= cpus && counts == list(&irq["per_cpu_per_second"]).len(), "{irq:#}");
    }
}

#[test]
fn a_snapshot_has_sums_and_no_rates() {
    let sleeper = sleeper();
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("machine.tar.gz");
    let file = file.to_str().expect("a name");
    let taken = whylate(["snapshot", "-o", file]);
    assert_eq!(taken.code, Some(0), "{taken:#?}");
    let report = ps(&["--root", file, "--task", &sleeper.0.id().to_string()]);
    let [thread] = list(&report["threads"]) else { panic!("{report:#}") };
    assert!(thread["voluntary_switches"].is_u64() && thread["cpu_time_ns"].is_u64(), "{thread:#}");
    assert!(report["interval_ns"].is_null() && thread["cpu_share"].is_null(), "{thread:#}");
}

#[test]
fn what_is_not_there_is_reported() {
    for (arguments, expected) in [
        (
            &["ps", "--task", "no-such-thread", "--interval", "1ms"][..],
            "no thread has the id or name no-such-thread",
        ),
        (&["ps", "--live"], "--live needs a terminal"),
        (&["ps", "--interval", "0"], "invalid value"),
        (&["ps", "--root", "/no/such/root"], "/no/such/root"),
    ] {
        let run = whylate(arguments);
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains(expected), "{run:#?}");
    }
}
