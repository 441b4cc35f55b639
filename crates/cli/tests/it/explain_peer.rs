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
