//! What reports of lockups mean.

use super::*;

/// What the lines of a report mean, with what they show beside it.
fn read(text: &str) -> String {
    let (mut lockups, mut stacks) = (SoftLockups::default(), LoggedStacks::default());
    for line in text.lines() {
        let _ = lockups.line(line) || stacks.line(line);
    }
    let meaning = lockups.meaning(&stacks).unwrap_or_default();
    lockups.shown().into_iter().fold(meaning, |text, shown| format!("{text}; {shown}"))
}

#[test]
fn lockups_have_cpus_threads_and_seconds() {
    assert_eq!(SoftLockups::default().meaning(&LoggedStacks::default()), None);
    assert!(!SoftLockups::default().line("watchdog: BUG: soft lockup"));
    let first = "watchdog: BUG: soft lockup - CPU#2 stuck for 22s! [app:7]\n\
                 watchdog: BUG: soft lockup - CPU#2 stuck for 48s! [app:7]\nRIP: 0010:spin+0x1/0x2\n";
    let one = "CPU 2 stayed in the kernel for 48 s and switched to no other thread, while app (7) ran there (soft lockup)";
    assert_eq!(read(first), one);
    let second = "watchdog: BUG: soft lockup - CPU#3 stuck for 48s! [redis]\n";
    let both = format!(
        "{one}, and CPU 3 for 48 s with redis: several CPUs at once, so it may be that the machine stood still"
    );
    assert_eq!(read(&format!("{first}{second}")), both);
    let more: String = (4..=11)
        .map(|cpu| format!("watchdog: BUG: soft lockup - CPU#{cpu} stuck for 22s! [app:{cpu}]\n"))
        .collect();
    let many = read(&format!("{first}{second}{more}"));
    assert!(many.contains("CPU 9 for 22 s with app (9); the same is reported of CPUs 10 and 11"), "{many}");
}

#[test]
fn only_registers_and_stacks_of_the_kernel_show_that_a_cpu_was_in_it() {
    let head = "BUG: soft lockup - CPU#2 stuck for 22s! [app:7]\n";
    let not_shown = "CPU 2 did not run its watchdog for 22 s, while app (7) ran there (soft lockup); whether CPU 2 stayed in the \
                     kernel, served interrupts or stood still is not shown";
    assert_eq!(read(&format!("watchdog: {head}")), not_shown);
    let other_cpu = "NMI backtrace for cpu 1\nCPU: 1 PID: 9 Comm: b Not tainted\nRIP: 0010:spin+0x1/0x2\n";
    assert_eq!(read(&format!("watchdog: {head}{other_cpu}")), not_shown);
    let user = |kept: &str| {
        format!(
            "CPU 2 did not run its watchdog for 22 s, while app (7) ran there (soft lockup); the report interrupted user code, so \
             that the thread did not stay in the kernel: CPU 2 stood still, as one of a guest may, or interrupts{kept} kept it"
        )
    };
    let registers = "RIP: 0033:0x7f12\n";
    assert_eq!(read(&format!("watchdog: {head}{registers}")), user(""));
    // The watchdog was a thread.
    let thread = " or a thread of priority 99";
    assert_eq!(read(&format!("NMI watchdog: {head}{registers}")), user(thread));
    let version = |version: &str| format!("CPU: 2 PID: 7 Comm: app Tainted: G  W {version}\n");
    for (version, kept) in [(version("4.15.0-20-generic #21"), thread), (version("5.12.0"), "")] {
        assert_eq!(read(&format!("watchdog: {head}{version}{registers}")), user(kept));
    }
}

#[test]
fn what_had_the_cpu_is_that_of_its_utilization() {
    let report = |share: &str| {
        format!(
            "watchdog: BUG: soft lockup - CPU#2 stuck for 22s! [app:7]\nCPU#2 Utilization every 4s during lockup:\n#1: {share}\n"
        )
    };
    let said = read(&report("0% system, 0% softirq, 100% hardirq, 0% idle"));
    let start = "hard interrupts, one after another, kept CPU 2 with app (7) from its watchdog for 22 s (soft lockup); in the 4 s that";
    assert!(said.starts_with(start), "{said}");
    let said = read(&report("100% system, 0% softirq, 0% hardirq, 0% idle"));
    assert!(said.starts_with("CPU 2 stayed in the kernel for 22 s"), "{said}");
}

#[test]
fn hard_lockups_have_cpus() {
    for (message, cpus) in [
        ("Watchdog detected hard LOCKUP on cpu 3", &[3][..]),
        ("watchdog: CPU5: Watchdog detected hard LOCKUP on cpu 6", &[6]),
        ("watchdog: CPU 0 self-detected hard LOCKUP @ x+0x40/0x220", &[0]),
        ("NMI watchdog: Watchdog detected hard LOCKUP", &[]),
        ("watchdog: CPU 9 detected hard LOCKUP on other CPUs 2,4-5", &[2, 4, 5]),
        ("Watchdog CPU:9 detected Hard LOCKUP other CPUS:2", &[2]),
        ("Watchdog CPU:9 detected Hard LOCKUP other CPUS:", &[]),
        ("Watchdog CPU:2 Hard LOCKUP", &[2]),
        ("watchdog: CPU 2 Hard LOCKUP", &[2]),
    ] {
        assert_eq!(hard_lockup(message), cpus, "{message}");
    }
}
