//! The command that is recorded.

use super::{events_reported, explained, files, place, record};
use crate::support::answer::{answer, list, number};
use crate::support::tracefs::Tracefs;

#[test]
fn a_short_command_is_recorded() {
    let Some(tracefs) = Tracefs::open() else { return };
    let (directory, file) = place();
    let before = tracefs.settings();
    let run = record(&file, &["--", "sh", "-c", "echo from the command; sleep 0.2"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(run.stdout, "from the command\n", "what we say goes to standard error");
    assert!(run.stderr.contains(&*file.to_string_lossy()), "{run:#?}");
    assert_eq!(tracefs.settings(), before);
    assert_eq!(files(&directory), ["a.dat"]);

    let trace = &explained(&file)["trace"];
    assert_eq!(number(&trace["events"]), events_reported(&run));
    assert!(number(&trace["end_ns"]) - number(&trace["start_ns"]) >= 200_000_000, "{trace:#}");
    assert_eq!(trace["clock"], "mono");
}

#[test]
fn the_command_runs_as_the_user_asked_for() {
    let Some(_tracefs) = Tracefs::open() else { return };
    let (directory, file) = place();
    let run = record(&file, &["--user", "no such user", "--", "true"]);
    assert!(run.code == Some(2) && run.stderr.contains("there is no such user"), "{run:#?}");
    assert!(files(&directory).is_empty());
    let run = record(&file, &["--user", "65534", "--", "sh", "-c", "id -u; id -G"]);
    let ids = std::process::Command::new("sh").args(["-c", "id -u 65534; id -G 65534"]).output().expect("id");
    assert_eq!((run.code, run.stdout.as_bytes()), (Some(0), &ids.stdout[..]), "{run:#?}");
}

#[test]
fn a_command_that_fails_is_still_recorded() {
    let Some(_tracefs) = Tracefs::open() else { return };
    let (_directory, file) = place();
    let run = record(&file, &["--", "sh", "-c", "exit 7"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stderr.contains("exit status: 7"), "{run:#?}");
    explained(&file);
}

#[test]
fn recording_and_explaining_in_one_go() {
    let Some(_tracefs) = Tracefs::open() else { return };
    let (directory, file) = place();
    let report = directory.path().join("report.html");
    let report = report.to_string_lossy();
    let arguments =
        ["--explain", "--json", "--report", &*report, "--task", "sh", "--", "sh", "-c", "sleep 0.1"];
    let run = record(&file, &arguments);
    assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    let answer = answer(&run.stdout);
    assert!(list(&answer["tasks"]).iter().any(|task| task["comm"] == "sh"), "{:#}", answer["tasks"]);
    assert_eq!(files(&directory), ["a.dat", "report.html"]);
}
