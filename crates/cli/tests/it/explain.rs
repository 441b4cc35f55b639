//! `whylate explain` on recordings whose fault is known, because it was provoked on purpose
//! (`fixtures/README.md`), or explained by experts before us.

use crate::support::answer::{answer, list, number, verdict};
use crate::support::run::{fixture, whylate};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use whylate_testing::Need;

fn explain(file: &Path, options: &[&str]) -> (Option<i32>, Value) {
    let arguments = ["explain", "--json"].map(OsStr::new).into_iter().chain([file.as_os_str()]);
    let run = whylate(arguments.chain(options.iter().map(OsStr::new)));
    assert!(matches!(run.code, Some(0 | 1)), "{}: {run:#?}", file.display());
    (run.code, answer(&run.stdout))
}

/// A recording, and what is known about its thread `victim`.
struct Known {
    file: &'static str,
    /// Jobs with a longer response than this are the late ones.
    late_us: i64,
    /// How many of them there are, by the log of the program that provoked them.
    late: usize,
    cause: &'static str,
    culprit: &'static str,
    /// A finding that must be there: its code, and a name in its title or reason.
    finding: Option<(&'static str, &'static str)>,
    code: i32,
}

const KNOWN: &[Known] = &[
    Known {
        file: "6.1-throttle.dat",
        late_us: 1000,
        late: 2,
        cause: "rt-throttled",
        culprit: "hog",
        finding: Some(("rt-throttled", "hog")),
        code: 1,
    },
    Known {
        file: "6.1-higher.dat",
        late_us: 1000,
        late: 8,
        cause: "higher-priority-task",
        culprit: "rogue-high",
        finding: Some(("higher-priority-task", "rogue-high")),
        code: 0,
    },
    Known {
        file: "6.1-higher-v6.dat",
        late_us: 1000,
        late: 1,
        cause: "higher-priority-task",
        culprit: "rogue-high",
        finding: Some(("higher-priority-task", "rogue-high")),
        code: 0,
    },
    Known {
        file: "7.2-rt-higher.dat",
        late_us: 1000,
        late: 8,
        cause: "higher-priority-task",
        culprit: "rogue-high",
        finding: Some(("higher-priority-task", "rogue-high")),
        code: 0,
    },
    Known {
        file: "6.1-equal.dat",
        late_us: 1000,
        late: 8,
        cause: "equal-priority-task",
        culprit: "peer",
        finding: Some(("equal-priority-task", "peer")),
        code: 0,
    },
    Known {
        file: "6.1-deadline.dat",
        late_us: 1000,
        late: 8,
        cause: "deadline-task",
        culprit: "edf-0",
        finding: Some(("deadline-task", "edf-0")),
        code: 0,
    },
    Known {
        file: "6.1-inversion.dat",
        late_us: 1000,
        late: 8,
        cause: "lock-inversion",
        culprit: "middle-hog",
        finding: Some(("lock-inversion", "low-owner")),
        code: 1,
    },
    Known {
        file: "6.1-lock-chain.dat",
        late_us: 1000,
        late: 8,
        cause: "lock-inversion",
        culprit: "middle-hog",
        finding: Some(("lock-inversion", "low-owner")),
        code: 1,
    },
    Known {
        file: "6.1-pi.dat",
        late_us: 1000,
        late: 8,
        cause: "lock-wait",
        culprit: "low-owner",
        finding: Some(("lock-wait", "low-owner")),
        code: 0,
    },
    Known {
        file: "6.1-page-fault.dat",
        late_us: 1000,
        late: 7,
        cause: "page-fault",
        culprit: "",
        finding: None,
        code: 0,
    },
    Known {
        file: "6.1-own-work.dat",
        late_us: 1000,
        late: 8,
        cause: "own-work",
        culprit: "",
        finding: None,
        code: 0,
    },
    Known {
        file: "6.1-softirq.dat",
        late_us: 1000,
        late: 41,
        cause: "softirq",
        culprit: "NET_RX",
        finding: Some(("softirq", "NET_RX")),
        code: 0,
    },
];

#[test]
fn provoked_faults_are_named() {
    for known in KNOWN {
        let (code, answer) = explain(&fixture(known.file), &["--task", "victim", "--worst", "1000"]);
        let late: Vec<&Value> = list(&answer["activations"])
            .iter()
            .filter(|activation| number(&activation["response_ns"]) > known.late_us * 1000)
            .collect();
        assert_eq!(late.len(), known.late, "{}: late activations", known.file);
        for activation in late {
            let due = &activation["due_ns"];
            assert_eq!(verdict(activation), (known.cause, known.culprit), "{}: due {due}", known.file);
        }
        if let Some((code, name)) = known.finding {
            assert!(finding(&answer, code, name).is_some(), "{}: {:#}", known.file, answer["findings"]);
        }
        assert_eq!(code, Some(known.code), "{}: {:#}", known.file, answer["findings"]);
        assert_eq!(list(&answer["trace"]["damage"]), [] as [Value; 0], "{}", known.file);
    }
}

/// The finding with this code whose title or reason has this name.
fn finding<'a>(answer: &'a Value, code: &str, name: &str) -> Option<&'a Value> {
    let has = |finding: &Value, key: &str| finding[key].as_str().is_some_and(|text| text.contains(name));
    list(&answer["findings"])
        .iter()
        .find(|&finding| finding["code"] == code && (has(finding, "title") || has(finding, "why")))
}

#[test]
fn throttling_is_reported_with_its_period() {
    let (_, answer) = explain(&fixture("6.1-throttle.dat"), &["--task", "victim"]);
    let finding = finding(&answer, "rt-throttled", "hog").expect("a finding");
    let title = finding["title"].as_str().unwrap_or_default();
    assert!(title.contains("2 times") && title.contains("CPU 0"), "{title}");
    let times: Vec<i64> = list(&finding["evidence"]).iter().map(|seen| number(&seen["at_ns"])).collect();
    let [first, second] = times[..] else { panic!("two stretches: {finding:#}") };
    assert!((second - first - 1_000_000_000).abs() < 10_000_000, "one second apart: {first} {second}");
    let worst = &answer["activations"][0];
    assert!((44_000_000..46_000_000).contains(&number(&worst["response_ns"])), "{}", worst["response_ns"]);
}

#[test]
fn the_fair_server_is_distinguished_from_throttling() {
    let (code, answer) = explain(&fixture("7.2-fair-server.dat"), &["--task", "victim", "--worst", "1000"]);
    let late: Vec<_> = list(&answer["activations"])
        .iter()
        .filter(|activation| number(&activation["response_ns"]) > 20_000_000)
        .map(|activation| verdict(activation).0)
        .collect();
    assert_eq!(late, ["fair-server"; 3]);
    assert!(finding(&answer, "fair-server", "hog").is_some(), "{:#}", answer["findings"]);
    assert!(finding(&answer, "rt-throttled", "").is_none(), "{:#}", answer["findings"]);
    assert_eq!(code, Some(1));
}

#[test]
fn a_thread_that_pinned_itself_too_early_is_reported() {
    let (code, answer) = explain(&fixture("6.12-rt-pin-first.dat"), &["--task", "victim"]);
    assert_eq!(verdict(&answer["activations"][0]), ("pinned-before-priority", "hog"));
    let finding = finding(&answer, "pinned-before-priority", "victim").expect("a finding");
    assert_eq!(finding["severity"], "error");
    assert_eq!(code, Some(1));
}

#[test]
fn drift_is_distinguished_from_lateness() {
    let (_, answer) = explain(&fixture("6.1-relative-sleep.dat"), &["--task", "victim", "--worst", "1000"]);
    assert!(finding(&answer, "relative-sleep", "victim").is_some(), "{:#}", answer["findings"]);
    names_no_culprit(&answer, &["relative-sleep"]);
}

#[test]
fn where_nothing_is_wrong_no_culprit_is_named() {
    let (code, answer) = explain(&fixture("6.1-nothing.dat"), &[]);
    names_no_culprit(&answer, &[]);
    assert_eq!(code, Some(0));
    let run = whylate([OsStr::new("explain"), fixture("6.1-nothing.dat").as_os_str()]);
    assert_eq!(run.stdout.matches("No finding: ").count(), 1, "{run:#?}");
}

/// No finding but those of `allowed` codes is a warning or worse.
fn names_no_culprit(answer: &Value, allowed: &[&str]) {
    for finding in list(&answer["findings"]) {
        let code = finding["code"].as_str().unwrap_or_default();
        assert!(finding["severity"] == "info" || allowed.contains(&code), "{finding:#}");
    }
}

/// Priority inheritance bounds the wait: a thread that the boosted owner preempts is no culprit.
#[test]
fn with_priority_inheritance_the_middle_thread_is_innocent() {
    let (_, answer) = explain(&fixture("6.1-pi.dat"), &["--task", "victim", "--worst", "1000"]);
    assert!(finding(&answer, "lock-inversion", "").is_none(), "{:#}", answer["findings"]);
    for activation in list(&answer["activations"]) {
        assert_ne!(verdict(activation).1, "middle-hog", "due {}", activation["due_ns"]);
    }
}

#[test]
fn every_ledger_of_every_recording_tiles() {
    let mut files = recordings(&fixture(""));
    files.extend(recordings(&intake_fixture("")));
    assert!(files.len() > 15, "{files:?}");
    files.extend(shared().map(|directory| recordings(&directory)).unwrap_or_default());
    for file in files {
        let run = whylate(
            ["explain", "--json", "--worst", "10000"].map(OsStr::new).into_iter().chain([file.as_os_str()]),
        );
        match run.code {
            Some(0 | 1 | 3) => drop(answer(&run.stdout)),
            // Some of the shared texts are no traces at all.
            Some(2) => assert!(run.stderr.contains(&*file.to_string_lossy()), "{run:#?}"),
            _ => panic!("{}: {run:#?}", file.display()),
        }
    }
}

fn recordings(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("a directory of recordings");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "dat" || end == "txt"))
        .collect();
    files.sort();
    files
}

fn intake_fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../intake/tests/fixtures").join(name)
}

/// The recordings that the project's developers share, where they are at hand.
fn shared() -> Option<PathBuf> {
    let directory = match std::env::var_os("WHYLATE_SHARED") {
        Some(directory) => PathBuf::from(directory),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces"),
    };
    if directory.is_dir() {
        return Some(directory);
    }
    whylate_testing::skip(Need::Recordings, format_args!("no shared recordings in {}", directory.display()));
    None
}

/// A FIFO 50 thread beside a FIFO 1 loop, on Linux 6.1 with two CPUs.
#[test]
fn the_shared_story_of_throttling() {
    let Some(directory) = shared() else { return };
    let (code, answer) = explain(&directory.join("story_a_6.1.dat"), &[]);
    assert_eq!(code, Some(1));
    let worst = list(&answer["activations"])
        .iter()
        .find(|activation| activation["comm"] == "rtload" && activation["priority"] == 50)
        .expect("the FIFO 50 thread");
    assert_eq!(verdict(worst), ("rt-throttled", "rtload"));
    assert_eq!(worst["verdict"]["by"]["priority"], 1);
    assert!((46_000_000..=48_000_000).contains(&number(&worst["response_ns"])), "{}", worst["response_ns"]);
    let finding = finding(&answer, "rt-throttled", "rtload").expect("a finding");
    let title = finding["title"].as_str().unwrap_or_default();
    assert!(title.contains("CPU 1") && !title.contains("CPU 0"), "{title}");
}

/// The excerpt of an article: CPU 4 idles for 50.04 ms with `infinite_loop_f` runnable.
#[test]
fn the_text_of_the_throttling_article() {
    let (code, answer) = explain(&intake_fixture("throttled_excerpt.txt"), &[]);
    let activation = &answer["activations"][0];
    assert_eq!(activation["comm"], "infinite_loop_f");
    assert_eq!((verdict(activation).0, number(&activation["cpu"])), ("rt-throttled", 4));
    let charged: Vec<(i64, i64)> = list(&activation["ledger"])
        .iter()
        .filter(|entry| entry["cause"] == "rt-throttled")
        .map(|entry| (number(&entry["start_ns"]), number(&entry["start_ns"]) + number(&entry["ns"])))
        .collect();
    let (start, end) = (charged.first().expect("charged").0, charged.last().expect("charged").1);
    assert!((50_030_000..=50_050_000).contains(&(end - start)), "{start} to {end}");
    assert_eq!(code, Some(1));
}

/// The excerpt of an article: multipathd ran for 331 of cyclictest's 389 us. The tracer cuts
/// names after eight characters.
#[test]
fn the_text_of_the_wakeup_article() {
    let (_, answer) = explain(&intake_fixture("wakeup_rt_excerpt.txt"), &["--task", "cyclictest"]);
    let [activation] = list(&answer["activations"]) else { panic!("one activation: {answer:#}") };
    assert_eq!(verdict(activation), ("higher-priority-task", "multipat"));
    let by = &activation["verdict"]["by"];
    assert!(number(&by["priority"]) > number(&activation["priority"]), "{activation:#}");
    assert!((386_000..=390_000).contains(&number(&activation["latency_ns"])), "{activation:#}");
    let share = activation["verdict"]["share"].as_f64().unwrap_or_default();
    let charged = share * number(&activation["response_ns"]) as f64;
    assert!((325_000.0..337_000.0).contains(&charged), "{activation:#}");
}

#[test]
fn exit_codes_follow_the_gravest_finding() {
    let code = |file: &str, options: &[&str]| {
        let file = fixture(file);
        let arguments = [OsStr::new("explain"), file.as_os_str()];
        whylate(arguments.into_iter().chain(options.iter().map(OsStr::new))).code
    };
    assert_eq!(code("6.1-throttle.dat", &[]), Some(1));
    assert_eq!(code("6.1-higher.dat", &["--task", "victim"]), Some(0));
    assert_eq!(code("6.1-higher.dat", &["--task", "victim", "--fail-on", "warning"]), Some(1));
    assert_eq!(code("6.1-nothing.dat", &["--fail-on", "warning"]), Some(0));
    assert_eq!(code("6.1-nothing.dat", &["--task", "no-such-thread"]), Some(3));
    assert_eq!(code("no-such-file.dat", &[]), Some(2));
}

#[test]
fn a_missed_deadline_is_a_finding_and_a_met_one_is_none() {
    let file = fixture("6.1-higher.dat");
    let with = |deadline: &str| explain(&file, &["--task", "victim", "--deadline", deadline]).1;
    let missed = with("1ms");
    let met = with("5ms");
    let missing = |answer: &Value| {
        list(&answer["findings"]).iter().filter(|finding| finding["severity"] == "error").count()
    };
    assert!(missing(&missed) > 0, "{:#}", missed["findings"]);
    assert_eq!(missing(&met), 0, "{:#}", met["findings"]);
}

#[test]
fn tasks_are_chosen_by_name_and_by_number() {
    let file = fixture("6.1-inversion.dat");
    let (_, all) = explain(&file, &[]);
    let of = |name: &str| {
        let tasks = list(&all["tasks"]);
        number(&tasks.iter().find(|task| task["comm"] == name).expect("a task")["tid"])
    };
    let (victim, owner) = (of("victim"), of("low-owner"));
    let (_, chosen) = explain(&file, &["--task", "victim", "-t", &owner.to_string(), "--worst", "3"]);
    let mut tids: Vec<i64> = list(&chosen["tasks"]).iter().map(|task| number(&task["tid"])).collect();
    tids.sort_unstable();
    let mut expected = vec![victim, owner];
    expected.sort_unstable();
    assert_eq!(tids, expected);
    assert_eq!(list(&chosen["activations"]).len(), 6, "three of each");
}

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

#[test]
fn every_cause_and_every_finding_has_a_page() {
    let list = whylate(["explain", "--code", "list"]);
    assert_eq!(list.code, Some(0));
    let codes: Vec<&str> = list.stdout.lines().collect();
    for code in
        ["rt-throttled", "lock-inversion", "unexplained", "deadline-missed", "unseen-switches", "os-noise"]
    {
        assert!(codes.contains(&code), "{codes:?}");
    }
    for folder in ["causes", "findings"] {
        let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ledger/docs").join(folder);
        for page in std::fs::read_dir(&pages).expect("pages") {
            let page = page.expect("a page").path();
            let code = page.file_stem().and_then(OsStr::to_str).expect("a name");
            assert!(codes.contains(&code), "{} is not in {codes:?}", page.display());
        }
    }
    for code in codes {
        let page = whylate(["explain", "--code", code]);
        assert_eq!(page.code, Some(0));
        assert!(page.stdout.contains(code) && page.stdout.len() > 200, "{code}: {}", page.stdout);
    }
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

/// Page faults by the probe that stands in for the events that arm64 lacks, against the program's own late jobs.
#[test]
fn a_recording_of_arm64_agrees_with_the_programs_own_times() {
    let label = std::fs::read_to_string(fixture("6.12-rt-arm64-page-fault.json")).expect("the program's log");
    let label: Value = serde_json::from_str(&label).expect("JSON");
    let file = fixture("6.12-rt-arm64-page-fault.dat.gz");
    let (code, document) = explain(&file, &["--task", "victim", "--deadline", "5ms"]);
    assert_eq!(code, Some(1));
    let jobs = list(&label["late_jobs"]);
    let late: Vec<&Value> = list(&document["activations"])
        .iter()
        .filter(|activation| number(&activation["response_ns"]) > number(&label["limit_ns"]))
        .collect();
    assert_eq!(late.len(), jobs.len());
    for activation in late {
        let due = number(&activation["due_ns"]);
        let job = jobs.iter().find(|job| number(&job["due"]) == due);
        let job = job.unwrap_or_else(|| panic!("the program was not late at {due}"));
        assert!(due + number(&activation["response_ns"]) >= number(&job["done"]));
        assert_eq!(activation["verdict"]["cause"], "page-fault", "{activation:#}");
        assert_eq!(activation["verdict"]["confidence"], "medium");
    }
    // The timer of the CPU itself is no device that could be moved.
    for finding in list(&document["findings"]) {
        assert_ne!(finding["code"], "irq", "{finding:#}");
    }
}

/// Three threads in a row, recorded on 6.18, with the times that the last one took itself.
#[test]
fn a_chain_is_found_and_agrees_with_the_programs_own_times() {
    let file = fixture("6.18-pipeline.dat.gz");
    let label = std::fs::read_to_string(fixture("6.18-pipeline.json")).expect("the program's own log");
    let label: Value = serde_json::from_str(&label).expect("JSON");
    let (code, document) = explain(&file, &["--chain", "timer -> sense -> plan -> net:lo -> act"]);
    assert_eq!(code, Some(0));
    let [chain] = list(&document["chains"]) else { panic!("{:#}", document["chains"]) };
    assert_eq!(chain["path"], serde_json::json!(["timer", "sense", "plan", "net:lo", "act"]));
    let period = number(&chain["period_ns"]);
    assert!((9_900_000..=10_100_000).contains(&period), "{period}");
    assert!(number(&chain["count"]) >= 25);
    for instance in list(&chain["worst"]) {
        let hops = list(&instance["hops"]);
        let mut at = number(&instance["start_ns"]);
        for hop in hops {
            assert_eq!(number(&hop["start_ns"]), at);
            let charged: i64 = list(&hop["charges"]).iter().map(|charge| number(&charge["ns"])).sum();
            assert_eq!(charged, number(&hop["ns"]), "{hop:#}");
            at += number(&hop["ns"]);
        }
        assert_eq!(at, number(&instance["start_ns"]) + number(&instance["latency_ns"]));
        // The packet was sent after the program says that it was about to send it, and before it was read.
        let [.., packet, done] = hops else { panic!("{hops:?}") };
        let sent = number(&packet["start_ns"]);
        let job = list(&label["late_jobs"])
            .iter()
            .find(|job| (number(&job["due"])..=number(&job["start"])).contains(&sent))
            .unwrap_or_else(|| panic!("no job has its packet sent at {sent}"));
        assert!(number(&done["start_ns"]) <= number(&job["start"]));
        assert!(at >= number(&job["done"]), "the chain ends before the job does");
    }
    let why = chain["worst"][0]["verdict"]["why"].as_str().expect("a reason");
    assert!(why.contains("higher-priority-task") && why.contains("rogue-high"), "{why}");
}

/// Each activation that a packet began is due between the instants that the program took before and after it.
#[test]
fn an_activation_that_a_packet_causes_is_due_when_it_was_sent() {
    let label = std::fs::read_to_string(fixture("6.18-pipeline.json")).expect("the program's own log");
    let label: Value = serde_json::from_str(&label).expect("JSON");
    let (_, document) = explain(&fixture("6.18-pipeline.dat.gz"), &["--task", "act", "--worst", "100"]);
    let dues: Vec<i64> = list(&document["activations"]).iter().map(|one| number(&one["due_ns"])).collect();
    let jobs = list(&label["late_jobs"]);
    assert!(jobs.len() >= 20, "{} jobs", jobs.len());
    for job in jobs {
        let span = number(&job["due"])..=number(&job["start"]);
        assert!(dues.iter().any(|due| span.contains(due)), "no activation is due in {span:?}");
    }
}

#[test]
fn a_chain_that_is_not_there_is_no_answer() {
    let file = fixture("6.18-pipeline.dat.gz");
    let run = |options: &[&str]| {
        let arguments = [OsStr::new("explain"), file.as_os_str()];
        whylate(arguments.into_iter().chain(options.iter().map(OsStr::new)))
    };
    let unknown = run(&["--chain", "sens -> act"]);
    assert_eq!(unknown.code, Some(2), "{unknown:#?}");
    assert!(unknown.stderr.contains("`sens`") && unknown.stderr.contains("sense"), "{unknown:#?}");
    let elsewhere = run(&["--chain", "act -> sense"]);
    assert_eq!(elsewhere.code, Some(3), "{elsewhere:#?}");
    assert!(elsewhere.stderr.contains("no instance of the chain act -> sense"), "{elsewhere:#?}");
    assert_eq!(run(&["--chain", "act"]).code, Some(2));
    let late = run(&["--chains", "--chain-deadline", "2ms"]);
    assert_eq!(late.code, Some(1), "{late:#?}");
    assert!(late.stdout.contains("missed its deadline of 2.00 ms"), "{late:#?}");
}

#[test]
fn a_page_draws_chains_with_arrows() {
    let directory = tempfile::tempdir().expect("a directory");
    let page = directory.path().join("chains.html");
    let file = fixture("6.18-pipeline.dat.gz");
    let arguments =
        [OsStr::new("explain"), OsStr::new("--chains"), OsStr::new("-o"), page.as_os_str(), file.as_os_str()];
    let run = whylate(arguments);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let page = std::fs::read_to_string(page).expect("the page");
    for expected in ["timer → sense → plan → net:lo → act", "↓ write", "↓ packet", "napi-poll"] {
        assert!(page.contains(expected), "{expected}");
    }
}

/// What another machine recorded: 32-bit words, the other byte order, its own numbers of system calls. The same recording, encoded
/// for each (`crates/ftrace/tests/foreign.rs`), has the same explanation.
#[test]
fn recordings_of_32_bit_and_big_endian_machines_are_explained() {
    let explained = |name: &str| {
        let (code, mut answer) = explain(&fixture(name), &[]);
        assert_eq!(code, Some(1), "{name}");
        // The file, its sizes, and the machine.
        answer.as_object_mut().expect("a document").remove("trace");
        answer
    };
    let own = explained("made-aarch64-lock-chain.dat.gz");
    let [verdict] = &list(&own["activations"])
        .iter()
        .filter(|one| one["comm"] == "victim")
        .take(1)
        .map(|one| &one["verdict"])
        .collect::<Vec<_>>()[..]
    else {
        panic!("the victim is late")
    };
    assert_eq!(verdict["cause"], "lock-inversion");
    for machine in ["armv7l", "armv7b", "aarch64_be"] {
        let other = explained(&format!("made-{machine}-lock-chain.dat.gz"));
        assert!(other == own, "{machine}: {:#}", other["findings"]);
    }
}
