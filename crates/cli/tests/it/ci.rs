//! The script that CI servers run, with a recording in place of a guest.

use crate::support::run::{command, copy_program, fixture};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;
use whylate_testing::Need;

/// A directory with a program that answers `lab exec` as it does with a recording at hand, and is whylate for all else.
fn site(recording: &str, code: i32, program: &str) -> Option<(TempDir, PathBuf)> {
    if Command::new("jq").arg("--version").stdout(Stdio::null()).status().is_err() {
        whylate_testing::skip(Need::Program, "jq is not installed");
        return None;
    }
    let site = tempfile::tempdir().expect("a directory");
    let stand_in = site.path().join("whylate");
    let real = command().get_program().to_owned();
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = lab ]; then\n  echo \"$*\" > arguments\n  mkdir -p out\n\
         cp '{}' out/trace.dat\n  echo '{{\"steps\":[{program}]}}' > out/result.json\n  exit {code}\nfi\nexec '{}' \"$@\"\n",
        fixture(recording).display(),
        Path::new(&real).display()
    );
    let text = site.path().join("script");
    fs::write(&text, script).expect("it is written");
    copy_program(&text.display().to_string(), &stand_in);
    fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755)).expect("its permissions");
    Some((site, stand_in))
}

/// Runs the script there; its exit code.
fn run(site: &Path, whylate: &Path) -> Option<i32> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/ci/rt-test.sh");
    let output = Command::new("sh")
        .arg(script)
        .args(["./controller", "--cycles", "5"])
        .current_dir(site)
        .env("WHYLATE", whylate)
        .env("WHYLATE_OUTPUT", "out")
        .env("WHYLATE_TASKS", "victim")
        .env("WHYLATE_DEADLINE", "500us")
        .env("WHYLATE_SOURCE", "src/controller.c")
        .env("GITHUB_STEP_SUMMARY", site.join("summary.md"))
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    output.status.code()
}

#[test]
fn a_late_program_fails_the_job_and_every_report_shows_why() {
    let Some((site, whylate)) = site("6.1-throttle.dat", 1, "{\"code\":0}") else { return };
    assert_eq!(run(site.path(), &whylate), Some(1));
    let read = |name: &str| fs::read_to_string(site.path().join(name)).expect(name);
    let arguments = "lab exec --kernel 6.12-rt --output out --fail-on error --deadline 500us --task victim -- ./controller --cycles 5";
    assert_eq!(read("arguments").trim_end(), arguments);
    for report in ["out/report.md", "out/report.html", "out/report.xml", "summary.md"] {
        assert!(read(report).contains("rt-throttled"), "{report}");
    }
    let sarif: serde_json::Value = serde_json::from_str(&read("out/report.sarif")).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert!(!results.is_empty());
    for result in results {
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "src/controller.c", "{result}");
    }
}

#[test]
fn a_program_that_fails_by_itself_fails_the_job() {
    let Some((site, whylate)) = site("6.1-throttle.dat", 0, "{\"code\":0},{\"code\":null}") else { return };
    assert_eq!(run(site.path(), &whylate), Some(2));
}
