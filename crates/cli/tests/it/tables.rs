//! `whylate tables`: what the reports show is in the tables, once, whatever happens on the way.

use crate::support::answer::answer;
use crate::support::run::{Killed, Run, command, fixture, whylate};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use whylate_tables::{Batch, Data, RunId};
use whylate_testing::{Need, skip};

/// A row by its columns' names; null is left out.
type Row = BTreeMap<&'static str, Value>;

fn rows(batch: &Batch) -> Vec<Row> {
    let mut rows = vec![Row::new(); batch.rows()];
    for (column, values) in batch.table().columns.iter().zip(batch.columns()) {
        let texts: Vec<&str> = values.data.texts().collect();
        let defined = rows.iter_mut().zip(&values.defined).filter(|(_, defined)| **defined);
        for (next, (row, _)) in defined.enumerate() {
            let value = match &values.data {
                Data::Ints(ints) => Value::from(ints[next]),
                Data::Floats(floats) => Value::from(floats[next]),
                Data::Bools(bools) => Value::from(bools[next]),
                Data::Texts(..) => Value::from(texts[next]),
            };
            row.insert(column.name, value);
        }
    }
    rows
}

/// A file system in memory.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(directory: &Path, size: &str) -> Option<SmallDisk> {
        let place = directory.join("disk");
        fs::create_dir_all(&place).expect("a directory");
        let options = format!("size={size}");
        let mount = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(&place)
            .output();
        match mount {
            Ok(output) if output.status.success() => Some(SmallDisk(place)),
            Ok(output) => {
                skip(
                    Need::Machine,
                    format_args!("a tmpfs: {}", String::from_utf8_lossy(&output.stderr).trim()),
                );
                None
            }
            Err(error) => {
                skip(Need::Machine, format_args!("mount(8): {error}"));
                None
            }
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

/// All tables' files below a directory.
fn files(directory: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && entry.file_name() != ".whylate" {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|ending| ending == "parquet") {
            found.insert(path);
        }
    }
    found
}

/// The rows of a table, of all machines and days.
fn table(directory: &Path, name: &str) -> Vec<Row> {
    let read = |path: &PathBuf| rows(&whylate_tables::read(path).expect("a table"));
    files(&directory.join(name)).iter().flat_map(read).collect()
}

fn import(output: &Path, inputs: &[PathBuf], options: &[&str]) -> Run {
    let arguments = [OsStr::new("tables"), OsStr::new("-o"), output.as_os_str()];
    let inputs = inputs.iter().map(|input| input.as_os_str());
    whylate(arguments.into_iter().chain(options.iter().map(OsStr::new)).chain(inputs))
}

fn recordings() -> Vec<PathBuf> {
    let of = |directory: PathBuf, endings: &[&str]| {
        let entries = fs::read_dir(directory).expect("fixtures").flatten().map(|entry| entry.path());
        let of_ending =
            |path: &PathBuf| endings.iter().any(|ending| path.to_string_lossy().ends_with(ending));
        entries.filter(of_ending).collect::<Vec<_>>()
    };
    let intake = Path::new(env!("CARGO_MANIFEST_DIR")).join("../intake/tests/fixtures");
    let mut all = of(fixture(""), &[".dat"]);
    all.extend(of(intake, &[".data.gz", ".pftrace", ".txt", "raw_dump"]));
    all.sort();
    all
}

fn ints<'a>(rows: impl IntoIterator<Item = &'a Row>, column: &str) -> i64 {
    rows.into_iter().filter_map(|row| row.get(column)?.as_i64()).sum()
}

#[test]
fn what_explain_reports_is_in_the_tables() {
    let directory = tempfile::tempdir().expect("directory");
    let inputs = recordings();
    assert!(inputs.len() > 25, "{inputs:?}");
    let run = import(directory.path(), &inputs, &["--machine", "plc1"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stdout.contains("higher-priority-task"), "{run:#?}");
    let of = |name: &str| table(directory.path(), name);
    let [runs, activations, segments, threads, causes, findings] =
        ["runs", "activations", "segments", "threads", "causes", "findings"].map(of);
    assert_eq!(runs.len(), inputs.len());
    for input in &inputs {
        let report = whylate([OsStr::new("explain"), OsStr::new("--json"), input.as_os_str()]);
        let document = answer(&report.stdout);
        let id = RunId::of(input).expect("an identity").to_string();
        let own = |rows: &[Row]| -> Vec<Row> {
            rows.iter().filter(|row| row["run"] == id.as_str()).cloned().collect()
        };
        let name = input.display();
        let [run] = &own(&runs)[..] else { panic!("{name}: a run is a row") };
        assert_eq!(run.get("events"), Some(&document["trace"]["events"]), "{name}");
        same_activations(&document, own(&activations), own(&segments), &name.to_string());
        let tasks = document["tasks"].as_array().expect("tasks");
        let own_threads = own(&threads);
        assert_eq!(own_threads.len(), tasks.len(), "{name}");
        for (task, row) in tasks.iter().zip(&own_threads) {
            assert_eq!((&row["tid"], &row["activations"]), (&task["tid"], &task["activations"]), "{name}");
            let charged: i64 =
                task["causes"].as_object().expect("causes").values().filter_map(Value::as_i64).sum();
            let own_causes: Vec<Row> =
                own(&causes).into_iter().filter(|row| row["tid"] == task["tid"]).collect();
            assert_eq!(ints(&own_causes, "ns"), charged, "{name}");
        }
        let codes = |value: &Value| value["code"].clone();
        let reported: Vec<Value> =
            document["findings"].as_array().expect("findings").iter().map(codes).collect();
        let kept: Vec<Value> = own(&findings).iter().map(|row| row["code"].clone()).collect();
        assert_eq!(kept, reported, "{name}");
    }
}

/// Each activation of the document has its row, and each entry of its ledger.
fn same_activations(document: &Value, activations: Vec<Row>, segments: Vec<Row>, name: &str) {
    let reported = document["activations"].as_array().expect("activations");
    assert_eq!(activations.len(), reported.len(), "{name}");
    let key = |row: &Value, own: [&str; 3]| own.map(|key| row[key].to_string());
    let object = |row: &Row| serde_json::json!(row);
    let activations_by: BTreeMap<[String; 3], &Row> =
        (activations.iter()).map(|row| (key(&object(row), ["tid", "due_ns", "response_ns"]), row)).collect();
    let mut entries = Vec::new();
    for activation in reported {
        let row = activations_by.get(&key(activation, ["tid", "due_ns", "response_ns"]));
        let row = row.unwrap_or_else(|| panic!("{name}: {activation}"));
        let verdict = &activation["verdict"];
        assert_eq!(row["cause"], verdict["cause"], "{name}");
        assert_eq!(row["why"], verdict["why"], "{name}");
        assert_eq!(row["charged_ns"], verdict["charged_ns"], "{name}");
        let by = &verdict["by"];
        let culprit = if by["comm"].is_string() { &by["comm"] } else { &by["name"] };
        assert_eq!(row.get("culprit").unwrap_or(&Value::Null), culprit, "{name}");
        let ledger = activation["ledger"].as_array().expect("a ledger").iter();
        entries.extend(
            ledger.map(|entry| (activation["tid"].to_string(), key(entry, ["start_ns", "ns", "cause"]))),
        );
    }
    let mut kept: Vec<_> = (segments.iter().map(object))
        .map(|row| (row["tid"].to_string(), key(&row, ["start_ns", "ns", "cause"])))
        .collect();
    entries.sort();
    kept.sort();
    assert!(kept == entries, "{name}: the segments are not the ledgers' entries");
    assert_eq!(ints(&segments, "ns"), ints(&activations, "response_ns"), "{name}");
}

#[test]
fn with_all_every_activation_and_every_nanosecond_has_a_row() {
    let directory = tempfile::tempdir().expect("directory");
    let inputs = ["6.1-higher.dat", "6.1-page-fault.dat", "7.2-fair-server.dat"].map(fixture);
    let run = import(directory.path(), &inputs, &["--all"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let of = |name: &str| table(directory.path(), name);
    let [activations, segments, threads, causes] = ["activations", "segments", "threads", "causes"].map(of);
    assert_eq!(activations.len() as i64, ints(&threads, "activations"));
    assert!(activations.iter().any(|row| !row.contains_key("cause")), "some are none of the worst");
    for cause in &causes {
        let keys = ["run", "tid", "cause"];
        let own = segments.iter().filter(|row| keys.iter().all(|key| row[key] == cause[key]));
        assert_eq!(ints(own, "ns"), cause["ns"].as_i64().expect("a number"), "{cause:?}");
    }
}

#[test]
fn a_deadline_keeps_what_misses_it() {
    let directory = tempfile::tempdir().expect("directory");
    let inputs = [fixture("6.1-higher.dat")];
    let all = directory.path().join("all");
    assert_eq!(import(&all, &inputs, &["--all"]).code, Some(0));
    let responses = |directory: &Path| -> Vec<i64> {
        table(directory, "activations").iter().filter_map(|row| row["response_ns"].as_i64()).collect()
    };
    let mut longest = responses(&all);
    longest.sort_unstable_by_key(|&ns| std::cmp::Reverse(ns));
    let deadline = longest[longest.len() / 2];
    let late = directory.path().join("late");
    assert_eq!(
        import(&late, &inputs, &["--worst", "1", "--deadline", &format!("{deadline}ns")]).code,
        Some(0)
    );
    let over = longest.iter().filter(|&&ns| ns > deadline).count();
    let kept = responses(&late);
    assert!(over > 1 && kept.iter().filter(|&&ns| ns > deadline).count() == over, "{kept:?} of {longest:?}");
}

#[test]
fn an_input_is_added_once_whatever_its_name() {
    let directory = tempfile::tempdir().expect("directory");
    let tables = directory.path().join("tables");
    let copy = directory.path().join("copy.dat");
    fs::copy(fixture("6.1-higher.dat"), &copy).expect("a copy");
    assert_eq!(import(&tables, &[fixture("6.1-higher.dat")], &["--date", "2026-11-24"]).code, Some(0));
    let before = files(&tables);
    let run = import(&tables, std::slice::from_ref(&copy), &["--machine", "other", "--date", "2026-11-25"]);
    assert!(run.code == Some(0) && run.stderr.contains("1 already there"), "{run:#?}");
    assert_eq!(files(&tables), before);
    // As another machine's and day's on request: it moves.
    let run = import(&tables, &[copy], &["--machine", "a/b", "--date", "2026-11-25", "--replace"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let after = files(&tables);
    assert_eq!(after.len(), before.len());
    assert!(
        after.iter().all(|path| path.to_string_lossy().contains("date=2026-11-25/machine=a%2Fb/")),
        "{after:?}"
    );
    assert_eq!(table(&tables, "runs")[0]["machine"], "a/b");
}

#[test]
fn a_killed_import_is_completed_by_the_next_one() {
    let directory = tempfile::tempdir().expect("directory");
    let inputs = recordings();
    let clean = directory.path().join("clean");
    assert_eq!(import(&clean, &inputs, &[]).code, Some(0));
    let tables = directory.path().join("tables");
    for attempt in 1..=4 {
        let mut import = command();
        import
            .args(["tables", "--all", "-o"])
            .arg(&tables)
            .args(&inputs)
            .stderr(Stdio::null())
            .stdout(Stdio::null());
        let import = Killed(import.spawn().expect("it starts"));
        std::thread::sleep(Duration::from_millis(attempt * 40));
        drop(import);
    }
    let run = import(&tables, &inputs, &["--replace"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let relative = |root: &Path| -> BTreeSet<PathBuf> {
        files(root).iter().filter_map(|path| Some(path.strip_prefix(root).ok()?.to_owned())).collect()
    };
    assert_eq!(relative(&tables), relative(&clean));
    for name in ["runs", "activations", "segments"] {
        assert_eq!(table(&tables, name).len(), table(&clean, name).len(), "{name}");
    }
    let staging = fs::read_dir(tables.join(".whylate/staging")).expect("staging").count();
    assert_eq!(staging, 0, "what killed imports left is gone");
}

#[test]
fn a_full_disk_leaves_no_part_of_a_run() {
    let directory = tempfile::tempdir().expect("directory");
    // To a process, a limit of its files' size is a full disk: one block of 512 bytes.
    let script = "ulimit -f 1; trap '' XFSZ; exec \"$@\"";
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", script, "sh", env!("CARGO_BIN_EXE_whylate"), "tables", "-o"]).arg(directory.path());
    let output = limited.arg(fixture("6.1-higher.dat")).output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && errors.contains("cannot write"), "{output:?}");
    assert_eq!(files(directory.path()), BTreeSet::new());
    assert_eq!(import(directory.path(), &[fixture("6.1-higher.dat")], &[]).code, Some(0));
}

#[test]
fn bad_inputs_are_skipped_and_reported_and_the_others_are_added() {
    let directory = tempfile::tempdir().expect("directory");
    let write = |name: &str, content: &[u8]| {
        let path = directory.path().join(name);
        fs::write(&path, content).expect("a file");
        path
    };
    let whole = fs::read(fixture("6.1-higher.dat")).expect("the fixture");
    let inputs = [
        write("empty", b""),
        write("noise", &[0x9e; 4000]),
        write("plan.json", b"{\"schema\": \"whylate.plan/1\"}"),
        write("broken.json", b"{\"schema\": \"whylate.check/1\", \"machine\": 7}"),
        directory.path().join("absent"),
        write("cut.dat", &whole[..whole.len() * 9 / 10]),
    ];
    let tables = directory.path().join("tables");
    let run = import(&tables, &inputs, &[]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("1 added") && run.stderr.contains("5 skipped"), "{run:#?}");
    for words in
        ["documents of whylate.plan/1 have no tables", "its schema is whylate.check/1, but it cannot be read"]
    {
        assert!(run.stderr.contains(words), "{words}: {run:#?}");
    }
    let runs = table(&tables, "runs");
    assert!(
        runs.len() == 1 && runs[0]["quality"] != "whole" && runs[0]["damage"].as_i64() > Some(0),
        "{runs:?}"
    );
}

#[test]
fn measurements_checks_doctors_reports_and_snapshots_have_tables() {
    let directory = tempfile::tempdir().expect("directory");
    let shared = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    let histogram = directory.path().join("cyclictest.txt");
    let text = "# Histogram\n000003 000090 000080\n000004 000009 000019\n000012 000001 000001\n\
                # Total: 000000100 000000100\n# Min Latencies: 00003 00003\n# Avg Latencies: 00003 00003\n\
                # Max Latencies: 00012 00012\n# Histogram Overflows: 00000 00000\n";
    fs::write(&histogram, text).expect("a file");
    let inputs = [
        shared("report/tests/fixtures/measure-1-first.json"),
        shared("report/tests/fixtures/check-1-first.json"),
        shared("report/tests/fixtures/doctor-1-first.json"),
        shared("report/tests/fixtures/watch-1-first.json"),
        shared("checks/tests/fixtures/6.12-rt.snapshot"),
        histogram,
    ];
    let tables = directory.path().join("tables");
    let run = import(&tables, &inputs, &["--machine", "plc1"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let kinds: BTreeSet<String> = table(&tables, "runs").iter().map(|row| row["kind"].to_string()).collect();
    assert_eq!(kinds.len(), 5, "{kinds:?}");
    let snapshot = table(&tables, "machines").into_iter().find(|row| row.contains_key("cmdline"));
    let snapshot = snapshot.expect("the snapshot's machine");
    assert!(snapshot["rt"] == true && snapshot["kernel"].to_string().contains("6.12"), "{snapshot:?}");
    let (latencies, histograms) = (table(&tables, "latencies"), table(&tables, "histograms"));
    assert_eq!(ints(&histograms, "count") + ints(&latencies, "overflow"), ints(&latencies, "samples"));
    let [group] = &table(&tables, "late_groups")[..] else { panic!("the watch has a group") };
    assert_eq!((&group["culprit"], &group["count"]), (&"rarehog (priority 80)".into(), &2.into()));
    let watched = table(&tables, "threads").into_iter().find(|row| row["comm"] == "ctlx");
    assert!(watched.is_some_and(|row| row["activations"] == 1223), "its responses are there");
    // It has a date of its own.
    assert!(tables.join("runs/date=2026-11-24/machine=plc1").is_dir());
    assert!(latencies.iter().any(|row| row["samples"] == 100 && row["max_ns"] == 12_000), "{latencies:?}");
    assert!(!table(&tables, "checks").is_empty() && !table(&tables, "findings").is_empty());
}

#[test]
fn wrong_clocks_and_two_machines_of_one_name_are_reported() {
    let directory = tempfile::tempdir().expect("directory");
    let machine = |name: &str, model: &str| {
        let root = directory.path().join(name);
        for (path, content) in
            [("proc/cpuinfo", format!("model name\t: {model}\n")), ("etc/hostname", "plc\n".into())]
        {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            fs::write(path, content).expect("written");
        }
        root
    };
    let inputs = [machine("a", "Atom"), machine("b", "Xeon")];
    let tables = directory.path().join("tables");
    let run = import(&tables, &inputs, &["--date", "2999-01-01"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(
        run.stderr.contains("another machine called `plc` has the CPU `Atom`, this one `Xeon`"),
        "{run:#?}"
    );
    assert!(run.stderr.contains("the date of 2 added inputs is still to come"), "{run:#?}");
    let runs = table(&tables, "runs");
    assert!(runs.iter().all(|row| row["future"] == true && row["machine"] == "plc"), "{runs:?}");
    // Hidden, names are stable within a directory, and no name of a file is left.
    let hidden = directory.path().join("hidden");
    let run = import(&hidden, &inputs, &["--hide-names"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let names: BTreeSet<String> =
        table(&hidden, "runs").iter().map(|row| row["machine"].to_string()).collect();
    assert!(names.len() == 1 && names.iter().all(|name| name.contains("m-")), "{names:?}");
    assert!(table(&hidden, "runs").iter().all(|row| row["source"] == "(hidden)"));
}

#[test]
fn a_disk_that_fills_up_keeps_what_was_complete() {
    let directory = tempfile::tempdir().expect("directory");
    let Some(disk) = SmallDisk::mount(directory.path(), "512k") else { return };
    let tables = disk.0.join("tables");
    let inputs = recordings();
    let run = import(&tables, &inputs, &["--all"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("No space left on device"), "{run:#?}");
    // Every run that is there is whole, and nothing else is: the tables of each run add up.
    let (runs, activations) = (table(&tables, "runs"), table(&tables, "activations"));
    assert!(!runs.is_empty() && runs.len() < inputs.len(), "{} of {}", runs.len(), inputs.len());
    let there: BTreeSet<String> = runs.iter().map(|row| row["run"].to_string()).collect();
    assert!(activations.iter().all(|row| there.contains(&row["run"].to_string())));
    let staging = fs::read_dir(tables.join(".whylate/staging")).expect("staging").count();
    assert_eq!(staging, 0);
    // Elsewhere what was skipped is imported.
    let run = import(&directory.path().join("larger"), &inputs, &["--all"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(table(&directory.path().join("larger"), "runs").len(), inputs.len());
}

#[test]
fn the_lines_of_a_watch_that_was_killed_have_tables() {
    let directory = tempfile::tempdir().expect("directory");
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/fixtures/watch-1-first.json");
    let whole = fs::read_to_string(&shared).expect("the fixture");
    let lines = format!("{}\n{}", whole.trim(), &whole[..whole.len() / 2]);
    let input = directory.path().join("watch.jsonl");
    fs::write(&input, lines).expect("written");
    let tables = directory.path().join("tables");
    let run = import(&tables, &[input], &[]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(table(&tables, "runs")[0]["kind"], "watch");
    assert_eq!(table(&tables, "late_groups").len(), 1);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory").flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() { copy(&path, &to) } else { fs::copy(&path, &to).map(drop).expect("copied") }
    }
}

#[test]
fn tables_of_older_versions_are_read_together_with_new_ones() {
    let directory = tempfile::tempdir().expect("directory");
    let tables = directory.path().join("tables");
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    copy(&crates.join("tables/tests/fixtures/older"), &tables);
    let mut histogram = String::from("# Histogram\n000003 009000\n000004 000900\n000012 000100\n");
    histogram.push_str("# Total: 000010000\n# Min Latencies: 00003\n# Avg Latencies: 00003\n");
    histogram.push_str("# Max Latencies: 00012\n# Histogram Overflows: 00000\n");
    let file = directory.path().join("cyclictest.txt");
    fs::write(&file, histogram).expect("a file");
    assert_eq!(import(&tables, &[file], &["--machine", "plc2"]).code, Some(0));
    assert_eq!(table(&tables, "runs").len(), 3);
    let compare = || {
        whylate([
            OsStr::new("compare"),
            OsStr::new("--tables"),
            tables.as_os_str(),
            OsStr::new("--by"),
            OsStr::new("machine"),
            OsStr::new("--json"),
        ])
    };
    let run = compare();
    assert!(run.stdout.contains("plc1") && run.stdout.contains("plc2"), "{run:#?}");
    // A table of a version to come stops the comparison: it would be wrong without it.
    let new = files(&tables.join("runs")).into_iter().find(|path| path.to_string_lossy().contains("plc2"));
    let new = new.expect("the new run");
    let mut bytes = fs::read(&new).expect("read");
    let name = b"whylate.tables/1";
    let places: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(name)).collect();
    places.iter().for_each(|&at| bytes[at + name.len() - 1] = b'7');
    fs::write(&new, bytes).expect("written");
    let run = compare();
    assert!(
        run.code == Some(2)
            && run.stderr.contains("whylate.tables/7")
            && run.stderr.contains("use a later one"),
        "{run:#?}"
    );
}
