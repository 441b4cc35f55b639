//! A recording with that of another machine: joined by packets, or refused. The pair was recorded in two guests on a network of
//! their own (`fixtures/README.md`): a SCHED_FIFO program of the slave's machine takes its CPU for 4 ms, ten times a second.

use crate::support::answer::{answer, list, number};
use crate::support::run::{Run, fixture, whylate};
use serde_json::Value;
use std::path::Path;

const MASTER: &str = "6.12-master.txt.gz";
const SLAVE: &str = "6.12-slave.txt.gz";

fn explain(own: &Path, peer: &Path, options: &[&str]) -> Run {
    let files = ["explain", own.to_str().expect("UTF-8"), "--peer", peer.to_str().expect("UTF-8")];
    whylate(files.iter().chain(options))
}

#[test]
fn a_hog_beside_the_slave_is_named_from_the_masters_recording() {
    let run = explain(&fixture(MASTER), &fixture(SLAVE), &["--task", "master", "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.stderr);
    let answer = answer(&run.stdout);
    let peer = &answer["peer"];
    assert!(number(&peer["error_ns"]) < 200_000 && number(&peer["round_trips"]) > 250, "{peer}");
    let worst = &list(&peer["worst"])[0];
    let hops = list(&worst["hops"]);
    let places: Vec<&Value> = hops.iter().map(|hop| &hop["place"]).collect();
    assert_eq!(places, ["own", "network", "peer", "network", "own"]);
    assert!(hops.windows(2).all(|pair| pair[0]["end_ns"] == pair[1]["start_ns"]), "{hops:?}");
    let slave = &hops[2];
    assert_eq!(slave["comm"], "slave");
    let charge = &list(&slave["charges"])[0];
    assert_eq!((&charge["cause"], &charge["by"]["comm"]), (&"higher-priority-task".into(), &"hog".into()));
    let sum: i64 = list(&slave["charges"]).iter().map(|charge| number(&charge["ns"])).sum();
    let length = number(&slave["end_ns"]) - number(&slave["start_ns"]);
    // The charges are in the peer's time, and the hop in this machine's: the clocks run apart by some ppm.
    assert!((sum - length).abs() < 2_000, "{sum} {length}");
    let found = list(&answer["findings"]).iter().find(|finding| finding["code"] == "peer-late");
    let title = found.map(|finding| finding["title"].to_string()).unwrap_or_default();
    assert!(title.contains("slave:") && title.contains("by hog:"), "{title}");
}

#[test]
fn the_slave_sees_the_same_from_its_side() {
    let run = explain(&fixture(SLAVE), &fixture(MASTER), &["--task", "slave", "--json"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let there = answer(&run.stdout);
    let back = answer(&explain(&fixture(MASTER), &fixture(SLAVE), &["--json"]).stdout);
    let offset = |answer: &Value| number(&answer["peer"]["offset_ns"]);
    let error = number(&there["peer"]["error_ns"]) + number(&back["peer"]["error_ns"]);
    assert!((offset(&there) + offset(&back)).abs() <= error, "{} {}", offset(&there), offset(&back));
}

#[test]
fn a_recording_that_does_not_belong_is_refused() {
    for (peer, what) in [
        (fixture("6.1-guest.txt.gz"), "net:net_dev_queue"),
        (fixture(MASTER), "is the explained recording as well"),
        ("-".into(), "must be files"),
        ("/no/such.dat".into(), "/no/such.dat"),
    ] {
        let run = explain(&fixture(MASTER), &peer, &[]);
        assert_eq!(run.code, Some(2), "{}", peer.display());
        assert!(run.stderr.contains(what), "{}", run.stderr);
    }
    let both = explain(&fixture(MASTER), &fixture(SLAVE), &["--host", "x.dat"]);
    assert_eq!(both.code, Some(2));
}

/// A fixture as text, changed, in a file.
fn changed(name: &str, directory: &Path, change: impl Fn(&str) -> String) -> std::path::PathBuf {
    let path = directory.join("changed.txt");
    let converted = whylate([Path::new("convert"), &fixture(name), &path]);
    assert_eq!(converted.code, Some(0), "{}", converted.stderr);
    let text = std::fs::read_to_string(&path).expect("text");
    std::fs::write(&path, change(&text)).expect("written");
    path
}

#[test]
fn recordings_that_look_alike_and_do_not_join_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let refused = |name: &str, change: &dyn Fn(&str) -> String, what: &str| {
        let run = explain(&fixture(MASTER), &changed(name, directory.path(), change), &[]);
        assert_eq!(run.code, Some(2), "{what}: {}", run.stdout);
        assert!(run.stderr.contains(what) && run.stderr.contains("changed.txt"), "{what}: {}", run.stderr);
    };
    refused(MASTER, &str::to_owned, "it is a copy");
    refused(SLAVE, &|text| text.replace("clock=mono", "clock=local"), "trace clock `local`");
    let without_packets = |text: &str| -> String {
        let is_packet = |line: &&str| line.contains("net_dev_queue:") || line.contains("netif_receive_skb:");
        text.lines().filter(|line| !is_packet(line)).map(|line| format!("{line}\n")).collect()
    };
    refused(SLAVE, &without_packets, "no events of packets");
    // As if its buffer had overrun for half a second, twice.
    let lossy = |text: &str| -> String {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for part in [3, 2] {
            let at = lines.len() / part;
            lines.splice(at..at + 1_500, ["CPU:0 [LOST 1500 EVENTS]".to_owned()]);
        }
        lines.join("\n")
    };
    refused(SLAVE, &lossy, "3000 events were lost");
}

#[test]
fn a_chain_goes_from_the_timer_across_both_machines_and_back() {
    let run = explain(&fixture(MASTER), &fixture(SLAVE), &["--task", "master", "--chains", "--json"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let answer = answer(&run.stdout);
    let error = number(&answer["peer"]["error_ns"]);
    let chain = &list(&answer["chains"])[0];
    let path: Vec<&str> = list(&chain["path"]).iter().filter_map(Value::as_str).collect();
    assert_eq!((path[0], path[1], path[2]), ("timer", "master", "network"), "{path:?}");
    assert!(path.contains(&"peer:slave") && path.last() == Some(&"master"), "{path:?}");
    assert!((number(&chain["period_ns"]) - 2_000_000).abs() < 100_000, "{chain}");
    let worst = &list(&chain["worst"])[0];
    let hops = list(&worst["hops"]);
    assert_eq!(hops.len(), path.len());
    let mut at = number(&worst["start_ns"]);
    for hop in hops {
        assert_eq!(number(&hop["start_ns"]), at, "hops tile the chain");
        at += number(&hop["ns"]);
        let charged: i64 = list(&hop["charges"]).iter().map(|charge| number(&charge["ns"])).sum();
        assert_eq!(charged, number(&hop["ns"]), "{hop}");
        let crosses = hop["from"] == "network";
        assert_eq!(number(&hop["error_ns"]), if crosses { error } else { 0 }, "{hop}");
    }
    assert_eq!(at - number(&worst["start_ns"]), number(&worst["latency_ns"]));
    let verdict = &worst["verdict"];
    assert_eq!((&verdict["cause"], &verdict["by"]["comm"]), (&"higher-priority-task".into(), &"hog".into()));
    let accused = &hops[usize::try_from(number(&verdict["hop"])).expect("an index")];
    assert!(accused["from"].as_str().is_some_and(|from| from.starts_with("peer:")), "{accused}");
}

#[test]
fn a_chosen_chain_may_have_hops_of_the_peer() {
    let chosen = |chain: &str, deadline: &str| {
        explain(&fixture(MASTER), &fixture(SLAVE), &["--chain", chain, "--chain-deadline", deadline])
    };
    let run = chosen("timer -> peer:slave -> master", "5ms");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for part in ["network, ± ", "peer:slave", "missed its deadline of 5.00 ms"] {
        assert!(run.stdout.contains(part), "{part} in {}", run.stdout);
    }
    for (chain, code, what) in [
        ("timer -> peer:slaves -> master", 2, "peer:slave"),
        ("peer:slave -> timer", 3, "no instance of the chain"),
    ] {
        let run = chosen(chain, "5ms");
        assert_eq!(run.code, Some(code), "{chain}: {}", run.stderr);
        assert!(run.stderr.contains(what), "{chain}: {}", run.stderr);
    }
    let alone =
        whylate(["explain", fixture(MASTER).to_str().expect("UTF-8"), "--chain", "timer -> peer:slave"]);
    assert_eq!(alone.code, Some(2));
    assert!(alone.stderr.contains("--peer"), "{}", alone.stderr);
}

#[test]
fn the_report_states_the_error_in_every_text() {
    for format in ["text", "markdown", "html"] {
        let run = explain(&fixture(MASTER), &fixture(SLAVE), &["--format", format]);
        assert_eq!(run.code, Some(0), "{format}: {}", run.stderr);
        for part in ["clock is joined with this machine", "on the peer"] {
            assert!(run.stdout.contains(part), "{format}: {part}");
        }
    }
}

#[test]
fn perfetto_shows_both_machines() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("both.perfetto-trace");
    let convert = |peer: &Path, out: &Path| {
        whylate([Path::new("convert"), Path::new("--peer"), peer, &fixture(MASTER), out])
    };
    let run = convert(&fixture(SLAVE), &out);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("events of the peer"), "{}", run.stderr);
    let trace = std::fs::read(&out).expect("a trace");
    for name in
        ["peer: CPU 0, threads", "peer: CPU 0, interrupts", "packets: this machine", "packets: the peer"]
    {
        assert!(trace.windows(name.len()).any(|part| part == name.as_bytes()), "{name}");
    }
    let refused = convert(&fixture(SLAVE), &directory.path().join("both.jsonl"));
    assert!(refused.code == Some(2) && refused.stderr.contains("perfetto-trace"), "{}", refused.stderr);
    let refused = convert(&fixture(MASTER), &out);
    assert!(refused.code == Some(2) && refused.stderr.contains("--peer"), "{}", refused.stderr);
}
