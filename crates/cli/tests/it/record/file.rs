//! The file of a recording: its mode, a full disk, an older recording of the same name.

use super::{events_reported, explained, files, place, record, start};
use crate::support::answer::number;
use crate::support::run::{ended, fixture};
use crate::support::tracefs::Tracefs;
use std::ffi::OsStr;
use std::fs;
use std::process::Command;
use whylate_testing::{Need, skip};

#[test]
fn a_recording_is_not_for_other_users_and_symbols_can_be_left_out() {
    let Some(_tracefs) = Tracefs::open() else { return };
    for (arguments, has_symbols) in [(&["-d", "20ms"][..], true), (&["-d", "20ms", "--no-symbols"], false)] {
        let (_directory, file) = place();
        let run = record(&file, arguments);
        assert_eq!(run.code, Some(0), "{run:#?}");
        let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().expect("there").permissions());
        assert_eq!(mode & 0o7777, 0o600);
        // The sections' names are not compressed.
        let bytes = fs::read(&file).expect("the recording");
        for section in ["kallsyms", "printk"] {
            let found =
                bytes.windows(section.len() + 1).any(|name| name == format!("{section}\0").as_bytes());
            assert_eq!(found, has_symbols, "{section} of {arguments:?}");
        }
        explained(&file);
    }
}

/// On small disks, of which the command's system calls fill what a file of pages may take in no time.
#[test]
fn a_full_disk_ends_the_recording_and_keeps_it() {
    let Some(_tracefs) = Tracefs::open() else { return };
    // Of 5 MiB nothing is left for what is kept free on larger ones.
    for mib in [12, 5] {
        full_disk(mib);
    }
}

fn full_disk(mib: u32) {
    let directory = tempfile::tempdir().expect("a directory");
    let kept = directory.path().join("kept.dat");
    let script = "mkdir \"$1/disk\" && mount -t tmpfs -o size=$2m tmpfs \"$1/disk\" || exit 77; \
                  \"$0\" record --duration 60s -o \"$1/disk/a.dat\" -- dd if=/dev/zero of=/dev/null bs=1; code=$?; \
                  ls -A \"$1/disk\"; cp \"$1/disk/a.dat\" \"$1/kept.dat\"; exit $code";
    let mut shell = Command::new("unshare");
    let shell = shell.args(["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_whylate")]);
    let run = ended(shell.arg(directory.path()).arg(mib.to_string()).output().expect("starts"));
    if run.code == Some(77) {
        skip(Need::Machine, "a tmpfs cannot be mounted here");
        return;
    }
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), "a.dat\n"), "{run:#?}");
    assert!(run.stderr.contains("ended early") && run.stderr.contains("No space left"), "{run:#?}");
    let trace = &explained(&kept)["trace"];
    assert_eq!(number(&trace["events"]), events_reported(&run));
    assert!(number(&trace["events"]) > 10_000, "{mib} MiB: {trace:#}");
}

#[test]
fn an_older_recording_is_kept_until_the_new_one_is_done() {
    let Some(tracefs) = Tracefs::open() else { return };
    let (directory, file) = place();
    fs::copy(fixture("6.1-nothing.dat"), &file).expect("an older recording");
    let older = fs::read(&file).expect("read");
    let run = record(&file, &["--", "no-such-program-anywhere"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert_eq!(fs::read(&file).expect("read"), older, "a failed recording destroyed an older one");
    let mut child = start(&tracefs, &[OsStr::new("-o"), file.as_os_str()]);
    child.kill().expect("killed");
    child.wait().expect("ends");
    assert_eq!(fs::read(&file).expect("read"), older, "a killed recording destroyed an older one");
    assert_eq!(record(&file, &["--", "true"]).code, Some(0));
    assert_ne!(fs::read(&file).expect("read"), older);
    assert_eq!(files(&directory), ["a.dat"]);
}
