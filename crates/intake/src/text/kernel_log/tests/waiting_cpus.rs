//! CPUs that a watchdog reports while they wait for another one, and reports that are not of one time.

use super::read;

/// A report of a soft lockup in a function.
fn lockup(seconds: u32, cpu: u32, function: &str, release: &str) -> String {
    format!(
        "[  {seconds}.1] watchdog: BUG: soft lockup - CPU#{cpu} stuck for 22s! [mill:{cpu}]\n\
         [  {seconds}.1] CPU: {cpu} PID: {cpu} Comm: mill Not tainted {release} #2\n\
         [  {seconds}.1] RIP: 0010:{function}+0x135/0x170\n[  {seconds}.1] Call Trace:\n[  {seconds}.1]  grind+0x40/0x50\n"
    )
}

const STANDSTILL: &str = "several CPUs at once, so it may be that the machine stood still";

#[test]
fn a_cpu_that_waits_for_an_answer_is_not_the_one_to_look_at() {
    let waits = "; there it only waits for another CPU to answer, and that CPU is the one to look at";
    let both =
        [lockup(96, 3, "smp_call_function_single", "6.1"), lockup(96, 8, "smp_call_function_single", "6.1")]
            .concat();
    let said = read(&both).to_string();
    assert!(
        said.ends_with(&format!(
            "the stack of mill (3) on CPU 3 is smp_call_function_single, called from grind{waits}; the stack of CPU 8 shows the same"
        )),
        "{said}"
    );
    assert!(!said.contains(STANDSTILL), "{said}");
    let silent = "[   90.1] watchdog: Watchdog detected hard LOCKUP on cpu 5\n";
    let said = read(&format!("{silent}{both}")).to_string();
    assert!(
        said.ends_with(
            "; CPU 5, which took no interrupts by line 1, is probably the one that does not answer"
        ),
        "{said}"
    );
}

#[test]
fn reports_of_several_times_or_boots_are_not_of_a_machine_that_stood_still() {
    let said = |one: String, other: String| read(&[one, other].concat()).to_string();
    let at = |seconds, cpu| lockup(seconds, cpu, "spin", "6.1");
    assert!(said(at(96, 3), at(97, 8)).contains(STANDSTILL));
    let far = said(at(96, 3), at(296, 8));
    assert!(!far.contains(STANDSTILL) && !far.contains("go back"), "{far}");
    let back = said(at(96, 3), at(90, 8));
    assert!(
        back.contains("; the times of the log go back between these reports, so they are not of one time")
    );
    let boot = format!("[    0.000000] Linux version 6.1\n{}", at(96, 8));
    assert!(!said(at(96, 3), boot).contains(STANDSTILL));
    let kernels = said(at(96, 3), lockup(97, 8, "spin", "6.2"));
    assert!(kernels.contains("with mill (8); these reports are of several kernels"), "{kernels}");
    assert!(!said(at(96, 3), lockup(97, 8, "queued_read_lock_slowpath", "6.1")).contains(STANDSTILL));
}
