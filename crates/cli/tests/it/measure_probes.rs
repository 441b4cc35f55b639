//! `whylate measure --probe ...` on this machine, with whatever rights the tests have; and the options of cyclictest.

use crate::support::answer::{list, measurement, number};
use crate::support::run::{Run, as_nobody, command, ended, whylate};
use crate::support::tracefs::{Tracefs, one_at_a_time};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;
use whylate_base::{Cpu, Tid};
use whylate_testing::{Need, skip};

fn measure(options: &[&str]) -> Run {
    whylate(["measure"].into_iter().chain(options.iter().copied()))
}

fn first_cpu() -> String {
    let allowed = whylate_sys::getaffinity(Tid(0)).expect("affinity");
    allowed.iter().next().expect("a CPU").to_string()
}

#[test]
fn each_probe_measures_and_reports_what_it_measured() {
    let _one = one_at_a_time();
    let cpu = first_cpu();
    for (options, kind) in [
        (&["--timer", "timerfd", "-c", &cpu][..], "timer timerfd"),
        (&["--probe", "timer", "--timer", "signal", "-c", &cpu], "timer signal"),
        (&["--probe", "busy", "--duty", "50", "-p", "50", "-c", &cpu], "busy"),
        (&["--probe", "ipc", "--ipc", "pi-mutex", "--waker-cpu", &cpu], "ipc pi-mutex"),
        (&["--probe", "ipc", "-c", &cpu], "ipc pipe"),
        (&["--probe", "deadline", "-i", "2ms"], "deadline"),
        (&["--probe", "hwlat", "--width", "200us", "-c", &cpu], "hwlat"),
    ] {
        // By samples, not by time: a busy machine may take none within any. Of hwlat every window may be disturbed,
        // which is no sample, so that time ends it.
        let enough = if kind == "hwlat" { ["-D", "2s"] } else { ["--loops", "20"] };
        let run = measure(&[&enough[..], &["--json"], options].concat());
        let report = measurement(&run);
        assert_eq!(report["probe"]["kind"], kind, "{options:?}");
        for cpu in list(&report["cpus"]) {
            let disturbed = cpu["disturbed"].as_i64();
            assert_eq!(disturbed.is_some(), kind == "hwlat");
            match disturbed {
                Some(disturbed) if cpu["policy"] == "fifo" => {
                    assert!(number(&cpu["samples"]) + disturbed > 0, "{cpu:#}");
                }
                Some(_) => {
                    skip(Need::Root, "in part: without SCHED_FIFO hwlat may get no time on a busy machine")
                }
                None => assert_eq!(number(&cpu["samples"]), 20, "{kind}: {cpu:#}"),
            }
            assert_eq!(cpu["bound"], kind != "deadline", "{kind}");
            assert_eq!(cpu["overruns"].is_i64(), kind == "deadline");
            assert_eq!(cpu["watched_ns"].is_i64(), matches!(kind, "busy" | "hwlat"));
        }
    }
}

#[test]
fn timerlat_measures_and_leaves_the_settings_as_they_were() {
    let Some(tracefs) = Tracefs::open() else { return };
    if !tracefs.has_tracer("timerlat") {
        return skip(Need::Machine, "this kernel has no timerlat tracer");
    }
    let before = (tracefs.settings(), tracefs.osnoise());
    let run = measure(&["--probe", "timerlat", "--loops", "20", "--json"]);
    let kind = measurement(&run)["probe"]["kind"].as_str().map(str::to_owned);
    assert!(kind.is_some_and(|kind| kind.starts_with("timerlat ")));
    assert_eq!((tracefs.settings(), tracefs.osnoise()), before);
}

#[test]
fn without_timerlat_in_the_kernel_the_probe_is_refused() {
    let Some(tracefs) = Tracefs::open() else { return };
    if tracefs.has_tracer("timerlat") {
        return skip(Need::Machine, "this kernel has the timerlat tracer");
    }
    let before = (tracefs.settings(), tracefs.osnoise());
    let run = measure(&["--probe", "timerlat", "-D", "400ms", "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:#?}");
    for word in ["CONFIG_TIMERLAT_TRACER", "--probe timer"] {
        assert!(run.stderr.contains(word), "{word} is not in: {}", run.stderr);
    }
    assert_eq!((tracefs.settings(), tracefs.osnoise()), before);
}

#[test]
fn gaps_are_explained_by_what_happened_in_them() {
    let Some(_tracefs) = Tracefs::open() else { return };
    let report = measurement(&measure(&[
        "--probe",
        "busy",
        "--duty",
        "60",
        "-c",
        &first_cpu(),
        "--loops",
        "500",
        "--json",
    ]));
    assert_eq!(report["trace"]["state"], "recorded", "{:#}", report["trace"]);
    let spikes = list(&report["spikes"]);
    assert!(!spikes.is_empty());
    for spike in spikes {
        let explained = spike["activation"].is_object();
        assert_ne!(explained, spike["not_explained"].is_object(), "one of both: {spike:#}");
    }
    let in_a_gap = |spike: &&Value| spike["activation"]["trigger"]["kind"] == "running";
    let gaps: Vec<&Value> = spikes.iter().filter(in_a_gap).collect();
    if gaps.is_empty() {
        return skip(Need::Machine, "the trace of every gap begins within it, or was overwritten");
    }
    for spike in gaps {
        let activation = &spike["activation"];
        assert_eq!((&activation["due_ns"], &activation["done_ns"]), (&spike["due_ns"], &spike["woken_ns"]));
        let ledger = list(&activation["ledger"]);
        let charged: i64 = ledger.iter().map(|entry| number(&entry["ns"])).sum();
        assert_eq!(charged, number(&spike["latency_ns"]), "all of the gap is charged");
    }
}

#[test]
fn a_command_line_of_cyclictest_works() {
    let _one = one_at_a_time();
    let run = measure(&["-l50", "-m", "-n", "-Sp90", "-i1000", "-h100", "-q", "-d0", "--no-trace"]);
    assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    assert_eq!(run.stderr, "", "quiet");
    let cpus = whylate_sys::getaffinity(Tid(0)).expect("affinity").len();
    let line = |start: &str| {
        let found = run.stdout.lines().find_map(|line| line.strip_prefix(start));
        found.unwrap_or_else(|| panic!("no {start} in {}", run.stdout)).split_whitespace().map(str::to_owned)
    };
    let counts = |start| line(start).map(|count| count.parse::<u64>().expect("a count")).collect::<Vec<_>>();
    let sums: Vec<u64> =
        counts("# Total:").iter().zip(counts("# Histogram Overflows:")).map(|(a, b)| a + b).collect();
    assert_eq!(sums, vec![50; cpus], "50 loops of each thread");
    let help = measure(&["-h"]);
    assert!(help.code == Some(0) && help.stdout.contains("Usage"), "{help:#?}");
}

#[test]
fn the_first_late_one_ends_it_where_that_is_wanted() {
    let _one = one_at_a_time();
    let run = measure(&["-b", "100ns", "-D", "1h", "-c", &first_cpu(), "--json"]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert_eq!(number(&measurement(&run)["over_threshold"]), 1);
}

#[test]
fn a_threshold_below_usual_samples_is_reported() {
    let _one = one_at_a_time();
    let run = measure(&["--threshold", "1ns", "-D", "200ms", "-c", &first_cpu(), "--no-trace"]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert!(run.stderr.contains("below what is usual here"), "{}", run.stderr);
}

#[test]
fn ctrl_c_ends_a_probe_with_two_threads_too() {
    let _one = one_at_a_time();
    let mut command = command();
    command.args(["measure", "--probe", "ipc", "--ipc", "signal", "-D", "1h", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    stderr.read_line(&mut String::new()).expect("its first line");
    std::thread::sleep(Duration::from_millis(500));
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, Signal::INT).expect("a signal");
    let run = ended(child.wait_with_output().expect("ends"));
    let report = measurement(&run);
    assert!(list(&report["cpus"]).iter().all(|cpu| cpu["stuck_since_ns"].is_null()), "{report:#}");
}

#[test]
fn without_any_rights_every_probe_measures_and_reports_what_is_missing() {
    let _one = one_at_a_time();
    let cpu = first_cpu();
    for options in [
        &["--probe", "deadline"][..],
        &["--probe", "hwlat", "-c", &cpu],
        &["--probe", "ipc", "--ipc", "futex", "-c", &cpu],
        &["--timer", "signal", "-c", &cpu],
    ] {
        let Some(mut nobody) = as_nobody() else { return };
        let run = ended(nobody.args(["measure", "-D", "300ms"]).args(options).output().expect("runs"));
        assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
        assert!(run.stdout.contains("CAP_SYS_NICE"), "{options:?}: {}", run.stdout);
    }
}

#[test]
fn what_cannot_be_measured_is_reported() {
    let allowed = whylate_sys::getaffinity(Tid(0)).expect("affinity");
    let one = [Cpu(0)].into_iter().collect();
    let threads = (allowed.len() + 1).to_string();
    let mut wrong = vec![
        (vec!["-i", "0"], "more than zero"),
        (vec!["-i", "5"], "10 us"),
        (vec!["-p", "100"], "1..=99"),
        (vec!["-b", "0"], "more than zero"),
        (vec!["-t", &threads], "threads"),
        (vec!["--ipc", "pipe"], "--probe ipc"),
        (vec!["--probe", "ipc", "--ipc", "pipes"], "pi-mutex"),
        (vec!["--probe", "ipc", "--waker-cpu", "8000"], "8000"),
        (vec!["--probe", "busy", "--gap", "1ns"], "reading of the clock"),
        (vec!["--probe", "busy", "--gap", "5us", "--threshold", "2us"], "shortest gap"),
        (vec!["--probe", "deadline", "-i", "50us"], "100 us"),
        (vec!["--probe", "deadline", "--runtime", "2ms"], "cannot be promised"),
        (vec!["--probe", "hwlat", "--width", "9ms"], "half of the interval"),
        (vec!["-d", "10s", "-D", "5s"], "cannot be used with"),
        (vec!["--probe", "timerlat", "-i", "50us"], "100 us to 1 s"),
        (vec!["--probe", "timerlat", "--distance", "5us"], "leave the distance out"),
        (vec!["--timerlat", "kernel"], "--probe timerlat"),
    ];
    if allowed != one {
        wrong.push((vec!["--probe", "deadline", "-c", "0"], "cannot be bound"));
    }
    for (options, word) in wrong {
        let run = measure(&options);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{options:?}: {run:#?}");
        assert!(run.stderr.contains(word), "{options:?}: {run:#?}");
    }
}
