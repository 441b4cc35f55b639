//! A guest's recording with that of its host: joined, resolved, or refused. The pair was recorded on one machine
//! (`fixtures/README.md`): a SCHED_FIFO program of the host takes the CPU of the guest's CPU 1 for 5 ms, ten times a second.

use crate::support::answer::{answer, list, number};
use crate::support::run::{Run, fixture, whylate};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const GUEST: &str = "6.1-guest.txt.gz";
const HOST: &str = "6.18-host-of-guest.txt.gz";

fn explain(guest: &Path, host: &Path, options: &[&str]) -> Run {
    let files = ["explain", guest.to_str().expect("UTF-8"), "--host", host.to_str().expect("UTF-8")];
    whylate(files.iter().chain(options))
}

/// The text of a fixture.
fn text_of(name: &str) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("unpacked.txt");
    let run = whylate(["convert".as_ref(), fixture(name).as_os_str(), path.as_os_str()]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    fs::read_to_string(path).expect("text")
}

fn written(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, text).expect("written");
    path
}

/// The stolen entries of all ledgers with what the host did in them.
fn host_parts(answer: &Value) -> Vec<&Value> {
    let entries = list(&answer["activations"]).iter().flat_map(|activation| list(&activation["ledger"]));
    entries.flat_map(|entry| list(&entry["host"])).collect()
}

/// The longest delays of the guest's CPU by the host's SCHED_FIFO program.
fn by_hog(answer: &Value) -> Vec<&Value> {
    let is_hog = |part: &&&Value| part["by"]["comm"] == "python3" && part["by"]["priority"] == 50;
    host_parts(answer).iter().filter(is_hog).copied().collect()
}

#[test]
fn a_hog_of_the_host_is_named_from_the_guests_late_activation() {
    let run = explain(&fixture(GUEST), &fixture(HOST), &["--task", "93", "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.stderr);
    let answer = answer(&run.stdout);
    let host = &answer["host"];
    assert!(number(&host["error_ns"]) < 50_000 && number(&host["agreeing"]) > 500, "{host}");
    let vcpus: Vec<&Value> = list(&host["vcpus"]).iter().map(|vcpu| &vcpu["comm"]).collect();
    assert_eq!(vcpus, ["CPU 0/TCG", "CPU 1/TCG"]);
    let by_hog = by_hog(&answer);
    let bursts: Vec<&&Value> = by_hog.iter().filter(|part| number(&part["ns"]) > 4_500_000).collect();
    assert!(bursts.len() >= 3 && bursts.iter().any(|part| part["state"] == "delayed"), "{by_hog:?}");
    for part in bursts {
        // The thread of the guest's CPU, or QEMU's main thread, which delivers the guest's timers.
        let comm = if part["state"] == "delayed" { "CPU 1/TCG" } else { "qemu-system-x86" };
        assert_eq!((&part["cause"], &part["comm"]), (&"higher-priority-task".into(), &comm.into()));
        assert!(number(&part["ns"]) < 7_000_000, "a burst is 5 ms: {part}");
    }
    let named = list(&answer["activations"]).iter().filter(|activation| {
        let why = activation["verdict"]["why"].as_str().expect("words");
        activation["verdict"]["cause"] == "stolen" && why.contains("python3") && why.contains("(rt 50)")
    });
    assert!(named.count() >= 3);
    for activation in list(&answer["activations"]) {
        let sum: i64 = list(&activation["ledger"]).iter().map(|entry| number(&entry["ns"])).sum();
        assert_eq!(sum, number(&activation["response_ns"]), "a ledger still tiles");
    }
    let codes: Vec<&Value> = list(&answer["findings"]).iter().map(|finding| &finding["code"]).collect();
    assert!(codes.contains(&&"vcpu-preempted".into()), "{codes:?}");
}

#[test]
fn every_format_shows_the_host() {
    for (format, words) in [("text", "Host"), ("html", "<h2>Host</h2>"), ("markdown", "## Host")] {
        let run = explain(&fixture(GUEST), &fixture(HOST), &["--task", "93", "--format", format]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        for word in [words, "python3", "CPU 1/TCG", "vcpu-preempted"] {
            assert!(run.stdout.contains(word), "{format}: {word}");
        }
    }
}

/// The events of a host with KVM: the same recording, with the entries and exits that KVM would trace.
#[test]
fn exits_of_kvm_are_named() {
    let mut text = String::new();
    for line in text_of(HOST).replace("/TCG", "/KVM").lines() {
        let of_vcpu = |text: &str| text.trim_start().starts_with("CPU ") || text.contains("CPU ");
        match line.split_once("sched_switch:").and_then(|(head, rest)| Some((head, rest.split_once("==>")?)))
        {
            Some((head, (from, to))) => {
                let (_, stamp) = head.rsplit_once('[').expect("a CPU");
                if of_vcpu(from) {
                    let number =
                        from.split("CPU ").nth(1).and_then(|rest| rest.chars().next()).expect("a CPU");
                    text += &format!(
                        "{head}kvm_exit:             vcpu {number} reason EXTERNAL_INTERRUPT rip 0x0\n"
                    );
                }
                text += &format!("{line}\n");
                if of_vcpu(to) {
                    let number = to.split("CPU ").nth(1).and_then(|rest| rest.chars().next()).expect("a CPU");
                    let tid = to
                        .split("next_pid=")
                        .nth(1)
                        .and_then(|rest| rest.split_whitespace().next())
                        .expect("an id");
                    text += &format!(
                        "CPU {number}/KVM-{tid} [{stamp}kvm_entry:            vcpu {number}, rip 0x0\n"
                    );
                }
            }
            None => text += &format!("{line}\n"),
        }
    }
    let directory = tempfile::tempdir().expect("a directory");
    let host = written(directory.path(), "host.txt", &text);
    let run = explain(&fixture(GUEST), &host, &["--task", "93", "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.stderr);
    let answer = answer(&run.stdout);
    let by_hog = by_hog(&answer);
    assert!(!by_hog.is_empty());
    assert!(by_hog.iter().all(|part| part["exit_reason"] == "EXTERNAL_INTERRUPT"), "{by_hog:?}");
}

#[test]
fn what_does_not_join_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    // The first half of the guest's time against the second half of the host's.
    let halves = |text: &str| {
        let lines: Vec<&str> = text.lines().collect();
        let (first, second) = lines.split_at(lines.len() / 2);
        let whole = |lines: &[&str]| lines.iter().flat_map(|line| [line, "\n"]).collect::<String>();
        (whole(first), format!("{}\ncpus=2\n{}", lines[0], whole(second)))
    };
    let early = written(directory.path(), "early.txt", &halves(&text_of(GUEST)).0);
    let late = written(directory.path(), "late.txt", &halves(&text_of(HOST)).1);
    let no_offset =
        "whatever the offset, the guest has events at instants at which the host shows its CPUs away";
    let (guest, host) = (fixture(GUEST), fixture(HOST));
    for (guest, host, options, expected) in [
        (&early, &late, &[][..], no_offset),
        (&guest, &host, &["--vcpu", "16383,16382"][..], no_offset),
        (&guest, &host, &["--vcpu", "16382"][..], "no thread for CPU 1 of the guest"),
        (&guest, &host, &["--vcpu", "999999,16383"][..], "shows no thread 999999"),
        (&guest, &fixture("6.1-throttle.dat"), &[][..], "no thread in"),
        (&guest, &guest, &[][..], "is the guest's recording as well"),
        (&guest, &PathBuf::from("-"), &[][..], "both recordings must be files"),
        (&guest, &directory.path().join("missing.dat"), &[][..], "missing.dat"),
    ] {
        let run = explain(guest, host, options);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{expected}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{expected}: {}", run.stderr);
    }
    let alone = whylate(["explain", guest.to_str().expect("UTF-8"), "--vcpu", "16382"]);
    assert_eq!(alone.code, Some(2), "--vcpu needs --host");
}
