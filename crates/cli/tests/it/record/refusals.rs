//! What cannot be recorded: the reason, and no file.

use super::{files, place, record};
use crate::support::run::{as_nobody, ended};
use crate::support::tracefs::Tracefs;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

#[test]
fn what_cannot_be_recorded_is_reported_and_leaves_nothing() {
    let Some(tracefs) = Tracefs::open() else { return };
    let (directory, file) = place();
    let before = tracefs.settings();
    let plain = directory.path().join("plain");
    fs::write(&plain, "no program").expect("a file");
    let plain = plain.to_string_lossy().into_owned();
    let missing = directory.path().join("missing/a.dat");
    let table: [(&Path, &[&str], &[&str]); 12] = [
        (&file, &["--", "no-such-program-anywhere"], &["no-such-program-anywhere", "no such program"]),
        (&file, &["--", &plain], &[&plain, "executable"]),
        (&file, &["-e", "sched:no_such_event", "--", "true"], &["sched:no_such_event"]),
        (&file, &["-e", "nosuchgroup", "--", "true"], &["nosuchgroup"]),
        (&file, &["--clock", "sundial", "--", "true"], &["sundial", "mono"]),
        (&missing, &["--", "true"], &["missing/a.dat"]),
        (&file, &["-e", "sched_switch", "--", "true"], &["sched_switch", "sched:sched_switch"]),
        (&file, &["-e", "sched:*", "--", "true"], &["sched:*", "use sched"]),
        (&file, &["--"], &["COMMAND must follow"]),
        (Path::new("-"), &["--", "true"], &["standard output"]),
        (directory.path(), &["--", "true"], &[&*directory.path().to_string_lossy(), "is a directory"]),
        (Path::new("/dev/full"), &["--", "true"], &["/dev/full"]),
    ];
    for (output, arguments, words) in table {
        let run = record(output, arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {run:#?}");
        for word in words {
            assert!(run.stderr.contains(word), "`{word}` is not in: {}", run.stderr);
        }
        let mut parts: Vec<&str> = run.stderr.trim_end().split(": ").collect();
        parts.sort_unstable();
        assert!(parts.windows(2).all(|pair| pair[0] != pair[1]), "said twice: {}", run.stderr);
        assert_eq!(files(&directory), ["plain"], "{arguments:?}");
    }
    assert_eq!(tracefs.settings(), before);
}

#[test]
fn without_the_rights_it_reports_what_is_missing() {
    let (directory, file) = place();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(directory.path(), mode).expect("chmod");
    let Some(mut nobody) = as_nobody() else { return };
    let arguments = ["record", "-o"].map(OsStr::new).into_iter().chain([file.as_os_str()]);
    let arguments: Vec<&OsStr> = arguments.chain(["--", "true"].map(OsStr::new)).collect();
    let run = ended(nobody.args(arguments).output().expect("runs"));
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:#?}");
    assert!(run.stderr.contains("root") || run.stderr.contains("mount"), "what to do: {run:#?}");
    assert_eq!(files(&directory), [] as [&str; 0]);
}
