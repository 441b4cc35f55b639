//! `whylate bundle`, and the verbs that open what it writes.

use crate::support::run::{Run, command, ended, whylate};
use crate::support::tracefs::one_at_a_time;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/6.1-throttle.dat");

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// A file of the archive, as tar unpacks it.
fn inside(bundle: &Path, name: &str) -> Vec<u8> {
    let file = std::fs::File::open(bundle).expect("the bundle");
    let decoder = zstd::Decoder::new(file).expect("zstd");
    let mut child = Command::new("tar")
        .args(["-xOf", "-", name])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("tar starts");
    let mut input = child.stdin.take().expect("its input");
    let feeding = std::thread::spawn(move || {
        let mut decoder = decoder;
        // tar closes its input where it has seen enough.
        let _ = std::io::copy(&mut decoder, &mut input);
    });
    let output = child.wait_with_output().expect("its end");
    feeding.join().expect("fed");
    assert!(output.status.success(), "{name}: {output:?}");
    output.stdout
}

#[test]
fn the_verbs_open_the_parts_that_are_theirs() {
    let _turn = one_at_a_time();
    let directory = tempfile::tempdir().expect("a directory");
    let (stock, bundle) = (directory.path().join("stock.json"), directory.path().join("report.tar.zst"));
    let measured = whylate(["measure", "--no-trace", "--policy", "other", "-D", "300ms", "--json"]);
    std::fs::write(&stock, &measured.stdout).expect("written");
    let run = whylate([
        "bundle",
        "-o",
        text(&bundle),
        "--trace",
        TRACE,
        "-m",
        text(&stock),
        "-d",
        "300ms",
        "--task",
        "victim",
    ]);
    assert_eq!(run.code, Some(0), "{run:#?}");

    let explained = whylate(["explain", "--json", text(&bundle)]);
    let directly = whylate(["explain", "--json", TRACE]);
    let activations = |stdout: &str| {
        let answer: Value = serde_json::from_str(stdout).expect("JSON");
        answer["activations"].clone()
    };
    assert_eq!(activations(&explained.stdout), activations(&directly.stdout));
    let checked = whylate(["check", "--json", "--root", text(&bundle)]);
    let checked: Value = serde_json::from_str(&checked.stdout).expect("JSON");
    assert!(checked["schema"].as_str().expect("a schema").starts_with("whylate.check/"), "{checked:#}");
    let compared = whylate(["compare", "--json", text(&bundle)]);
    let compared: Value = serde_json::from_str(&compared.stdout).expect("JSON");
    let labels: Vec<&str> =
        compared["runs"].as_array().expect("runs").iter().filter_map(|run| run["label"].as_str()).collect();
    assert_eq!(labels, ["stock.json", "this-machine.json"], "{compared:#}");

    // Only what --task chose is explained in the document inside.
    let inner: Value = serde_json::from_slice(&inside(&bundle, "explain.json")).expect("JSON");
    let tasks = inner["tasks"].as_array().expect("tasks");
    assert!(tasks.len() == 1 && tasks[0]["comm"] == "victim", "{tasks:#?}");
    let manifest: Value = serde_json::from_slice(&inside(&bundle, "bundle.json")).expect("JSON");
    assert_eq!(manifest["schema"], "whylate.bundle/1");
    assert_eq!(manifest["missing"], serde_json::json!([]));
    assert_eq!(inside(&bundle, "trace.dat"), std::fs::read(TRACE).expect("the trace"));
    let left: Vec<_> =
        std::fs::read_dir(directory.path()).expect("read").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

/// `/dev/full` takes nothing, as a full disk.
#[test]
fn a_bundle_that_does_not_fit_where_it_belongs_is_kept_elsewhere() {
    let directory = tempfile::tempdir().expect("a directory");
    let arguments = ["bundle", "--no-measure", "--trace", TRACE, "-o", "/dev/full"];
    let run = whylate_in(directory.path(), arguments);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("/dev/full") && run.stderr.contains(" instead"), "{run:#?}");
    let kept: Vec<_> =
        std::fs::read_dir(directory.path()).expect("read").flatten().map(|e| e.path()).collect();
    let [kept] = &kept[..] else { panic!("one file: {kept:?}") };
    assert_eq!(inside(kept, "trace.dat"), std::fs::read(TRACE).expect("the trace"));
    assert!(run.stdout.contains(text(kept)), "{run:#?}");
    // Nor is there any room.
    let run = whylate_in(&directory.path().join("none"), arguments);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:#?}");
}

/// whylate with this directory for temporary files.
fn whylate_in<const N: usize>(directory: &Path, arguments: [&str; N]) -> Run {
    ended(command().args(arguments).env("TMPDIR", directory).output().expect("the program starts"))
}

#[test]
fn bad_input_is_refused_before_anything_is_written() {
    let directory = tempfile::tempdir().expect("a directory");
    let bundle = directory.path().join("report.tar.zst");
    for (arguments, says) in [
        (&["--trace", "/nonexistent"][..], "/nonexistent"),
        (&["-m", TRACE], "it is a trace"),
        (&["--no-record", "--", "ls"], "--no-record"),
        (&["-d", "0s"], "0s"),
    ] {
        let run = whylate([&["bundle", "-o", text(&bundle)], arguments].concat());
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains(says), "{run:#?}");
    }
    let run = whylate(["bundle", "--no-measure", "--trace", TRACE, "-o", "/nonexistent/report"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert_eq!(std::fs::read_dir(directory.path()).expect("read").count(), 0);

    let run = whylate(["bundle", "--no-measure", "--no-record", "-o", text(&bundle)]);
    let mode = std::fs::metadata(&bundle).expect("a bundle").permissions().mode();
    assert_eq!(mode & 0o077, 0, "a recording is its owner's alone");
    assert_eq!(run.code, Some(0), "{run:#?}");
    let compared = whylate(["compare", text(&bundle)]);
    assert!(compared.code == Some(2) && compared.stderr.contains("no measurement"), "{compared:#?}");
    let explained = whylate(["explain", text(&bundle)]);
    assert!(explained.code == Some(2) && explained.stderr.contains("without a trace.dat"), "{explained:#?}");
}
