//! Reports of which the first line is missing or stands elsewhere, and words that are no report.

use super::read;

const STACK: &str = "[  104.2] CPU: 7 PID: 88 Comm: mill Not\ntainted 6.9.0-rc4 #1\n[  104.2] RIP: 0010:grind+0x13/0x30\n\
                     [  104.2] Call Trace:\n[  104.2]  <IRQ>\n[  104.2]  ? watchdog_timer_fn+0x1e3/0x260\n\
                     [  104.2]  ? hrtimer_interrupt+0xff/0x240\n[  104.2]  </IRQ>\n[  104.2]  <TASK>\n\
                     [  104.2]  ? asm_sysvec_apic_timer_interrupt+0x16/0x20\n[  104.2]  ? grind+0x13/0x30\n[  104.2]  turn+0x6b/0xf0\n";

#[test]
fn a_report_without_its_first_line_is_that_of_its_cpu_and_thread() {
    let said = read(STACK).to_string();
    assert!(
        said.starts_with(
            "Its line 1 (\"CPU: 7 PID: 88 Comm: mill Not\") means that CPU 7 stayed in the kernel for 20 s or more and switched to no other \
             thread, while mill (88) ran there (soft lockup); the first line of a report of CPU 7 is missing"
        ),
        "{said}"
    );
    assert!(said.ends_with("the stack of mill (88) on CPU 7 is grind, called from turn"), "{said}");
    // The next report of the thread has its seconds.
    let next = "[  132.2] watchdog: BUG: soft lockup - CPU#7 stuck for 48s! [mill:88]\n";
    let said =
        read(&format!("I saw soft lockups in the mill code of the other one\n{STACK}{next}")).to_string();
    assert!(said.contains("CPU 7 stayed in the kernel for 48 s"), "{said}");
    assert!(said.ends_with("the stack of mill (88) on CPU 7 is grind, called from turn"), "{said}");
    // A message of another CPU stands above it.
    let other = "kernel:watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [mill:97]\n";
    let said = read(&format!("{other}{STACK}")).to_string();
    assert!(said.contains("CPU 3 did not run its watchdog for 26 s, while mill (97) ran there"), "{said}");
    assert!(said.contains(", and CPU 7 for 20 s or more with mill (88); whether CPU 3"), "{said}");
}

#[test]
fn the_fuller_report_of_a_list_has_the_stack() {
    let line = |time: &str, cpu: u32| {
        format!("{time}{cpu}.306796] NMI watchdog: Watchdog detected hard LOCKUP on cpu {cpu}\n")
    };
    let list: String = [22, 39, 41].map(|cpu| line("  21:40:57 >>> [47837", cpu)).concat();
    let report = "CPU: {} PID: 58 Comm: mill Tainted: G\nRIP: 0010:[<ffffffff81099fb1>]  [<ffffffff81099fb1>] spin+0xf1/0x160\n\
                  Call Trace:\n [<ffffffff81598060>] take+0x20/0x30\n";
    for (head, cpu) in [("  21:42:17 kernel: [47837", 22), ("  21:42:17 kernel: [47839", 50)] {
        let said =
            read(&format!("{list}{}{}", line(head, cpu), report.replace("{}", &cpu.to_string()))).to_string();
        let stack = format!("the stack of mill (58) on CPU {cpu} is spin, called from take");
        assert!(said.ends_with(&stack), "{said}");
    }
}

#[test]
fn an_item_of_a_list_mentions_a_message() {
    let item = "> > * kernel watchdog soft lockups [mill:36]\n";
    let said = read(item).to_string();
    assert!(said.contains("mentions a message of the kernel"), "{said}");
    let real = "[   63.8] watchdog: BUG: soft lockup - CPU#2 stuck for 22s! [mill:36]\n";
    let said = read(&format!("{item}{real}")).to_string();
    assert!(said.starts_with("Its line 2 (\"watchdog: BUG: soft lockup - CPU#2"), "{said}");
}
