//! `whylate record` on this machine: what it writes, what it prints, and that it leaves nothing
//! behind however it ends. Needs root and tracefs; reports that and passes where there is neither.

use crate::support::answer::{answer, list, number};
use crate::support::run::{Run, as_nobody, command, ended, fixture, whylate};
use crate::support::tracefs::Tracefs;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use whylate_testing::{Need, skip};

/// A new directory, and the path of a recording in it.
fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("a.dat");
    (directory, path)
}

/// `whylate record -o FILE ARGUMENTS`, to its end.
fn record(file: &Path, arguments: &[&str]) -> Run {
    let start = [OsStr::new("record"), OsStr::new("-o"), file.as_os_str()];
    whylate(start.into_iter().chain(arguments.iter().map(OsStr::new)))
}

/// The number in `...: N events of ...`.
fn events_reported(run: &Run) -> i64 {
    let before = run.stderr.split(" events of ").next().unwrap_or_default();
    let number = before.rsplit(' ').next().and_then(|number| number.replace(',', "").parse().ok());
    number.unwrap_or_else(|| panic!("no number of events in {}", run.stderr))
}

/// The recording as `whylate explain` reads it: undamaged.
fn explained(file: &Path) -> serde_json::Value {
    let run = whylate([OsStr::new("explain"), OsStr::new("--json"), file.as_os_str()]);
    assert!(matches!(run.code, Some(0 | 1 | 3)), "{run:#?}");
    let answer = answer(&run.stdout);
    assert_eq!(list(&answer["trace"]["damage"]), [] as [serde_json::Value; 0]);
    answer
}

/// Only these are in the directory.
fn files(directory: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(directory.path()).expect("list");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Debian's kernels trace functions in an instance; others refuse, with the reason, and leave no file.
#[test]
fn functions_are_recorded_or_refused_with_the_reason() {
    let Some(tracefs) = Tracefs::open() else { return };
    let (directory, file) = place();
    let before = tracefs.settings();
    let run = record(&file, &["--functions=tick_*", "--duration", "300ms"]);
    assert_eq!(tracefs.settings(), before);
    match run.code {
        Some(0) => assert!(events_reported(&run) > 0, "{run:#?}"),
        code => {
            assert_eq!(code, Some(2), "{run:#?}");
            assert!(run.stderr.contains("--functions: ") && run.stderr.contains("leave it out"), "{run:#?}");
            assert_eq!(files(&directory), [] as [String; 0]);
        }
    }
    let run = record(&file, &["--functions=no_such_function_of_a_kernel", "--duration", "300ms"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("--functions: "), "{run:#?}");
}

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
fn trace_cmd_reads_as_many_events() {
    let Some(_tracefs) = Tracefs::open() else { return };
    if !whylate_testing::has_program("trace-cmd") {
        return;
    }
    let (_directory, file) = place();
    let run = record(&file, &["--duration", "200ms", "-e", "timer:timer_start"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let listed =
        Command::new("trace-cmd").args(["report", "-N", "-i"]).arg(&file).output().expect("trace-cmd");
    let text = String::from_utf8_lossy(&listed.stdout);
    let is_event = |line: &&str| line.contains("] ") && !line.contains("EVENTS DROPPED]");
    let events = i64::try_from(text.lines().filter(is_event).count()).expect("a count");
    assert_eq!(events, events_reported(&run), "{}", String::from_utf8_lossy(&listed.stderr));
    assert_eq!(events, number(&explained(&file)["trace"]["events"]));
    assert!(text.contains(" timer_start:"), "the event that was asked for");
}

/// The CPUs with events, and those with markers, by `whylate convert`.
fn cpus_with_events(file: &Path) -> (Vec<i64>, Vec<i64>) {
    let lines = file.with_extension("jsonl");
    let run = whylate([OsStr::new("convert"), file.as_os_str(), lines.as_os_str()]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let text = fs::read_to_string(&lines).expect("the events");
    let (mut events, mut markers) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let event: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let cpus = if event["event"] == "print" { &mut markers } else { &mut events };
        cpus.extend(event["cpu"].as_i64());
    }
    for cpus in [&mut events, &mut markers] {
        cpus.sort_unstable();
        cpus.dedup();
    }
    (events, markers)
}

#[test]
fn only_the_cpus_that_were_asked_for_are_recorded() {
    let Some(tracefs) = Tracefs::open() else { return };
    let before = tracefs.settings();
    let online = fs::read_to_string("/sys/devices/system/cpu/online").expect("a list");
    let online: whylate_base::CpuSet = online.trim().parse().expect("a list");
    if online.iter().count() < 2 {
        skip(Need::Machine, "a second CPU");
        return;
    }
    let chosen = online.iter().last().expect("a CPU").to_string();
    let (directory, file) = place();
    let run = record(
        &file,
        &["--cpus", &chosen, "--", "taskset", "-c", &chosen, "sh", "-c", "sleep 0.2; sleep 0.2"],
    );
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stderr.contains(&format!("events of CPUs {chosen} in")), "{run:#?}");
    assert!(run.stderr.contains("cpus-not-recorded"), "{run:#?}");
    assert_eq!(tracefs.settings(), before);
    let answer = explained(&file);
    assert_eq!(number(&answer["trace"]["events"]), events_reported(&run));
    let findings = list(&answer["findings"]);
    assert!(findings.iter().any(|finding| finding["code"] == "cpus-not-recorded"), "{findings:#?}");
    let (events, markers) = cpus_with_events(&file);
    assert_eq!(events, [chosen.parse::<i64>().expect("a number")]);
    assert!(!markers.is_empty(), "the facts of the machine are in it");
    // A CPU that no machine has.
    fs::remove_file(&file).expect("removed");
    fs::remove_file(file.with_extension("jsonl")).expect("removed");
    let run = record(&file, &["--cpus", "0,8191", "-d", "1s"]);
    assert!(run.code == Some(2) && run.stderr.contains("has no CPU 8191"), "{run:#?}");
    assert!(run.stderr.contains(&format!("CPUs {online}, which are online")), "{run:#?}");
    assert!(files(&directory).is_empty());
}

/// Starts a recording that something else must end, and waits until it traces.
fn start(tracefs: &Tracefs, arguments: &[&OsStr]) -> Child {
    let mut command = command();
    command.arg("record").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    let started = Instant::now();
    while !tracefs.traces(child.id()) {
        let ended = child.try_wait().expect("a state");
        if ended.is_some() || started.elapsed() > Duration::from_secs(30) {
            let _ = child.kill();
            panic!("it does not trace: {:#?}", child.wait_with_output());
        }
        thread::sleep(Duration::from_millis(5));
    }
    child
}

fn signal(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, signal).expect("a signal");
}

#[test]
fn signals_end_it_and_what_was_recorded_is_kept() {
    let Some(tracefs) = Tracefs::open() else { return };
    for which in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (directory, file) = place();
        let before = tracefs.settings();
        let child = start(&tracefs, &[OsStr::new("-o"), file.as_os_str()]);
        let pid = child.id();
        thread::sleep(Duration::from_millis(200));
        signal(&child, which);
        let run = ended(child.wait_with_output().expect("ends"));
        assert_eq!(run.code, Some(0), "{which:?}: {run:#?}");
        assert_eq!(tracefs.instances(pid), [] as [PathBuf; 0], "{which:?}");
        assert_eq!(tracefs.settings(), before, "{which:?}");
        assert_eq!(files(&directory), ["a.dat"], "{which:?}");
        let recorded = number(&explained(&file)["trace"]["events"]);
        assert!(recorded > 0 && recorded == events_reported(&run), "{which:?}: {recorded}");
    }
}

/// The command does not outlive the recording that started it.
#[test]
fn a_signal_ends_the_command_as_well() {
    let Some(tracefs) = Tracefs::open() else { return };
    let (directory, file) = place();
    let written = directory.path().join("pid");
    let script = format!("echo $$ > '{}'; exec sleep 60", written.display());
    let arguments: Vec<&OsStr> = ["--", "sh", "-c", &script].into_iter().map(OsStr::new).collect();
    let child = start(&tracefs, &[&[OsStr::new("-o"), file.as_os_str()][..], &arguments].concat());
    let started = Instant::now();
    let sleeper = loop {
        if let Ok(pid) = fs::read_to_string(&written).unwrap_or_default().trim().parse::<i32>() {
            break Pid::from_raw(pid).expect("a process");
        }
        assert!(started.elapsed() < Duration::from_secs(30), "the command never ran");
        thread::sleep(Duration::from_millis(5));
    };
    signal(&child, Signal::INT);
    let run = ended(child.wait_with_output().expect("ends"));
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(rustix::process::test_kill_process(sleeper).is_err(), "the command still runs");
    explained(&file);
}

/// What a service manager sends reaches us alone: the command is signalled before the recording is
/// written. It ends by itself as soon as it sees the recording.
#[test]
fn the_command_gets_a_signal_at_once() {
    let Some(tracefs) = Tracefs::open() else { return };
    for which in [Signal::TERM, Signal::HUP] {
        let (directory, file) = place();
        let [started, trapped] = ["started", "told"].map(|name| directory.path().join(name));
        let script = format!(
            "trap 'echo yes > {1}; exit' TERM; echo > {0}; while ! [ -e {2} ]; do sleep 0.02; done; echo no > {1}",
            started.display(),
            trapped.display(),
            file.display(),
        );
        let arguments: Vec<&OsStr> = ["--", "sh", "-c", &script].into_iter().map(OsStr::new).collect();
        let child = start(&tracefs, &[&[OsStr::new("-o"), file.as_os_str()][..], &arguments].concat());
        let since = Instant::now();
        while !started.exists() {
            assert!(since.elapsed() < Duration::from_secs(30), "the command never ran");
            thread::sleep(Duration::from_millis(5));
        }
        signal(&child, which);
        let run = ended(child.wait_with_output().expect("ends"));
        assert_eq!(run.code, Some(0), "{which:?}: {run:#?}");
        assert_eq!(fs::read_to_string(&trapped).expect("it ended"), "yes\n", "{which:?}");
        explained(&file);
    }
}

#[test]
fn what_a_kill_leaves_the_next_recording_removes() {
    let Some(tracefs) = Tracefs::open() else { return };
    let (directory, file) = place();
    let before = tracefs.settings();
    let mut child = start(&tracefs, &[OsStr::new("-o"), file.as_os_str()]);
    child.kill().expect("killed");
    child.wait().expect("ends");
    assert_eq!(tracefs.settings(), before);
    assert_eq!(files(&directory), [] as [&str; 0], "no half recording");
    // Unless another recording on this machine has been quicker.
    println!("left: {:?}", tracefs.instances(child.id()));
    let run = record(&file, &["--", "true"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(tracefs.instances(child.id()), [] as [PathBuf; 0]);
    explained(&file);
}

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
fn a_command_that_fails_is_still_recorded() {
    let Some(_tracefs) = Tracefs::open() else { return };
    let (_directory, file) = place();
    let run = record(&file, &["--", "sh", "-c", "exit 7"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stderr.contains("exit status: 7"), "{run:#?}");
    explained(&file);
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

/// A program whose real-time thread, at known lines, runs, touches fresh pages and waits for a lock.
const CONTROL: &str = r#"#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sink;
static volatile int held, comes;
/* Whether main sleeps, which it does only at the lock after it has set `comes`. */
static int main_waits(void) {
    char state = 0;
    FILE *stat = fopen("/proc/self/stat", "r");
    if (!stat || fscanf(stat, "%*d (%*[^)]) %c", &state) != 1) state = 'S';
    if (stat) fclose(stat);
    return comes && state == 'S';
}
__attribute__((noinline)) static void spin(long us) { /* spins */
    struct timespec start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000 + (now.tv_nsec - start.tv_nsec) / 1000 < us);
}
__attribute__((noinline)) static void touch(void) {
    char *pages = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(pages, 1 << 20, MADV_NOHUGEPAGE);
    memset(pages, 1, 1 << 20); /* touched */
    munmap(pages, 1 << 20);
}
__attribute__((noinline)) static void save(void) {
    pthread_mutex_lock(&lock);
    held = 1;
    do usleep(30000); /* holds */
    while (!main_waits());
    pthread_mutex_unlock(&lock);
    sink++;
}
static void *logger(void *argument) {
    save();
    sink++;
    return argument;
}
int main(void) {
    pthread_t thread;
    usleep(20000);
    pthread_create(&thread, 0, logger, 0);
    do usleep(5000); while (!held);
    comes = 1;
    pthread_mutex_lock(&lock); /* waits */
    pthread_mutex_unlock(&lock);
    spin(200000);
    usleep(20000);
    touch();
    pthread_join(thread, 0);
    return 0;
}
"#;

/// Twelve cycles between two static probes, in the form that `<sys/sdt.h>` gives them: the begin has two places, and a
/// semaphore, without which the program passes it over. The ninth cycle sleeps.
const PROBED: &str = r#"
#include <unistd.h>
#define PROBE(name, semaphore) __asm__ volatile( \
    "990: nop\n" \
    ".pushsection .note.stapsdt,\"\",\"note\"\n" \
    ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n" \
    "991: .asciz \"stapsdt\"\n992: .balign 4\n" \
    "993: .8byte 990b\n.8byte base_of_probes\n.8byte " semaphore "\n" \
    ".asciz \"motion\"\n.asciz \"" name "\"\n.asciz \"\"\n994: .balign 4\n" \
    ".popsection\n")
__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
        "base_of_probes: .space 1\n.size base_of_probes, 1\n.popsection\n");
volatile unsigned short begin_semaphore __attribute__((section(".probes"), used));
int main(void) {
    for (int i = 0; i < 12; i++) {
        usleep(5000);
        if (begin_semaphore) {
            if (i & 1) PROBE("begin", "begin_semaphore");
            else PROBE("begin", "begin_semaphore");
        }
        for (volatile int n = 0; n < 100000;) n++;
        if (i == 8) usleep(8000);
        PROBE("end", "0");
    }
    return 0;
}
"#;

#[test]
fn activations_go_from_one_static_probe_to_another() {
    let Some(_tracefs) = Tracefs::open() else { return };
    if !whylate_testing::has_program("cc") {
        return;
    }
    let probes = || fs::read_to_string("/sys/kernel/tracing/uprobe_events");
    let Ok(before) = probes() else {
        return skip(Need::Machine, "this kernel cannot probe programs (CONFIG_UPROBE_EVENTS)");
    };
    let (directory, file) = place();
    let (source, program) = (directory.path().join("motion.c"), directory.path().join("motion"));
    fs::write(&source, PROBED).expect("written");
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-o"]).arg(&program).arg(&source);
    assert!(cc.status().expect("cc").success());
    let program = program.to_string_lossy();
    let explained = |names: &str| {
        let run = record(&file, &["--usdt", &format!("motion:{names}"), "--", &program]);
        assert_eq!(run.code, Some(0), "{run:#?}");
        // The recording knows by itself what its activations are.
        let run = whylate([OsStr::new("explain"), "--json".as_ref(), file.as_os_str()]);
        answer(&run.stdout)
    };
    let both = explained("begin,end");
    let tasks = list(&both["tasks"]);
    assert_eq!((tasks.len(), number(&tasks[0]["activations"])), (1, 12), "{tasks:#?}");
    let worst = &list(&both["activations"])[0];
    assert_eq!(worst["verdict"]["cause"], "own-wait", "{worst:#}");
    assert!(number(&worst["response_ns"]) >= 8_000_000, "{worst:#}");
    // Up to the next begin, the 5 ms between two cycles belong to each.
    let from_begin_to_begin = explained("begin");
    let least = list(&from_begin_to_begin["activations"]).iter().map(|one| number(&one["response_ns"])).min();
    assert!(least >= Some(5_000_000), "{least:?}");
    assert_eq!(probes().expect("a list"), before);
    let run = record(&file, &["--usdt", "motion:begin", "-d", "100ms"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("give it, --usdt FILE:motion:begin"), "{run:#?}");
    let run = record(&file, &["--usdt", &format!("{program}:motion:start"), "--", "true"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(
        run.stderr.contains("has no static probe motion:start; it has motion:begin, motion:end"),
        "{run:#?}"
    );
}

#[test]
fn call_stacks_name_the_lines_of_a_program_without_frame_pointers() {
    let Some(_tracefs) = Tracefs::open() else { return };
    if !whylate_testing::has_program("cc") {
        return;
    }
    let (directory, file) = place();
    let (source, program) = (directory.path().join("control.c"), directory.path().join("control"));
    fs::write(&source, CONTROL).expect("written");
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-g", "-fomit-frame-pointer", "-pthread", "-o"]).arg(&program).arg(&source);
    assert!(cc.status().expect("cc").success());
    let run = record(&file, &["--stacks", "--", &program.to_string_lossy()]);
    if run.stderr.contains("cannot sample call stacks") {
        return skip(Need::Machine, &run.stderr);
    }
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stderr.contains(" call stacks, which took about "), "{run:#?}");
    assert_eq!(files(&directory), ["a.dat", "control", "control.c"]);

    let line = |mark: &str| {
        let found = CONTROL.lines().position(|line| line.contains(&format!("/* {mark} */")));
        i64::try_from(found.expect("marked") + 1).expect("small")
    };
    let run = whylate([
        OsStr::new("explain"),
        "--json".as_ref(),
        "--task".as_ref(),
        "control".as_ref(),
        file.as_os_str(),
    ]);
    let answer = answer(&run.stdout);
    let mut seen = std::collections::BTreeSet::new();
    for activation in list(&answer["activations"]) {
        for segment in list(&activation["ledger"]) {
            // Before exec it is whylate's own code that runs, and at the end libc's.
            let place = &segment["where"];
            let is_own = place["file"].as_str().is_some_and(|file| file.ends_with("control.c"));
            if let (true, Some(line)) = (is_own, place["line"].as_i64()) {
                seen.insert((segment["cause"].as_str().unwrap_or_default().to_owned(), line));
            }
        }
    }
    // The ledger may see a wait or a fault as it likes; the lines of what it sees are these.
    let lines: Vec<i64> = seen.iter().map(|(_, line)| *line).collect();
    assert!(lines.contains(&line("touched")), "{seen:?}");
    let spins = line("spins");
    assert!(lines.iter().any(|line| (spins..spins + 6).contains(line)), "{seen:?}");
    assert!(lines.contains(&line("waits")), "{seen:?}");
}

#[test]
fn call_stacks_need_the_clock_that_their_times_are_of() {
    let Some(_tracefs) = Tracefs::open() else { return };
    let (directory, file) = place();
    let run = record(&file, &["--stacks", "--clock", "local", "-d", "10ms"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("needs the trace clock mono"), "{run:#?}");
    assert_eq!(files(&directory), [] as [&str; 0]);
    let run = record(&file, &["--stacks", "--stack-period", "1us", "-d", "10ms"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("50.00 us or more"), "{run:#?}");
}
