//! `whylate plot`, and the plots in a measurement's page.

use crate::support::browser;
use crate::support::measured::{document, file};
use crate::support::run::{Run, whylate};
use crate::support::tracefs::one_at_a_time;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;
use whylate_testing::Need;

fn plot(options: &[&dyn AsRef<OsStr>]) -> Run {
    whylate([OsStr::new("plot")].into_iter().chain(options.iter().map(|option| option.as_ref())))
}

/// How often a piece of text is in another one.
fn count(text: &str, piece: &str) -> usize {
    text.matches(piece).count()
}

#[test]
fn each_kind_has_its_lines_names_and_units() {
    let directory = tempfile::tempdir().expect("a directory");
    let a = file(directory.path(), "a.json", &document(21, 800.0, Some(331_000)));
    let b = file(directory.path(), "b.json", &document(22, 1_600.0, None));
    let out = directory.path().join("out.svg");
    for (kind, per_cpu, lines, words) in [
        ("histogram", false, 2, &["share of samples", "samples"][1..]),
        ("histogram", true, 4, &["a.json, CPU 0", "b.json, CPU 1", "max 331.0 us"]),
        ("ccdf", false, 2, &["share of samples at or above", "331.0 us, is not of the same kind"]),
        ("time", false, 2, &["time from the beginning", "multipathd"]),
        ("shift", false, 6, &["a.json → b.json", "p99.99", "max"]),
        ("shift", true, 12, &["a.json → b.json, CPU 1"]),
    ] {
        let mut options: Vec<&dyn AsRef<OsStr>> = vec![&a, &b, &"-o", &out, &"--kind", &kind];
        if per_cpu {
            options.push(&"--per-cpu");
        }
        let run = plot(&options);
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:#?}");
        let drawing = std::fs::read_to_string(&out).expect("a drawing");
        assert!(drawing.starts_with("<svg ") && drawing.ends_with("</svg>\n"));
        assert_eq!(count(&drawing, "<g class=\"series s"), lines, "{kind}: lines that can be focused");
        for words in words.iter().chain(&[" us<", "latency", "prefers-color-scheme:dark", "tabindex=\"0\""]) {
            assert!(drawing.contains(words), "{kind}: {words}");
        }
        for outside in ["https:", "src=", "url(", "@import", "<script"] {
            assert!(!drawing.contains(outside), "{kind}: {outside}");
        }
    }
}

#[test]
fn a_tail_that_fits_is_dashed() {
    let directory = tempfile::tempdir().expect("a directory");
    let quiet = file(directory.path(), "quiet.json", &document(23, 800.0, None));
    let out = directory.path().join("out.svg");
    assert_eq!(plot(&[&quiet, &"-o", &out, &"--kind", &"ccdf"]).code, Some(0));
    let drawing = std::fs::read_to_string(&out).expect("a drawing");
    assert_eq!(count(&drawing, "class=\"stroke fitted\""), 1);
    assert!(drawing.contains("Dashed: the fitted tail"));
}

#[test]
fn system_cpus_and_isolated_ones_are_plotted_apart() {
    let directory = tempfile::tempdir().expect("a directory");
    let one = file(directory.path(), "one.json", &document(26, 800.0, Some(331_000)));
    let out = directory.path().join("out.svg");
    for kind in ["histogram", "ccdf", "time", "shift"] {
        let run = plot(&[&one, &"-o", &out, &"--kind", &kind, &"--cpus", &"0", &"--cpus", &"1"]);
        assert_eq!(run.code, Some(0), "{kind}: {run:#?}");
        let drawing = std::fs::read_to_string(&out).expect("a drawing");
        assert!(drawing.contains("one.json, CPUs 0") && drawing.contains("one.json, CPUs 1"), "{kind}");
    }
    let run = plot(&[&one, &"-o", &out, &"--cpus", &"0"]);
    let drawing = std::fs::read_to_string(&out).expect("a drawing");
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(!drawing.contains("331.0 us") && !drawing.contains("CPUs 1"), "that is CPU 1");
}

#[test]
fn what_cannot_be_plotted_is_reported() {
    let directory = tempfile::tempdir().expect("a directory");
    let one = file(directory.path(), "one.json", &document(24, 800.0, None));
    let mut timeless = document(24, 800.0, None);
    for at in 0..2 {
        timeless["cpus"][at]["maxima"] = Value::Null;
    }
    let timeless = file(directory.path(), "timeless.json", &timeless);
    let (svg, gif) = (directory.path().join("x.svg"), directory.path().join("x.gif"));
    for (options, words) in [
        (&[&one as &dyn AsRef<OsStr>, &"-o", &gif][..], ".svg or .png"),
        (&[&one, &"-o", &svg, &"--kind", &"shift"], "two measurements"),
        (&[&timeless, &"-o", &svg, &"--kind", &"time"], "times of its samples"),
        (&[&one, &"-o", &"-"], "standard output"),
    ] {
        let run = plot(options);
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains(words), "{words}: {run:#?}");
    }
    assert!(!svg.exists() && !gif.exists());
}

#[test]
fn pixels_are_made_where_the_feature_is_there_and_else_it_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let one = file(directory.path(), "one.json", &document(25, 800.0, None));
    let out = directory.path().join("out.png");
    let run = plot(&[&one, &"-o", &out]);
    if cfg!(feature = "png") {
        if run.stderr.contains("no fonts") {
            whylate_testing::skip(Need::Machine, &run.stderr);
            return;
        }
        assert_eq!(run.code, Some(0), "{run:#?}");
        let bytes = std::fs::read(&out).expect("a picture");
        assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.len() > 10_000, "{}", bytes.len());
    } else {
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains("feature `png`") && !out.exists(), "{run:#?}");
    }
}

/// In a real browser, a real measurement: no complaint, the plots are there, the numbers are those of the JSON, and a
/// link to a spike unfolds it.
#[test]
fn the_page_of_a_measurement_is_whole() {
    let _one = one_at_a_time();
    let directory = tempfile::tempdir().expect("a directory");
    let page = directory.path().join("m.html");
    let run = whylate(["measure", "-d", "2s", "--json", "-o", &page.to_string_lossy()]);
    assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let text = std::fs::read_to_string(&page).expect("the page");
    let cpus = document["cpus"].as_array().expect("CPUs");
    for cpu in cpus {
        let max = whylate_base::Ns(cpu["latency_ns"]["max"].as_i64().expect("a maximum"));
        assert!(text.contains(&format!("<b>{max}</b>")), "{max}");
    }
    let linked = (0..)
        .map(|at| format!("#spike-{at}"))
        .take(10)
        .find(|link| text.contains(&format!("href=\"{link}\"")));
    let linked = linked.expect("the latest of all is the largest of its second");
    let last = text.rfind("<details id=\"spike-").map(|at| &text[at + "<details id=\"".len()..]);
    let folded = last.and_then(|rest| rest.split('"').next()).map(|id| format!("#{id}"));
    let target = folded.clone().unwrap_or(linked);
    let Some(loaded) = browser::load(&page, &target) else { return };
    assert_eq!(loaded.console, Vec::<String>::new());
    assert!(loaded.dom.contains("interactive"), "its script has run");
    for about in ["Histograms of latency", "share of samples at or above", "largest latency of each"] {
        assert!(loaded.dom.contains(about), "no plot: {about}");
    }
    if let Some(id) = folded.as_deref().and_then(|target| target.strip_prefix('#')) {
        assert!(loaded.dom.contains(&format!("<details id=\"{id}\" open")), "{id} is unfolded");
    }
}

#[test]
fn files_of_the_same_name_get_different_labels() {
    let directory = tempfile::tempdir().expect("a directory");
    let make = |name: &str, seed| {
        let own = directory.path().join(name);
        std::fs::create_dir(&own).expect("a directory");
        file(&own, "x.json", &document(seed, 800.0, None))
    };
    let (host, guest) = (make("host", 26), make("guest", 27));
    let out = directory.path().join("out.svg");
    assert_eq!(plot(&[&host as &dyn AsRef<OsStr>, &guest, &"-o", &out as &dyn AsRef<OsStr>]).code, Some(0));
    let drawing = std::fs::read_to_string::<&Path>(&out).expect("a drawing");
    assert!(drawing.contains("host/x.json") && drawing.contains("guest/x.json"));
}
