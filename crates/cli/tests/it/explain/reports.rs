//! Reports in each format.

use super::explain;
use crate::support::answer::list;
use crate::support::run::{fixture, whylate};
use serde_json::Value;
use std::ffi::OsStr;

#[test]
fn the_report_is_one_file_that_fetches_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("a report.html");
    let file = fixture("6.1-inversion.dat");
    let run = whylate([OsStr::new("explain"), file.as_os_str(), OsStr::new("-o"), path.as_os_str()]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert!(run.stdout.contains("lock-inversion"), "the answer is on the terminal as well: {run:#?}");
    assert!(run.stderr.contains("a report.html"), "{run:#?}");
    assert_eq!(std::fs::read_dir(directory.path()).expect("list").count(), 1);
    let page = std::fs::read_to_string(&path).expect("the page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    for word in ["victim", "middle-hog", "low-owner", "lock-inversion"] {
        assert!(page.contains(word), "{word} is in the page");
    }
    // A namespace is a name, not an address that is fetched.
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for fetched in ["http://", "https://", "<link", "@import", "url(", " src="] {
        assert!(!page.contains(fetched), "{fetched} in the page");
    }
}

#[test]
fn each_format_is_of_the_same_explanation() {
    let file = fixture("6.1-throttle.dat");
    let directory = tempfile::tempdir().expect("a directory");
    let explain = |options: &[&OsStr]| {
        let run = whylate([OsStr::new("explain"), file.as_os_str()].iter().chain(options));
        assert_eq!(run.code, Some(1), "{run:#?}");
        run.stdout
    };
    for (format, ending, start) in [
        ("text", "txt", "thread "),
        ("json", "json", "{"),
        ("html", "html", "<!DOCTYPE html>"),
        ("markdown", "md", "# whylate explain: "),
        ("svg", "svg", "<svg "),
    ] {
        let path = directory.path().join("report").with_extension(ending);
        let shown =
            explain(&[OsStr::new("--format"), OsStr::new(format), OsStr::new("-o"), path.as_os_str()]);
        assert!(shown.starts_with(start) && shown.contains("rt-throttled"), "{format}: {shown}");
        assert_eq!(std::fs::read_to_string(path).expect("a report"), shown, "{format}");
    }
    let text = explain(&[]);
    assert_eq!(explain(&["-o", "-"].map(OsStr::new)), text);
    assert_eq!(explain(&["--json"].map(OsStr::new)), explain(&["--format", "json"].map(OsStr::new)));
}

#[test]
fn standard_output_has_the_answer_and_nothing_else() {
    let file = fixture("6.1-throttle.dat");
    let run = whylate([OsStr::new("explain"), file.as_os_str()]);
    assert_eq!(run.stderr, "");
    assert!(!run.stdout.contains('\u{1b}'), "no colours where there is no terminal");
    let widest = run.stdout.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?} columns");
    let json = whylate([OsStr::new("explain"), OsStr::new("--json"), file.as_os_str()]);
    assert_eq!(json.stderr, "");
    assert_eq!(json.stdout, whylate([OsStr::new("explain"), OsStr::new("--json"), file.as_os_str()]).stdout);
}

/// A part of a report of rtla, pasted without the line that has the CPU.
#[test]
fn an_unknown_cpu_is_null() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("pasted.txt");
    let text = "  IRQ handler delay:                  1.10 us (0.30 %)\n  IRQ latency:                        2.45 us\n  \
                Timerlat IRQ duration:             11.20 us (3.11 %)\n  Blocking thread:                   340.12 us (94.4 %)\n  \
                \x20               stress-ng:4242     340.12 us\n  Thread latency:                    360.30 us (100%)\n";
    std::fs::write(&file, text).expect("written");
    let (_, answer) = explain(&file, &[]);
    let activation = &answer["activations"][0];
    assert_eq!(activation["cpu"], Value::Null, "{answer:#}");
    assert!(list(&activation["ledger"]).iter().all(|entry| entry["cpu"].is_null()), "{activation:#}");
}
