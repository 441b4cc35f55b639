//! `whylate simulate` on the task sets of the documentation, and on wrong ones.

use crate::support::run::whylate;
use serde_json::Value;
use std::path::Path;

fn example(name: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../simulate/examples");
    examples.join(name).display().to_string()
}

#[test]
fn the_kernel_decides_what_delays_story_a() {
    for (kernel, cause) in [("6.1", "rt-throttled"), ("6.12", "fair-server")] {
        let run = whylate(["simulate", &example("story-a.toml"), "--kernel", kernel, "-d", "2s", "--json"]);
        assert_eq!(run.code, Some(1), "{run:#?}");
        let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(document["schema"], "whylate.simulate/1");
        assert_eq!(document["model"]["kernel"], kernel);
        let victim = &document["tasks"][0];
        let (worst, bound) = (victim["response_ns"]["max"].as_i64(), victim["bound_ns"].as_i64());
        assert!(worst > Some(40_000_000) && worst <= bound, "{victim:#}");
        assert!(victim["causes"][cause].as_i64() > Some(40_000_000), "{victim:#}");
    }
}

#[test]
fn every_format_is_written() {
    for format in ["text", "json", "html", "markdown", "svg"] {
        let run = whylate(["simulate", &example("story-c.toml"), "-d", "2s", "--format", format]);
        assert_eq!(run.code, Some(1), "{format}: {run:#?}");
        assert!(run.stdout.contains("coarse-clock-throttled"), "{format}");
    }
}

#[test]
fn what_cannot_be_simulated_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("tasks.toml");
    for (text, named) in [
        ("[[task]]\nname = \"a\"\nperiod = \"10\"\nrun = \"1ms\"\n", "task `a`: period"),
        ("[[task]]\nname = \"a\"\nruntime = \"5ms\"\nperiod = \"5ms\"\nrun = \"1ms\"\n", "EBUSY"),
        ("nonsense", "TOML parse error"),
    ] {
        std::fs::write(&file, text).expect("written");
        let run = whylate(["simulate", &file.display().to_string()]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:#?}");
        assert!(run.stderr.contains(named), "{run:#?}");
    }
    let absent = directory.path().join("absent.toml").display().to_string();
    let run = whylate(["simulate", &absent]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("cannot read the task set"), "{run:#?}");
}
