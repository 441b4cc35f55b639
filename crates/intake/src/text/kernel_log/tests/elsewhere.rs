//! Stacks that are of another report than the one beside them.

use super::read;

const LOCKUP: &str = "[  900.100000] watchdog: BUG: soft lockup - CPU#2 stuck for 23s! [migration/2:20]\n";
const TRACE: &str = "Call Trace:\n spin+0x1/0x2\n caller+0x1/0x2\n";

/// What the log shows is in the stack `spin`.
fn shows_it(text: &str) -> bool {
    read(text).to_string().contains("spin, called from caller")
}

#[test]
fn a_soft_lockup_has_no_stack_of_another_cpu() {
    let of_cpu =
        |cpu: u32| format!("{LOCKUP}CPU: {cpu} PID: 20 Comm: migration/2 Not tainted 5.10.1\n{TRACE}");
    assert!(shows_it(&of_cpu(2)));
    assert!(!shows_it(&of_cpu(3)));
}

#[test]
fn a_warning_is_a_report_of_its_own() {
    let warning = |end: &str| {
        format!("------------[ cut here ]------------\nWARNING: at fs/a.c:1 spin+0x1/0x2\n{TRACE}{end}")
    };
    let whole = warning("---[ end trace 12ab ]---\n");
    assert!(!shows_it(&format!("{LOCKUP}{whole}")));
    assert!(shows_it(&format!("{LOCKUP}{whole}{TRACE}")));
    for above in [whole.as_str(), &warning(""), &format!("{TRACE}---[ end trace 12ab ]---\n")] {
        assert!(!shows_it(&format!("{above}{LOCKUP}")), "{above}");
    }
    assert!(shows_it(&format!("{TRACE}{LOCKUP}")));
    // The message that stands between the mark and the stack is what the report is of.
    let queue =
        "------------[ cut here ]------------\nNETDEV WATCHDOG: eth0 (drv): transmit queue 0 timed out\n";
    assert!(shows_it(&format!("{queue}WARNING: CPU: 0 PID: 0 at net/a.c:1 dev_watchdog+0x1/0x2\n{TRACE}")));
}

#[test]
fn a_stack_of_another_time_is_of_another_boot() {
    let stamped = |seconds: u32| -> String {
        TRACE.lines().map(|line| format!("[  {seconds}.200000] {line}\n")).collect()
    };
    assert!(shows_it(&format!("{LOCKUP}{}", stamped(900))));
    assert!(!shows_it(&format!("{LOCKUP}{}", stamped(400))));
}

#[test]
fn the_end_of_a_report_far_above_is_of_another_one() {
    let between = "a line of the boot\n".repeat(80);
    assert!(!shows_it(&format!("{TRACE}{between}{LOCKUP}")));
    assert!(!shows_it(&format!("CPU: 3 PID: 9 Comm: app Not tainted 5.10.1\n{TRACE}{LOCKUP}")));
}

const STALL: &str = "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:\n";

#[test]
fn tabs_that_a_logger_escapes_are_not_of_the_cpus_number() {
    for tab in ["\t", "#011", "\\x09", "\\t"] {
        let said = read(&format!(
            "{STALL}rcu: {tab}6-...0: (1 GPs behind) idle=d7ec/1/0x4000000000000002\nrcu: {tab}13-....: (4 GPs behind) idle=1/1/0x4\n\
             rcu: {tab}(detected by 2, t=21002 jiffies, g=77, q=5 ncpus=16)\n"
        ))
        .to_string();
        assert!(said.contains("CPUs 6 and 13 gave RCU no quiescent state for 21002 jiffies"), "{said}");
        assert!(said.contains("CPU 6 did not take an interrupt"), "{said}");
    }
}

const LOCKS: &str = "================\nWARNING: inconsistent lock state\n6.5.2 #1 Not tainted\n\
                     inconsistent {INITIAL USE} -> {IN-NMI} usage.\n{INITIAL USE} state was registered at:\n  take_lock+0x1/0x2\n  boot_step+0x1/0x2\n\
                     4 locks held by mill/77:\n #0: ffff (&port->mutex){+.+.}, at: open_port+0x1/0x2\n";

#[test]
fn a_report_about_locks_within_the_backtrace_of_a_cpu_leaves_the_stack_to_that() {
    let head = format!(
        "{STALL}\t1-...!: (0 ticks this GP) idle=1a34/1/0x40000000\n\t(detected by 0, t=21002 jiffies, g=7, q=1 ncpus=2)\n\
         Sending NMI from CPU 0 to CPUs 1:\nNMI backtrace for cpu 1\n"
    );
    let stack = "CPU: 1 PID: 77 Comm: mill Not tainted 6.5.2 #1\nCall Trace:\n <NMI>\n dump_stack_lvl+0x1/0x2\n print_usage_bug+0x1/0x2\n\
                 nmi_cpu_backtrace+0x1/0x2\n exc_nmi+0x1/0x2\n asm_exc_nmi+0x1/0x2\n </NMI>\n <TASK>\n spin+0x1/0x2\n caller+0x1/0x2\n";
    let said = read(&format!("{head}{LOCKS}stack backtrace:\n{stack}")).to_string();
    assert!(said.contains("mill (77) ran on CPU 1, in spin, called from caller"), "{said}");
    assert!(
        said.contains("means that a lock is taken both in an interrupt") && !said.contains("take_lock"),
        "{said}"
    );
    // Where the backtrace itself is shown before, the report is one of its own.
    let said = read(&format!("{head}{stack}{LOCKS}")).to_string();
    assert!(said.contains("mill (77) ran on CPU 1, in spin, called from caller"), "{said}");
}

#[test]
fn the_stack_of_a_report_about_locks_is_that_of_its_thread() {
    let own = "stack backtrace:\nCPU: 1 PID: 77 Comm: mill Not tainted 6.5.2 #1\nCall Trace:\n dump_stack+0x1/0x2\n print_usage_bug+0x1/0x2\n\
               lock_acquire+0x1/0x2\n spin+0x1/0x2\n caller+0x1/0x2\n";
    let said = read(&format!("{LOCKS}{own}")).to_string();
    assert!(said.ends_with("the stack of mill (77) on CPU 1 is spin, called from caller"), "{said}");
    let said = read(LOCKS).to_string();
    assert!(!said.contains("stack"), "{said}");
}

#[test]
fn where_the_memory_of_a_register_comes_from_is_no_caller() {
    let oops = |registers: &str| {
        read(&format!(
            "Unable to handle kernel paging request at virtual address e0da6244\nCPU: 1 PID: 77 Comm: mill Not tainted 6.5.2 #1\n\
             PC is at __schedule+0x2/0x6\nLR is at __schedule+0x1/0x6\n{registers}Process mill (pid: 77, stack limit = 0x0)\n\
             \u{20}__schedule from schedule+0x1/0x2\n schedule from do_nap+0x1/0x2\n"
        ))
        .to_string()
    };
    let register = "Register r3 information: 2-page vmalloc region starting at 0xe0da4000 allocated at make_thread+0xb/0x3\n";
    for text in [oops(""), oops(register)] {
        assert!(
            text.ends_with("the stack of mill (77) on CPU 1 is __schedule, called from do_nap"),
            "{text}"
        );
    }
}
