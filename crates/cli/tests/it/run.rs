//! `whylate run`: what the program becomes, and the gate of each real refusal of the kernel.

use crate::support::answer::list;
use crate::support::rights::{has_realtime, is_root};
use crate::support::run::{Run, as_nobody, ended, whylate};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use whylate_testing::{Need, skip};

const WHYLATE: &str = env!("CARGO_BIN_EXE_whylate");

/// The program as `launcher` starts it.
fn under(launcher: &[&str], arguments: &[&str]) -> Run {
    let (program, before) = launcher.split_first().expect("a launcher");
    let mut command = Command::new(program);
    command.args(before).arg(WHYLATE).args(arguments).stdin(Stdio::null());
    ended(command.output().expect("the launcher starts"))
}

/// The gates that a dry run names.
fn gates(run: &Run) -> Vec<String> {
    let document: Value =
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"));
    list(&document["refused"])
        .iter()
        .map(|refused| refused["gate"].as_str().expect("a gate").to_owned())
        .collect()
}

const DRY_FIFO: [&str; 8] = ["run", "--dry-run", "--json", "--fifo", "50", "--force", "--", "true"];

#[test]
fn the_program_gets_policy_and_cpus_and_keeps_its_exit_code() {
    if !has_realtime() {
        return;
    }
    for (options, expected) in [
        (&["--fifo", "50"][..], "1 50 0"),
        (&["--rr", "7"], "2 7 0"),
        (&["--batch"], "3 0 0"),
        (&["--other", "3"], "0 0 0"),
    ] {
        let script = "read -r stat < /proc/self/stat; set -- ${stat##*) }; shift 37; echo $2 $1; \
            grep Cpus_allowed_list /proc/self/status; exit 42";
        let arguments = [&["run", "--cpus", "0", "--force"], options, &["--", "sh", "-c", script]].concat();
        let run = whylate(&arguments);
        assert_eq!(run.code, Some(42), "{run:#?}");
        let expected: Vec<&str> = expected.split(' ').collect();
        assert!(run.stdout.starts_with(&format!("{} {}\n", expected[0], expected[1])), "{run:#?}");
        assert!(run.stdout.ends_with(&format!(":\t{}\n", expected[2])), "{run:#?}");
    }
}

#[test]
fn its_own_failures_have_the_exit_codes_of_env() {
    for (arguments, code, words) in [
        (&["run", "--", "/no/such/program"][..], 127, "no such program"),
        (&["run", "--", "/etc/passwd"], 126, "not an executable file"),
        (&["run", "--fifo", "100", "--", "true"], 125, "1 to 99"),
        (&["run", "--rr", "0", "--", "true"], 125, "SCHED_RR takes a priority of 1 to 99"),
        (&["run", "--other", "20", "--", "true"], 125, "-20 to 19"),
        (&["run", "--deadline", "3ms:2ms:10ms", "--", "true"], 125, "RUNTIME <= DEADLINE"),
        (&["run", "--cpus", "8191", "--", "true"], 125, "no CPU 8191"),
        (&["run", "--fifo", "1", "--rr", "1", "--", "true"], 125, "cannot be used with"),
        (&["run", "--fifo", "1"], 125, "COMMAND"),
        (&["run", "--no-such", "--", "true"], 125, "--no-such"),
    ] {
        let run = whylate(arguments);
        assert_eq!(run.code, Some(code), "{run:#?}");
        assert!(run.stderr.contains(words), "{words}: {run:#?}");
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn a_limit_is_the_gate_of_a_user() {
    let Some(mut command) = as_nobody() else { return };
    let run = ended(command.args(DRY_FIFO).output().expect("it starts"));
    // A user of a machine for audio may have the limit.
    if run.code == Some(0) {
        return skip(Need::Machine, "a user without RLIMIT_RTPRIO");
    }
    assert_eq!((run.code, gates(&run)), (Some(125), vec!["rlimit-rtprio".to_owned()]), "{run:#?}");
    assert!(run.stdout.contains("Max realtime priority"), "{run:#?}");
}

#[test]
fn a_missing_capability_is_the_gate_of_a_reservation() {
    if !has_realtime() {
        return;
    }
    let launcher = ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"];
    let run = under(&launcher, &["run", "--dry-run", "--json", "--deadline", "1ms:5ms:10ms", "--", "true"]);
    assert_eq!(gates(&run), ["cap-sys-nice"], "{run:#?}");
}

#[test]
fn a_user_namespace_is_the_gate_of_its_root() {
    let namespace = Command::new("unshare").args(["-Ur", "true"]).output();
    if !is_root() || !namespace.is_ok_and(|output| output.status.success()) {
        return skip(Need::Root, "and user namespaces");
    }
    let run = under(&["unshare", "-Ur"], &DRY_FIFO);
    if run.code == Some(0) {
        return skip(Need::Machine, "a user without RLIMIT_RTPRIO");
    }
    assert_eq!(gates(&run), ["user-namespace"], "{run:#?}");
    assert!(run.stdout.contains("uid_map"), "{run:#?}");
}

/// A control group of version 1 without real-time runtime, as each new one is; removed in the end.
struct WithoutRuntime(&'static Path);

impl WithoutRuntime {
    fn make() -> Option<WithoutRuntime> {
        let path = Path::new("/sys/fs/cgroup/cpu/whylate-test-run");
        fs::create_dir(path).ok()?;
        let group = WithoutRuntime(path);
        path.join("cpu.rt_runtime_us").exists().then_some(group)
    }
}

impl Drop for WithoutRuntime {
    fn drop(&mut self) {
        let _ = fs::remove_dir(self.0);
    }
}

#[test]
fn a_group_without_runtime_is_the_gate_of_root() {
    if !has_realtime() {
        return;
    }
    let Some(group) = WithoutRuntime::make() else {
        return skip(Need::Machine, "cgroup v1 with CONFIG_RT_GROUP_SCHED");
    };
    let script = format!("echo $$ > {}/cgroup.procs && exec \"$0\" \"$@\"", group.0.display());
    let run = under(&["sh", "-c", &script], &DRY_FIFO);
    assert_eq!(gates(&run), ["rt-group"], "{run:#?}");
    assert!(run.stdout.contains("whylate-test-run/cpu.rt_runtime_us = 0"), "{run:#?}");
}

/// Installs a filter that refuses `sched_setattr(2)` and `sched_setscheduler(2)` with EPERM, as container runtimes do, and
/// becomes the rest of the command line (seccomp(2)).
const FILTER: &str = r#"
import ctypes, os, platform, struct, sys
numbers = {"x86_64": (314, 144), "aarch64": (274, 119)}[platform.machine()]
code = [(0x20, 0, 0, 0)]
code += [(0x15, len(numbers) - i, 0, nr) for i, nr in enumerate(numbers)]
code += [(0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, 0x00050001)]
program = b"".join(struct.pack("HBBI", *line) for line in code)
buffer = ctypes.create_string_buffer(program)
class Prog(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
prog = Prog(len(code), ctypes.addressof(buffer))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(prog), 0, 0) == 0, ctypes.get_errno()
os.execv(sys.argv[1], sys.argv[1:])
"#;

#[test]
fn a_filter_of_system_calls_is_the_gate() {
    let has_python = Command::new("python3").arg("--version").output().is_ok();
    if !has_python || !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return skip(Need::Program, "python3");
    }
    if !has_realtime() {
        return;
    }
    let run = under(&["python3", "-c", FILTER], &DRY_FIFO);
    assert_eq!(gates(&run), ["seccomp"], "{run:#?}");
}

/// Programs that sleep with a reservation; ended in the end.
struct Reserved(Vec<Child>);

impl Reserved {
    /// Starts another, and waits until it has become `sleep`, after its reservation, or was refused.
    fn hold(&mut self) {
        let mut command = Command::new(WHYLATE);
        let command = command.args(["run", "--deadline", "9ms:10ms:10ms", "--", "sleep", "60"]);
        let mut child = command.stderr(Stdio::null()).spawn().expect("it starts");
        let comm = format!("/proc/{}/comm", child.id());
        while fs::read_to_string(&comm).is_ok_and(|comm| comm != "sleep\n") {
            if child.try_wait().expect("a child").is_some() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        self.0.push(child);
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A dry run of a reservation of nine tenths of a CPU.
const RESERVE: [&str; 7] = ["run", "--dry-run", "--json", "--deadline", "9ms:10ms:10ms", "--", "true"];

#[test]
fn reservations_meet_admission_control() {
    if !has_realtime() {
        return;
    }
    if whylate(RESERVE).code != Some(0) {
        return skip(Need::Machine, "room for a SCHED_DEADLINE reservation");
    }
    let limit = fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us").unwrap_or_default();
    if limit.trim() == "-1" {
        return skip(Need::Machine, "SCHED_DEADLINE admission control");
    }
    let cpus = std::thread::available_parallelism().expect("CPUs").get();
    let mut reserved = Reserved(Vec::new());
    // Another test may have a reservation for a moment, so their number is not known beforehand.
    for _ in 0..=cpus + 1 {
        let run = whylate(RESERVE);
        if run.code != Some(0) {
            assert_eq!(gates(&run), ["deadline-admission"], "{run:#?}");
            assert!(run.stdout.contains("sleep:"), "{run:#?}");
            return;
        }
        reserved.hold();
    }
    panic!("{cpus} CPUs have admitted {} reservations of 90 % each", reserved.0.len());
}

#[test]
fn a_reservation_needs_its_root_domain() {
    if !has_realtime() {
        return;
    }
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let limit = fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us").unwrap_or_default();
    if online.trim() == "0" || limit.trim() == "-1" {
        return skip(Need::Machine, "two CPUs and admission control");
    }
    let small = ["--dry-run", "--json", "--deadline", "1ms:10ms:10ms", "--", "true"];
    let pinned = [&["run", "--cpus", "0"][..], &small].concat();
    assert_eq!(gates(&whylate(pinned)), ["root-domain"]);
    let inherited = [&["run"][..], &small].concat();
    assert_eq!(gates(&under(&["taskset", "-c", "0"], &inherited)), ["root-domain"]);
}

#[test]
fn a_dry_run_leaves_this_machine_as_it_is() {
    let run = whylate(["run", "--dry-run", "--json", "--other", "5", "--", "/no/such/program"]);
    assert_eq!((run.code, gates(&run)), (Some(125), vec!["program".to_owned()]));
    let run = whylate(["run", "--dry-run", "--", "sh", "-c", "echo started >&2"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:#?}");
}

/// Starts the program, and waits for the line `ready` of what it started.
fn started(arguments: &[&str]) -> Child {
    use std::io::{BufRead, BufReader};
    let mut command = Command::new(WHYLATE);
    let mut child = command.args(arguments).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    child
}

/// A rule for threads needs no right, and has this program stay as the parent.
const AS_PARENT: [&str; 4] = ["run", "--new-threads", "no-such-thread=idle", "--"];

#[test]
fn a_parent_passes_exit_codes_and_signals_on() {
    let with = |script: &str| whylate([&AS_PARENT[..], &["sh", "-c", script]].concat());
    assert_eq!(with("exit 42").code, Some(42));
    assert_eq!(with("kill -KILL $$").code, Some(128 + 9));
    assert_eq!(whylate([&AS_PARENT[..], &["/no/such/program"]].concat()).code, Some(127));
    assert_eq!(whylate([&AS_PARENT[..], &["/etc/passwd"]].concat()).code, Some(126));
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::USR1] {
        let script = "trap 'exit 9' TERM USR1; echo ready; while :; do sleep 0.01; done";
        let mut child = started(&[&AS_PARENT[..], &["sh", "-c", script]].concat());
        let pid = rustix::process::Pid::from_raw(child.id().cast_signed()).expect("a process");
        rustix::process::kill_process(pid, signal).expect("it runs");
        assert_eq!(child.wait().expect("it ends").code(), Some(9), "{signal:?}");
    }
}

#[test]
fn threads_get_their_setting_as_they_appear() {
    // The shell ends when the policy in field 41 of its child's stat is SCHED_BATCH.
    let script = "sleep 60 & child=$!; policy=0; until [ \"$policy\" = 3 ]; do read -r stat < /proc/$child/stat; \
        set -- ${stat##*) }; shift 38; policy=$1; done; kill $child";
    let rule = ["run", "--verbose", "--new-threads", "sleep=batch", "--", "sh", "-c", script];
    let run = whylate(rule);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stderr.contains("SCHED_BATCH nice 0"), "{run:#?}");
}

#[test]
fn running_threads_are_changed_or_left_as_they_are() {
    let mut child = Command::new("sleep").arg("60").spawn().expect("it starts");
    let pid = child.id().to_string();
    let policy = || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
        let fields = stat.rsplit_once(") ").expect("a name").1.split(' ').nth(38).map(str::to_owned);
        fields.expect("41 fields")
    };
    let changed = whylate(["run", "--json", "--pid", &pid, "--batch"]);
    assert_eq!((changed.code, policy().as_str()), (Some(0), "3"), "{changed:#?}");
    for (arguments, words) in [
        (&["--pid", &pid, "--idle", "--cpus", "8191"][..], "no CPU 8191"),
        (&["--pid", &pid, "--idle", "--task", "no-such-thread"], "no thread has this name"),
        (&["--pid", &pid, "--idle", "--user", "root"], "only a program that is started"),
        (&["--pid", &pid], "nothing is to be changed"),
        (&["--pid", "2147483647", "--idle"], "no such process"),
        (&["--task", "no-such-thread*", "--idle"], "no thread has this name"),
    ] {
        let run = whylate([&["run"][..], arguments].concat());
        assert_eq!((run.code, policy().as_str()), (Some(125), "3"), "{run:#?}");
        assert!(run.stderr.contains(words), "{words}: {run:#?}");
    }
    child.kill().and_then(|()| child.wait()).expect("it ends");
}

/// An interrupt of a device, and where it may go now, that can be moved.
fn movable_interrupt() -> Option<(String, String)> {
    if !is_root() {
        return None;
    }
    let irqs = fs::read_dir("/proc/irq").ok()?.flatten();
    let numbers = irqs.filter_map(|irq| irq.file_name().to_str()?.parse::<u32>().ok());
    let mut found = numbers.filter_map(|number| {
        let path = format!("/proc/irq/{number}/smp_affinity_list");
        let before = fs::read_to_string(&path).ok()?;
        let has_device =
            fs::read_dir(format!("/proc/irq/{number}")).ok()?.flatten().any(|e| e.path().is_dir());
        // Several CPUs: so one of them is a change.
        let is_movable = has_device && before.contains(['-', ',']) && fs::write(&path, &before).is_ok();
        is_movable.then(|| (number.to_string(), before.trim().to_owned()))
    });
    found.next()
}

#[test]
fn interrupts_are_restored_at_the_end_and_after_a_kill() {
    let Some((number, before)) = movable_interrupt() else {
        return skip(Need::Root, "and an interrupt that can be moved to one CPU of several");
    };
    let path = format!("/proc/irq/{number}/smp_affinity_list");
    let now = || fs::read_to_string(&path).expect("its CPUs").trim().to_owned();
    let cpu = before.split(['-', ',']).next().expect("a CPU").to_owned();
    let rule = format!("{number}=@{cpu}");
    let run = whylate(["run", "--irq", &rule, "--", "cat", &path]);
    assert_eq!((run.code, run.stdout.trim()), (Some(0), cpu.as_str()), "{run:#?}");
    assert_eq!(now(), before);
    let mut killed = started(&["run", "--irq", &rule, "--", "sh", "-c", "echo ready; exec sleep 1"]);
    killed.kill().and_then(|()| killed.wait()).expect("it is killed");
    assert_eq!(now(), cpu);
    let next = whylate(["run", "--verbose", "--new-threads", "none=idle", "--", "true"]);
    assert_eq!((next.code, now()), (Some(0), before), "{next:#?}");
    assert!(next.stderr.contains("restored 1 setting"), "{next:#?}");
}

#[test]
fn a_file_holds_options_and_the_command() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("run.toml");
    let with = |text: &str, arguments: &[&str]| {
        fs::write(&path, text).expect("written");
        let file = path.to_str().expect("a path");
        whylate([&["run", "--verbose", "--file", file], arguments].concat())
    };
    let run = with("batch = true\ncommand = [\"sh\", \"-c\", \"exit 42\"]\n", &[]);
    assert_eq!(run.code, Some(42), "{run:#?}");
    assert!(run.stderr.contains("SCHED_BATCH"), "{run:#?}");
    let run = with("batch = true\ncommand = [\"false\"]\n", &["--idle", "--", "true"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stderr.contains("SCHED_IDLE") && !run.stderr.contains("SCHED_BATCH"), "{run:#?}");
    for (text, words) in [("prio = 1", "no key of such a file"), ("fifo = 100", "1 to 99"), ("x", "TOML")] {
        let run = with(text, &["--", "true"]);
        assert_eq!(run.code, Some(125), "{run:#?}");
        assert!(run.stderr.contains(words), "{run:#?}");
    }
}

#[test]
fn memory_locks_are_refused_with_what_to_do() {
    for option in [&["--lock-memory"][..], &["--stack-prefault", "64K"]] {
        let run = whylate([&["run"][..], option, &["--", "true"]].concat());
        assert_eq!(run.code, Some(125), "{run:#?}");
        assert!(run.stderr.contains("--print-code"), "{run:#?}");
    }
}

#[test]
fn the_unit_is_one_that_systemd_reads() {
    let options =
        ["run", "--fifo", "80", "--cpus", "0", "--limit", "memlock=unlimited", "--timer-slack", "1us"];
    let command = ["--print-unit", "--", "/bin/sh", "-c", "echo \"$HOME\" 100%"];
    let run = whylate([&options[..], &command].concat());
    assert!(run.stdout.contains("CPUSchedulingPriority=80\nCPUAffinity=0\n"), "{run:#?}");
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("whylate-test.service");
    fs::write(&path, &run.stdout).expect("written");
    match Command::new("systemd-analyze").arg("verify").arg(&path).output() {
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(!errors.contains("whylate-test.service"), "{errors}");
        }
        Err(error) => skip(Need::Program, format_args!("systemd-analyze: {error}")),
    }
}

/// Prints the policy and the CPUs of the process that it is started by.
const SHOW: &str = "read -r stat < /proc/$1/stat; set -- $1 ${stat##*) }; grep Cpus_allowed_list /proc/$1/status; shift 39; echo $1";

#[test]
fn the_calls_do_what_a_run_does() {
    let options = ["run", "--batch", "--cpus", "0", "--timer-slack", "1us", "--stack-prefault", "64K"];
    let print = |language: &str| whylate([&options[..], &["--print-code", language]].concat()).stdout;
    let directory = tempfile::tempdir().expect("a directory");
    let shown = |output: Output| {
        assert!(output.status.success(), "{output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "Cpus_allowed_list:\t0\n3\n");
    };
    let main = format!(
        "#include <stdio.h>\nint main(void)\n{{\n    char pid[16];\n    snprintf(pid, sizeof pid, \"%d\", getpid());\n    \
         return become_realtime() || execlp(\"sh\", \"sh\", \"-c\", \"{SHOW}\", \"sh\", pid, NULL);\n}}\n"
    );
    let (source, program) = (directory.path().join("x.c"), directory.path().join("x"));
    fs::write(&source, format!("{}\n{main}", print("c"))).expect("written");
    let mut compiler = Command::new("cc");
    match compiler.args(["-Wall", "-Wextra", "-Werror", "-o"]).args([&program, &source]).output() {
        Ok(compiled) => {
            assert!(compiled.status.success(), "{compiled:?}");
            shown(Command::new(&program).output().expect("it runs"));
        }
        Err(error) => skip(Need::Program, format_args!("cc: {error}")),
    }
    let main = format!(
        "import os\nbecome_realtime()\nos.execlp('sh', 'sh', '-c', '{SHOW}', 'sh', str(os.getpid()))\n"
    );
    match Command::new("python3").arg("-c").arg(format!("{}\n{main}", print("python"))).output() {
        Ok(output) => shown(output),
        Err(error) => skip(Need::Program, format_args!("python3: {error}")),
    }
}
