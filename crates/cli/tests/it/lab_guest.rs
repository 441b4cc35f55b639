//! Boots guests, one at a time: only with WHYLATE_TEST_LAB=1, as each takes ten seconds or more
//! and needs QEMU, and a kernel that is cached or can be fetched.

use crate::support::run::{Run, command, ended};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use whylate_testing::Need;

const KERNEL: &str = "6.12-rt";

static TURN: Mutex<()> = Mutex::new(());

/// `whylate lab exec`, in a directory of its own, which also takes its temporary files.
struct Lab {
    directory: TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Lab {
    /// None, with the reason printed, where no guests are to be booted.
    fn new() -> Option<Lab> {
        if std::env::var_os("WHYLATE_TEST_LAB").is_none() {
            whylate_testing::skip(Need::Request, "it boots a guest; set WHYLATE_TEST_LAB=1");
            return None;
        }
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir(directory.path().join("tmp")).expect("a directory");
        Some(Lab { directory, _turn: turn })
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn exec(&self, arguments: &[&str]) -> Command {
        let mut command = command();
        command.current_dir(self.directory.path()).env("TMPDIR", self.path("tmp"));
        command.args(["lab", "exec", "--kernel", KERNEL]).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        ended(self.exec(arguments).output().expect("the program starts"))
    }

    fn came_back(&self, name: &str) -> String {
        fs::read_to_string(self.path("whylate-lab").join(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Nothing is left of the guest: no temporary file, and no QEMU that has one open.
    fn is_clean(&self) {
        let left: Vec<_> = fs::read_dir(self.path("tmp")).expect("the directory").flatten().collect();
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(qemus(&self.path("tmp")), Vec::<String>::new());
    }
}

/// The processes whose command line has that path in it.
fn qemus(path: &Path) -> Vec<String> {
    let path = path.to_string_lossy();
    let processes = fs::read_dir("/proc").expect("proc").flatten();
    let lines = processes.filter_map(|process| fs::read_to_string(process.path().join("cmdline")).ok());
    lines.filter(|line| line.contains("qemu") && line.contains(&*path)).collect()
}

#[test]
fn a_program_runs_with_its_files_and_they_come_back() {
    let Some(lab) = Lab::new() else { return };
    fs::create_dir(lab.path("app")).expect("a directory");
    fs::write(lab.path("app/settings"), "unchanged").expect("a file");
    fs::write(lab.path("extra"), "more\n").expect("a file");
    let script = "cat settings /opt/extra > written; uname -r; pwd >&2; exit 7";
    let run =
        lab.run(&["--no-record", "--dir", "app", "--file", "extra:/opt/extra", "--", "sh", "-c", script]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("exit code 7"), "{}", run.stderr);
    assert!(lab.came_back("stdout.txt").starts_with("6.12"));
    assert_eq!(lab.came_back("stderr.txt"), "/out/files\n");
    assert_eq!(lab.came_back("files/written"), "unchangedmore\n");
    assert!(!lab.path("whylate-lab/files/settings").exists(), "what did not change stays there");
    lab.is_clean();
}

/// At its limit a program is interrupted, and what it wrote and its recording come back.
#[test]
fn a_script_brings_its_shell_and_its_output_survives_the_limit() {
    let Some(lab) = Lab::new() else { return };
    fs::write(lab.path("loop"), "#!/bin/sh\necho begun\nwhile true; do sleep 1; done\n").expect("a file");
    fs::set_permissions(lab.path("loop"), fs::Permissions::from_mode(0o755)).expect("its mode");
    let run = lab.run(&["--limit", "60s", "--buffer", "1024", "--", "./loop"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stdout.starts_with("begun\n"), "{run:#?}");
    assert!(run.stderr.starts_with("the program was interrupted at the limit"), "{run:#?}");
    assert!(lab.path("whylate-lab/trace.dat").exists(), "{run:#?}");
    lab.is_clean();
}

#[test]
fn a_program_is_recorded_and_explained() {
    let Some(lab) = Lab::new() else { return };
    let own = env!("CARGO_BIN_EXE_whylate");
    // The probe's threads are real-time ones.
    let run = lab.run(&["--json", "--", own, "measure", "--no-trace", "--duration", "500ms", "--json"]);
    assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert!(answer["tasks"][0]["activations"].as_u64().expect("a number") > 100, "{answer:#}");
    let measured: Value = serde_json::from_str(&lab.came_back("stdout.txt")).expect("JSON");
    assert!(measured["schema"].as_str().expect("a schema").starts_with("whylate.measure"));
    assert!(lab.path("whylate-lab/trace.dat").exists());
    lab.is_clean();
}

/// Measures once, is killed in the middle, measures again, and is refused where osnoise is in use; the state of the
/// machine in between goes into files.
const TIMERLAT: &str = r#"
out=$PWD
whylate() { $WHYLATE measure --probe timerlat "$@"; }
cd /sys/kernel/tracing
state() {
    for file in current_tracer osnoise/*; do [ -f $file ] && echo "$file: $(cat $file)"; done
    ls instances /run
}
echo 500 > osnoise/timerlat_period_us
echo 777777 > osnoise/stop_tracing_us
state > $out/before
whylate -D 500ms --json > $out/measured || exit 3
state > $out/after
$WHYLATE measure --probe timerlat -D 1h > $out/nothing &
while ! cat instances/*/current_tracer 2>/dev/null | grep -q timerlat; do sleep 0.2; done
kill -KILL $!
wait $!
state > $out/killed
whylate -D 100ms --no-trace > $out/again || exit 4
state > $out/mended
echo osnoise > current_tracer
whylate -D 1s 2> $out/refused
[ $? = 2 ] || exit 5
"#;

#[test]
fn timerlat_measures_and_leaves_the_machine_as_it_was() {
    let Some(lab) = Lab::new() else { return };
    let own = env!("CARGO_BIN_EXE_whylate");
    let program = format!("{own}:/bin/whylate");
    let script = format!("WHYLATE=/bin/whylate\n{TIMERLAT}");
    let mut arguments = vec!["--no-record", "--file", &program];
    let tools = ["sh", "cat", "ls", "sleep", "grep"].map(|tool| format!("/bin/{tool}:/bin/{tool}"));
    arguments.extend(tools.iter().flat_map(|tool| ["--file", tool]));
    arguments.extend(["--", "sh", "-c", &script]);
    let run = lab.run(&arguments);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let came_back = |name: &str| lab.came_back(&format!("files/{name}"));

    let measured: Value = serde_json::from_str(&came_back("measured")).expect("JSON");
    assert_eq!(measured["probe"]["kind"], "timerlat user");
    let cpu = &measured["cpus"][0];
    assert!(cpu["samples"].as_u64().expect("a number") > 100, "{cpu:#}");
    let least = |part: &Value| part["min"].as_i64().expect("a number");
    let parts = &cpu["timerlat"];
    let ways = [&parts["irq_ns"], &parts["thread_ns"], &cpu["latency_ns"]].map(least);
    assert!(0 < ways[0] && ways.is_sorted(), "interrupt, thread, user return: {ways:?}");
    let spikes = measured["spikes"].as_array().expect("spikes");
    let explained = spikes.iter().filter(|spike| spike["activation"]["tid"] == cpu["tid"]);
    assert!(explained.count() > 0, "{spikes:#?}");

    let before = came_back("before");
    assert!(before.contains("osnoise/timerlat_period_us: 500"), "{before}");
    assert_eq!((came_back("after"), came_back("mended")), (before.clone(), before));
    let killed = came_back("killed");
    for left in ["osnoise/timerlat_period_us: 1000", "NO_OSNOISE_WORKLOAD", "whylate-timerlat"] {
        assert!(killed.contains(left), "a kill leaves {left}: {killed}");
    }
    assert!(came_back("refused").contains("osnoise is in use"), "{}", came_back("refused"));
    lab.is_clean();
}

#[test]
fn a_guest_that_hangs_is_ended_with_its_console_shown() {
    let Some(lab) = Lab::new() else { return };
    let limit = ["--limit", "25s", "--time", "free", "--no-record"];
    let run = lab.run(&[&limit[..], &["--", "sleep", "1000"]].concat());
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("interrupted at the limit (--limit)"), "{}", run.stderr);
    // Only where QEMU emulates the CPUs in several threads does it fail by itself.
    for (time, may_be_qemu) in [("virtual", false), ("free", true)] {
        let panics = ["--time", time, "--append", "rdinit=/none", "--no-record", "--", "true"];
        let run = lab.run(&panics);
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains("Kernel panic"), "{}", run.stderr);
        assert_eq!(run.stderr.contains("run it once more"), may_be_qemu, "{}", run.stderr);
    }
    lab.is_clean();
}

#[test]
fn a_signal_ends_qemu_too() {
    let Some(lab) = Lab::new() else { return };
    for signal in ["TERM", "KILL"] {
        let mut exec = lab.exec(&["--time", "free", "--", "sleep", "1000"]);
        let mut child = exec.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
        let start = Instant::now();
        while qemus(&lab.path("tmp")).is_empty() {
            assert!(start.elapsed() < Duration::from_secs(30), "no QEMU");
            sleep(Duration::from_millis(20));
        }
        let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(sent.expect("kill starts").success());
        child.wait().expect("a child");
        if signal == "TERM" {
            lab.is_clean();
        }
        let start = Instant::now();
        while !qemus(&lab.path("tmp")).is_empty() {
            assert!(start.elapsed() < Duration::from_secs(10), "QEMU lives on");
            sleep(Duration::from_millis(20));
        }
    }
}

/// Story A2: with nothing that limits real-time threads, a SCHED_FIFO 1 hog keeps CPU 1 for some seconds. What is pinned there
/// before it is real-time waits for the hog's end; `whylate run` raises the priority first.
const BESIDE_A_HOG: &str = "taskset -p 1 $$\n\
    (timeout -s KILL 6 taskset -c 1 chrt -f 1 sh -c 'while :; do :; done'; echo > ended) &\n\
    sleep 2\n\
    /whylate run --fifo 50 --cpus 1 -- chrt -p 0\n\
    [ -e ended ] || echo 'run: beside the hog'\n\
    taskset -c 1 chrt -f 50 true\n\
    sleep 1\n\
    [ -e ended ] && echo 'taskset: after the hog'\n\
    taskset -p 3 $$\n\
    /whylate run --fifo 50 -- true || echo \"on every CPU: $?\"\n";

#[test]
fn a_program_starts_beside_a_hog() {
    let Some(lab) = Lab::new() else { return };
    fs::write(lab.path("a2.sh"), BESIDE_A_HOG).expect("a script");
    let settings = [
        "--set",
        "/proc/sys/kernel/sched_rt_runtime_us=-1",
        "--set",
        "/sys/kernel/debug/sched/fair_server/cpu*/runtime=0",
    ];
    let options = ["--cpus", "2", "--no-record", "--file", "a2.sh"];
    let run = lab.run(&[&options[..], &settings, &["--", "sh", "a2.sh"]].concat());
    for line in
        ["scheduling priority: 50", "run: beside the hog", "taskset: after the hog", "on every CPU: 125"]
    {
        assert!(run.stdout.contains(line), "{line}: {run:#?}");
    }
}

/// What a run changes outside its program: a partition, in which a reservation is admitted, and the thread and the CPUs of an
/// interrupt; all of it is as before when the program has ended.
const OUTSIDE: &str = "G=/sys/fs/cgroup; [ -e $G/cgroup.controllers ] || mount -t cgroup2 none $G\n\
    priority() { for t in /proc/[0-9]*; do read -r c < $t/comm; case $c in irq/4-*) chrt -p ${t##*/}; esac; done; }\n\
    state() { priority; cat /proc/irq/4/smp_affinity_list $G/cgroup.subtree_control; ls -d $G/whylate* 2>&1; }\n\
    state > before\n\
    /whylate run --isolated 1 --deadline 1ms:5ms:10ms -- sh -c 'chrt -p $$; grep Cpus_allowed_list /proc/self/status'\n\
    /whylate run --irq 'ttyS0=fifo:85@1' -- sh -c 'cat /proc/irq/4/smp_affinity_list; sleep 0.1'\n\
    state > after\n\
    cmp before after && echo restored\n\
    /whylate run --isolated 0-1 -- true || echo \"all CPUs: $?\"\n";

#[test]
fn what_is_outside_the_program_is_restored() {
    let Some(lab) = Lab::new() else { return };
    fs::write(lab.path("outside.sh"), OUTSIDE).expect("a script");
    let run = lab.run(&["--cpus", "2", "--no-record", "--file", "outside.sh", "--", "sh", "outside.sh"]);
    for line in ["SCHED_DEADLINE", "Cpus_allowed_list:\t1\n", "\n1\nrestored", "all CPUs: 125"] {
        assert!(run.stdout.contains(line), "{line}: {run:#?}");
    }
}
