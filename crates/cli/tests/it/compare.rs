//! `whylate compare`: better or worse, and by more than chance; gates, claims, exit codes.

use crate::support::answer::{list, number};
use crate::support::browser;
use crate::support::measured::{document, file};
use crate::support::run::{Run, whylate};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;

fn compare(options: &[&dyn AsRef<OsStr>]) -> Run {
    whylate([OsStr::new("compare")].into_iter().chain(options.iter().map(|option| option.as_ref())))
}

fn answer(run: &Run) -> Value {
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"));
    assert_eq!(answer["schema"], "whylate.compare/1");
    answer
}

/// Story B: multipathd, 331 us late once, is gone after it was stopped.
#[test]
fn the_rogue_is_gone_and_the_change_is_reported() {
    let directory = tempfile::tempdir().expect("a directory");
    let before = file(directory.path(), "before.json", &document(1, 800.0, Some(331_000)));
    let after = file(directory.path(), "after.json", &document(2, 800.0, None));
    let run = compare(&[&before, &after]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    for words in ["multipathd", "is gone", "331.0 us", "service multipathd", "active -> inactive"] {
        assert!(run.stdout.contains(words), "{words}: {}", run.stdout);
    }
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 100), "{}", run.stdout);
    let answer = answer(&compare(&[&before, &after, &"--json"]));
    let pair = &answer["pairs"][0];
    assert_eq!((&pair["run"], &pair["all"]["max_before_ns"]), (&"after.json".into(), &331_000.into()));
    let cause = &pair["causes"][0];
    assert_eq!((&cause["cause"], &cause["after"]), (&"higher-priority-task".into(), &Value::Null));
    assert_eq!((number(&cause["before"]["worst_ns"]), &cause["sure"]), (331_000, &true.into()));
}

#[test]
fn worse_is_1_and_better_and_the_same_are_0() {
    let directory = tempfile::tempdir().expect("a directory");
    let quiet = file(directory.path(), "quiet.json", &document(3, 800.0, None));
    let other = file(directory.path(), "other.json", &document(4, 800.0, None));
    let loud = file(directory.path(), "loud.json", &document(5, 4_000.0, None));
    for (options, code, verdict) in [
        (&[&quiet as &dyn AsRef<OsStr>, &other][..], 0, "same"),
        (&[&quiet, &loud], 1, "worse"),
        (&[&loud, &quiet], 0, "better"),
        (&[&loud, &"--baseline", &quiet], 1, "worse"),
        (&[&quiet, &loud, &"--fail-on", &"never"], 0, "worse"),
    ] {
        let options: Vec<&dyn AsRef<OsStr>> =
            options.iter().copied().chain([&"--json" as &dyn AsRef<OsStr>]).collect();
        let run = compare(&options);
        assert_eq!((run.code, &answer(&run)["pairs"][0]["verdict"]), (Some(code), &verdict.into()));
    }
}

#[test]
fn gates_are_met_missed_or_unknown() {
    let directory = tempfile::tempdir().expect("a directory");
    let one = file(directory.path(), "one.json", &document(6, 800.0, Some(331_000)));
    for (gate, code, answers) in [
        ("p99<50us,max<=331us", 0, &["met", "met"][..]),
        ("p99<50us,max<331us", 1, &["met", "missed"]),
        // 20,000 samples of a thread.
        ("p99.999<50us", 3, &["cannot-tell"]),
        ("p99.999<50us,max<100us", 1, &["cannot-tell", "missed"]),
    ] {
        let run = compare(&[&one, &"--gate", &gate, &"--json"]);
        let answer = answer(&run);
        let found: Vec<&str> =
            list(&answer["gates"]).iter().filter_map(|gate| gate["answer"].as_str()).collect();
        assert_eq!((run.code, found.as_slice()), (Some(code), answers), "{gate}: {run:#?}");
        let text = compare(&[&one, &"--gate", &gate]);
        assert_eq!(text.code, Some(code), "{text:#?}");
    }
}

/// CPU 1 has the spike: the gate of CPU 0 is met all the same, and each CPU is compared with its like.
#[test]
fn cpus_are_judged_apart() {
    let directory = tempfile::tempdir().expect("a directory");
    let one = file(directory.path(), "one.json", &document(11, 800.0, Some(331_000)));
    let two = file(directory.path(), "two.json", &document(12, 800.0, None));
    let run = compare(&[&one, &"--gate", &"max<100us@0,max<=331us@1,max<100us@0-1", &"--json"]);
    let gates = &answer(&run)["gates"];
    let found: Vec<_> =
        list(gates).iter().map(|gate| (gate["gate"].clone(), gate["answer"].clone())).collect();
    let expected = [("on CPUs 0", "met"), ("on CPUs 1", "met"), ("on CPUs 0-1", "missed")];
    assert_eq!((run.code, found.len()), (Some(1), expected.len()), "{run:#?}");
    for ((gate, found), (cpus, expected)) in found.iter().zip(expected) {
        assert!(gate.as_str().is_some_and(|gate| gate.ends_with(cpus)) && found == expected, "{found:#?}");
    }
    let parts = answer(&compare(&[&one, &two, &"--cpus", &"0", &"--cpus", &"1", &"--json"]));
    let max: Vec<_> = list(&parts["pairs"])
        .iter()
        .map(|pair| {
            (pair["run"].as_str().unwrap_or_default().to_owned(), number(&pair["all"]["max_before_ns"]))
        })
        .collect();
    assert!(
        matches!(&max[..], [(a, quiet), (b, 331_000)]
        if a == "two.json, CPUs 0" && b == "two.json, CPUs 1" && *quiet < 100_000),
        "{max:?}"
    );
    let among = answer(&compare(&[&one, &"--cpus", &"0", &"--cpus", &"1", &"--json"]));
    assert_eq!(list(&among["pairs"]).len(), 1);
    assert_eq!(among["pairs"][0]["all"]["max_after_ns"], 331_000);
    for (options, words) in [
        (&[&one as &dyn AsRef<OsStr>, &two, &"--cpus", &"5"][..], "it was measured on CPUs 0-1"),
        (&[&one, &"--cpus", &"0"], "--cpus twice"),
        (&[&one, &two, &"--cpus", &""], "name one CPU"),
    ] {
        let run = compare(options);
        assert!(run.code == Some(2) && run.stderr.contains(words), "{run:#?}");
    }
}

#[test]
fn a_claim_is_measured_fitted_or_lacks_something() {
    let directory = tempfile::tempdir().expect("a directory");
    let quiet = file(directory.path(), "quiet.json", &document(7, 800.0, None));
    let rogue = file(directory.path(), "rogue.json", &document(8, 800.0, Some(331_000)));
    let claim = |file: &Path, claim: &str| {
        answer(&compare(&[&file, &"--claim", &claim, &"--json"]))["claims"][0].clone()
    };
    let measured = claim(&quiet, "1ms@1e-3");
    assert_eq!((&measured["carried"], &measured["more_samples"]), (&"measured".into(), &Value::Null));
    // No fit covers an outlier; of the rest of the samples alone it takes long.
    let refused = claim(&rogue, "400us@1e-9");
    assert_eq!(refused["carried"], "no");
    assert!(refused["refused"].as_str().is_some_and(|why| why.contains("331.0 us")), "{refused}");
    let hours = refused["more_seconds"].as_f64().expect("a time") / 3_600.0;
    // Three in a billion at 2,000 a second.
    assert!((415.0..417.0).contains(&hours), "{hours}");
    // A fit needs an assumption, which the user states. Exit codes: 0 carried, 1 contradicted, 3 cannot tell.
    let fitted = |options: &[&dyn AsRef<OsStr>]| {
        let asked: Vec<&dyn AsRef<OsStr>> = [&quiet as &dyn AsRef<OsStr>, &"--claim", &"1ms@1e-9"]
            .into_iter()
            .chain(options.iter().copied())
            .collect();
        compare(&asked)
    };
    let (alone, assumed) = (fitted(&[]), fitted(&[&"--assume-no-rarer-cause"]));
    assert_eq!((alone.code, assumed.code), (Some(3), Some(0)), "{alone:#?} {assumed:#?}");
    assert!(alone.stdout.contains("only if no rarer cause exists"), "{}", alone.stdout);
    for run in [&alone, &assumed] {
        assert!(run.stdout.contains("no fit can see a cause that never struck"), "{}", run.stdout);
    }
    let answer = answer(&fitted(&[&"--json"]))["claims"][0].clone();
    assert_eq!((&answer["carried"], &answer["answer"]), (&"no".into(), &"needs-assumption".into()));
    assert_eq!(compare(&[&quiet, &"--claim", &"1ms@1e-3"]).code, Some(0));
    assert_eq!(compare(&[&rogue, &"--claim", &"400us@1e-9"]).code, Some(3));
    // The baseline of two runs need not carry it.
    assert_eq!(compare(&[&rogue, &quiet, &"--claim", &"100us@1e-3", &"--fail-on", &"never"]).code, Some(0));
    let refuted = compare(&[&quiet, &"--claim", &"6us@1e-9"]);
    assert_eq!(refuted.code, Some(1), "{refuted:#?}");
    assert!(refuted.stdout.contains("no, it was later more often"), "{}", refuted.stdout);
    assert!(!refuted.stdout.contains("more, "), "{}", refuted.stdout);
}

#[test]
fn other_tools_files_are_compared_with_their_like() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = |shift: u32| {
        let class = |us: u32| {
            format!("{us:06} {:06}\n", if (20..60).contains(&(us - shift.min(us))) { 50 } else { 0 })
        };
        format!("# Histogram\n{}# Total: 000002000\n", (0..200).map(class).collect::<String>())
    };
    let path = |name: &str, shift| {
        let path = directory.path().join(name);
        std::fs::write(&path, text(shift)).expect("a file");
        path
    };
    let (quick, slow) = (path("quick.txt", 0), path("slow.txt", 30));
    let run = compare(&[&quick, &slow]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    for words in ["slow.txt is worse than quick.txt", "classes of 1 us", "settings are not known of both"] {
        assert!(run.stdout.contains(words), "{words}: {}", run.stdout);
    }
}

#[test]
fn what_cannot_be_read_or_compared_is_reported() {
    let directory = tempfile::tempdir().expect("a directory");
    let good = file(directory.path(), "good.json", &document(9, 800.0, None));
    let text = std::fs::read(&good).expect("it");
    let broken = directory.path().join("broken.json");
    std::fs::write(&broken, &text[..text.len() / 2]).expect("a file");
    let other = directory.path().join("other.txt");
    std::fs::write(&other, "nothing of this sort").expect("a file");
    let mut empty = document(9, 800.0, None);
    empty["cpus"] = serde_json::json!([]);
    let empty = file(directory.path(), "empty.json", &empty);
    let absent = directory.path().join("absent");
    let (root, nothing) = (Path::new("/"), "one measurement alone");
    for (options, words) in [
        (&[&good as &dyn AsRef<OsStr>][..], nothing),
        // What cannot be read gets no advice how to compare it.
        (&[&other], "not a measurement of a supported tool"),
        (&[&good, &broken], "broken"),
        (&[&good, &other], "not a measurement of a supported tool"),
        (&[&good, &empty], "nothing was measured"),
        (&[&good, &absent], "absent"),
        (&[&good, &root], "directory"),
        (&[&good, &"--gate", &"p99"], "has no <"),
        (&[&good, &"--claim", &"100us"], "100us@1e-9"),
        (&[&good, &good, &"-o", &good], "to be read"),
        (&[&good, &good, &"-o", &"/tmp/x.pdf"], ".txt, .json, .html, .md, .svg"),
    ] {
        let run = compare(options);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:#?}");
        assert!(run.stderr.contains(words), "{words}: {run:#?}");
    }
}

/// A histogram has no causes, a trace is no distribution: each error names the verb that reads the file.
#[test]
fn a_measurement_and_a_trace_are_told_apart() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    };
    let histogram =
        path("run.txt", "# Histogram\n000010 000005\n# Total: 000000005\n# Max Latencies: 00010\n");
    let ours = file(directory.path(), "ours.json", &document(14, 800.0, None));
    for (measured, tool) in [(&histogram, "cyclictest, timer"), (&ours, "whylate measure, timer")] {
        let run = whylate([OsStr::new("explain"), measured.as_os_str()]);
        assert_eq!(run.code, Some(2), "{run:#?}");
        for words in [tool, "not a trace", "whylate compare", "whylate plot"] {
            assert!(run.stderr.contains(words), "{words}: {run:#?}");
        }
    }
    let trace = path(
        "trace.txt",
        "# tracer: nop\n  bash-7 [000] d..2. 1.000001: sched_switch: prev_comm=bash prev_pid=7 prev_prio=120 prev_state=S ==> \
         next_comm=swapper/0 next_pid=0 next_prio=120\n",
    );
    let run = compare(&[&trace, &histogram]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("it is a trace") && run.stderr.contains("whylate explain"), "{run:#?}");
}

/// Tables of perf and rtla, and reports of hwlatdetect, have maxima: gates on them have answers, others have none.
#[test]
fn maxima_of_reports_without_samples_serve_gates() {
    let directory = tempfile::tempdir().expect("a directory");
    let row = |tid: u32, max: &str| {
        format!(
            "  app:{tid}  |    30.125 ms |       12 | avg:   0.012 ms | max:   {max} ms | max at:     80.000502 s\n"
        )
    };
    let texts = [
        ("perf.txt", row(71, "0.402") + &row(72, "0.019") + "  TOTAL:  |    60.250 ms |       24 |\n"),
        ("cut.txt", row(71, "0.019") + "...\n"),
        // The table was cut below its last row.
        ("head.txt", row(71, "0.019")),
        ("hwlat.txt", "hwlatdetect:  test duration 60 seconds\nMax Latency: 19us\n".to_owned()),
        (
            "top.txt",
            "  0 00:00:12   |          IRQ Timer Latency (us)        |         Thread Timer Latency (us)\n\
             CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max\n  \
             1 #12322     |        0         0         1        15 |       10         3         9        31\n"
                .to_owned(),
        ),
    ];
    let answers = [
        [("max<100us", 1), ("max<1ms", 0), ("mean<1ms", 0), ("min<1ms", 3), ("p99<1ms", 3)],
        [("max<100us", 3), ("max<10us", 1), ("mean<1ms", 3), ("min<1ms", 3), ("p99<1ms", 3)],
        [("max<100us", 3), ("max<10us", 1), ("mean<1ms", 3), ("min<1ms", 3), ("p99<1ms", 3)],
        [("max<100us", 0), ("max<19us", 1), ("mean<1ms", 3), ("min<1ms", 3), ("p99<1ms", 3)],
        [("max<100us", 0), ("max<31us", 1), ("mean<1ms", 0), ("min<1ms", 0), ("p99<1ms", 3)],
    ];
    for ((name, text), answers) in texts.iter().zip(answers) {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("a file");
        for (gate, code) in answers {
            let run = compare(&[&path, &"--gate", &gate]);
            assert_eq!(run.code, Some(code), "{name}, {gate}: {run:#?}");
        }
        for format in ["json", "html", "markdown"] {
            let run = compare(&[&path, &path, &"--format", &format]);
            assert!(matches!(run.code, Some(0 | 3)), "{name}, {format}: {run:#?}");
        }
    }
    let run = whylate([OsStr::new("explain"), directory.path().join("perf.txt").as_os_str()]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    for words in ["the largest delay is 0.402 ms, of app:71, until 80.000502 s", "no cause", "perf.data"] {
        assert!(run.stderr.contains(words), "{words}: {run:#?}");
    }
}

#[test]
fn a_files_ending_selects_its_format() {
    let directory = tempfile::tempdir().expect("a directory");
    let before = file(directory.path(), "before.json", &document(12, 800.0, Some(331_000)));
    let after = file(directory.path(), "after.json", &document(13, 800.0, None));
    let written = |name: &str| {
        let path = directory.path().join(name);
        let run = compare(&[&before, &after, &"--gate", &"max<1ms", &"-o", &path]);
        assert_eq!(run.code, Some(0), "{run:#?}");
        (run.stdout, std::fs::read_to_string(path).expect("a report"))
    };
    let (stdout, text) = written("cmp.TXT");
    assert_eq!(stdout, text);
    let document: Value = serde_json::from_str(&written("cmp.json").1).expect("JSON");
    assert_eq!(document["schema"], "whylate.compare/1");
    assert!(written("cmp.html").1.starts_with("<!DOCTYPE html>"));
    assert!(written("cmp.svg").1.starts_with("<svg "));
    let markdown = written("cmp.md").1;
    assert!(stdout.starts_with("met    after.json: max < 1.00 ms"), "gates come first: {stdout}");
    let verdict = stdout.lines().find(|line| line.starts_with("after.json")).expect("a verdict");
    assert!(markdown.starts_with(&format!("# whylate compare: {verdict}")), "{markdown}");
    let rows: Vec<&str> = markdown.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.iter().any(|row| row.contains("multipathd") && row.contains("**gone**")), "{markdown}");
    assert!(
        rows.iter().any(|row| row.contains("`service multipathd` | `active` | `inactive`")),
        "{markdown}"
    );
}

/// In a real browser: no complaint, every plot is there, and the numbers are those of the JSON.
#[test]
fn the_page_shows_what_the_document_has() {
    let directory = tempfile::tempdir().expect("a directory");
    let before = file(directory.path(), "before.json", &document(10, 800.0, Some(331_000)));
    let after = file(directory.path(), "after.json", &document(11, 1_600.0, None));
    let page = directory.path().join("page.html");
    let run = compare(&[&before, &after, &"--json", &"-o", &page, &"--gate", &"max<1ms"]);
    let answer = answer(&run);
    let Some(loaded) = browser::load(&page, "") else { return };
    assert_eq!(loaded.console, Vec::<String>::new());
    for about in [
        "Shift of latency quantiles",
        "share of samples at or above",
        "Histograms of latency",
        "largest latency of each",
    ] {
        assert!(loaded.dom.contains(about), "no plot: {about}");
    }
    let mut numbers: Vec<i64> = Vec::new();
    for shift in list(&answer["pairs"][0]["all"]["shifts"]) {
        numbers.extend([number(&shift["before_ns"]), number(&shift["after_ns"])]);
    }
    numbers.extend(list(&answer["runs"]).iter().map(|run| number(&run["latency_ns"]["max"])));
    assert!(numbers.len() >= 10, "{answer:#}");
    for ns in numbers {
        let words = format!(">{}<", whylate_base::Ns(ns));
        assert!(loaded.dom.contains(&words) || loaded.dom.contains(&words.replace('>', ">max ")), "{words}");
    }
}

#[test]
fn pairs_are_compared_each_by_itself() {
    let directory = tempfile::tempdir().expect("a directory");
    let quiet = file(directory.path(), "quiet.json", &document(3, 800.0, None));
    let other = file(directory.path(), "other.json", &document(4, 800.0, None));
    let loud = file(directory.path(), "loud.json", &document(5, 4_000.0, None));
    let colon = file(directory.path(), "at 12:30.json", &document(6, 800.0, None));
    let pair = |before: &Path, after: &Path| {
        let mut pair = before.as_os_str().to_owned();
        pair.push(":");
        pair.push(after);
        pair
    };
    let same = pair(&quiet, &other);
    let worse = pair(&quiet, &loud);
    let better = pair(&loud, &colon);
    for (options, code, verdicts) in [
        (&[&same as &dyn AsRef<OsStr>, &worse][..], 1, &["same", "worse"][..]),
        (&[&same, &worse, &"--fail-on", &"never"], 0, &["same", "worse"]),
        (&[&better, &same], 0, &["better", "same"]),
        // The one before is exempt from gates: here the slow one.
        (&[&better, &"--gate", &"p50<7us"], 0, &["better"]),
        (&[&better, &worse, &"--gate", &"p50<7us", &"--fail-on", &"never"], 1, &["better", "worse"]),
        // A file that is there by the name is no pair.
        (&[&colon, &quiet], 0, &["same"]),
    ] {
        let options: Vec<&dyn AsRef<OsStr>> =
            options.iter().copied().chain([&"--json" as &dyn AsRef<OsStr>]).collect();
        let run = compare(&options);
        let answer = answer(&run);
        let shown: Vec<&str> =
            list(&answer["pairs"]).iter().filter_map(|pair| pair["verdict"].as_str()).collect();
        assert_eq!((run.code, &shown[..]), (Some(code), verdicts), "{run:#?}");
    }
    // One pair is what two files are, in every format.
    for format in ["text", "json", "html", "markdown", "svg"] {
        let of = |run: Run| (run.code, run.stdout);
        let as_files = of(compare(&[&quiet, &loud, &"--format", &format]));
        assert_eq!(of(compare(&[&worse, &"--format", &format])), as_files, "{format}");
    }
    let missing = pair(&quiet, Path::new("missing.json"));
    for (options, words) in [
        (&[&missing as &dyn AsRef<OsStr>][..], "there is no file `missing.json`"),
        (&[&pair(&quiet, Path::new(""))], "the half after the colon is empty"),
        (&[&"C:\\a.json"], "there is no file `C` and no file `\\a.json`"),
        (&[&same, &quiet], "give either files or pairs"),
        (&[&same, &"--baseline", &quiet], "--baseline"),
    ] {
        let run = compare(options);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:#?}");
        assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
    }
}

/// Histograms of two functions, of which the second one took longer as often as `late` shows.
fn functions(late: u32) -> String {
    let table = |function: &str, rows: &str| {
        format!(
            "Tracing 1 functions for \"{function}\"... Hit Ctrl-C to end.\n     usecs               : count     distribution\n{rows}\n"
        )
    };
    let full = "*".repeat(40);
    let usual = format!("         8 -> 15         : 9000     |{full}|\n");
    let slow =
        format!("{usual}      4096 -> 8191       : {late:<8} |                                        |\n");
    table("take_it", &usual) + &table("give_it", &slow)
}

#[test]
fn each_function_is_compared_with_its_like() {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    };
    let before = write("before.txt", &functions(2));
    let after = write("after.txt", &functions(900));
    let run = compare(&[&before, &after, &"--json"]);
    let answer = answer(&run);
    let verdicts: Vec<(&Value, &Value)> =
        list(&answer["pairs"]).iter().map(|pair| (&pair["run"], &pair["verdict"])).collect();
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert_eq!(verdicts.len(), 2);
    assert_eq!(verdicts[1], (&"after.txt: give_it".into(), &"worse".into()));
    assert_ne!(verdicts[0].1, &Value::from("worse"));
    let text = compare(&[&before, &after]);
    assert_eq!(text.stdout.matches("twice as wide as the one").count(), 1, "{}", text.stdout);
    // A gate checks each of them.
    let gated = compare(&[&after, &"--gate", &"max<1ms"]);
    assert_eq!(gated.code, Some(1), "{gated:#?}");
    // With another file there is nothing alike.
    let other = write("other.txt", &functions(3).replace("_it", "_them"));
    let refused = compare(&[&before, &other]);
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    assert!(refused.stderr.contains("measured nothing alike"), "{}", refused.stderr);
}
