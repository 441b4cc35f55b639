//! `whylate measure --stacks`: the line of the program that kept a measuring thread from its CPU.

use crate::support::answer::{answer, list};
use crate::support::run::whylate;
use crate::support::tracefs::Tracefs;
use serde_json::Value;
use std::fs;
use std::process::{Child, Command, Stdio};
use whylate_testing::{Need, skip};

/// Takes a CPU for 20 ms, ten times a second, before the measuring threads. It ends by itself.
const HOG: &str = r#"#define _GNU_SOURCE
#include <sched.h>
#include <time.h>
static volatile long sink;
static long now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}
__attribute__((noinline)) static void recalibrate(void) {
    long end = now_us() + 20000;
    while (now_us() < end)
        for (int i = 0; i < 20000; i++) sink += i; /* spins */
}
int main(void) {
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &cpus)) cpu++;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    struct sched_param param = {.sched_priority = 90};
    if (sched_setscheduler(0, SCHED_FIFO, &param) || sched_setaffinity(0, sizeof cpus, &cpus)) return 1;
    for (int i = 0; i < 300; i++) {
        struct timespec pause = {0, 80000000};
        nanosleep(&pause, 0);
        recalibrate();
    }
    return 0;
}
"#;

struct Hog(Child);

impl Drop for Hog {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_spike_names_the_line_that_had_its_cpu() {
    let Some(tracefs) = Tracefs::open() else { return };
    if !whylate_testing::has_program("cc") {
        return;
    }
    let before = tracefs.settings();
    let place = tempfile::tempdir().expect("a directory");
    let (source, program, run) =
        (place.path().join("hog.c"), place.path().join("hog"), place.path().join("run"));
    fs::write(&source, HOG).expect("written");
    let compiled = Command::new("cc").args(["-O2", "-g", "-o"]).arg(&program).arg(&source).status();
    assert!(compiled.expect("cc").success());
    let mut hog = Hog(Command::new(&program).stdout(Stdio::null()).spawn().expect("starts"));
    let cpu = whylate_sys::getaffinity(whylate_base::Tid(0)).expect("CPUs").iter().next().expect("one");
    let (cpu, kept) = (cpu.to_string(), run.to_string_lossy());
    let measured = whylate([
        "measure", "--stacks", "--json", "-d", "1s", "--worst", "8", "--cpus", &cpu, "--keep", &kept,
    ]);
    if hog.0.try_wait().expect("its status").is_some() {
        return skip(Need::Root, "the hog cannot be real-time");
    }
    drop(hog);
    assert_eq!(tracefs.settings(), before);
    let report: Value = serde_json::from_str(&measured.stdout).expect("a document");
    let notes = report["observer"].to_string();
    if notes.contains("no call stack was taken") || notes.contains("call stacks were lost") {
        return skip(Need::Machine, notes);
    }
    assert!(notes.contains("call stacks were taken on the measured CPUs"), "{notes}");
    let spins = HOG.lines().position(|line| line.contains("/* spins */")).expect("marked") + 1;
    let spikes = list(&report["spikes"]);
    let by_hog: Vec<_> =
        spikes.iter().filter(|spike| spike["activation"]["verdict"]["by"]["comm"] == "hog").collect();
    if by_hog.is_empty() {
        return skip(Need::Machine, format!("other threads had the CPU for longer: {spikes:#?}"));
    }
    // On a busy machine a spike may have no sample but that of the wake-up, in which the hog was elsewhere.
    let place = format!("it ran at hog.c:{spins} (`recalibrate`)");
    let why = |spike: &Value| spike["activation"]["verdict"]["why"].as_str().unwrap_or_default().to_owned();
    let named = by_hog.iter().find(|spike| why(spike).contains(&place));
    let worst =
        named.unwrap_or_else(|| panic!("{:?}", by_hog.iter().map(|spike| why(spike)).collect::<Vec<_>>()));

    // The kept window explains it again, beside whatever else it has of the thread.
    let file = run.join(worst["saved_as"].as_str().expect("kept"));
    let tid = worst["tid"].to_string();
    let explained = whylate(["explain", "--json", "--task", &tid, &file.to_string_lossy()]);
    let again = answer(&explained.stdout);
    let mut whys =
        list(&again["activations"]).iter().map(|activation| activation["verdict"]["why"].to_string());
    assert!(whys.any(|why| why.contains("(`recalibrate`)")), "{again:#}");
}

#[test]
fn call_stacks_need_a_trace() {
    let run = whylate(["measure", "--stacks", "--no-trace", "-d", "10ms"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("--no-trace"), "{run:#?}");
}
