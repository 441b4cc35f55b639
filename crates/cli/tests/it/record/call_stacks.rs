//! Call stacks of a program (`--stacks`).

use super::{files, place, record};
use crate::support::answer::{answer, list};
use crate::support::run::whylate;
use crate::support::tracefs::Tracefs;
use std::ffi::OsStr;
use std::fs;
use std::process::Command;
use whylate_testing::{Need, skip};

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
