//! Logs that have messages more than once, or in the words of an author.

use super::read;

#[test]
fn what_a_console_prints_twice_is_counted_once() {
    let line = |time: u32| {
        let whole = format!("[   90.{time:06}][    C0] sched: RT throttling activated\n");
        format!("{whole}{whole}")
    };
    let twice = read(&format!("{}{}", line(100_001), line(300_002))).to_string();
    assert!(
        twice.starts_with("Its line 1 (\"sched: RT throttling activated\", the first of 2) means"),
        "{twice}"
    );
    let hung = "[   95.100000][  T1] INFO: task app:70 blocked for more than\n120 seconds.\n";
    let hung = read(&format!("{hung}{hung}")).to_string();
    assert!(hung.starts_with("Its line 1 (\"INFO: task app:70 blocked for more than\") means"), "{hung}");
}

#[test]
fn what_a_mail_quotes_of_its_attachment_is_counted_once() {
    let lines = "[ 12.000001] sched: RT throttling activated\n[ 14.000002] sched: RT throttling activated\n";
    let quoted: String = lines.lines().map(|line| format!("> {line}\n")).collect();
    let said =
        read(&format!("Subject: Re: sched: RT throttling activated on my board\n{quoted}So I see.\n{lines}"));
    let said = said.to_string();
    assert!(
        said.starts_with("Its line 2 (\"sched: RT throttling activated\", the first of 2) means"),
        "{said}"
    );
    let crashed = read(
        "[ 9.000001] Kernel panic - not syncing: Fatal exception\n[ 9.000002] ---[ end Kernel panic - not syncing: Fatal exception ]---\n",
    );
    assert!(
        crashed.to_string().starts_with("Its line 1 (\"Kernel panic - not syncing: Fatal exception\") means")
    );
    // The text has only the end of the report.
    let end = read("[ 9.000002] ---[ end Kernel panic - not syncing: Fatal exception ]---\n").to_string();
    assert!(end.contains("the kernel crashed"), "{end}");
}

#[test]
fn the_stack_of_a_message_may_stand_in_the_attachment_alone() {
    let head = "[ 12.000001] watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [app:70]\n";
    let far = "some words of the author\n".repeat(80);
    let said = read(&format!("> {head}{far}{head}[ 12.000002] RIP: 0010:spin_on+0x1/0x2\n")).to_string();
    assert!(
        said.starts_with("Its line 1 (\"watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [app:70]\") means"),
        "{said}"
    );
    assert!(said.ends_with("the stack below it is spin_on"), "{said}");
}

#[test]
fn prose_is_no_message_beside_those_of_the_log() {
    let log = "[ 62.000001] watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [app:70]\n";
    let prose = "soft lockup at boot, then timeouts\n";
    for text in [format!("Subject: soft lockup on 6.1\n{prose}{log}"), format!("\n\n{log}{prose}")] {
        let said = read(&text).to_string();
        assert!(
            said.starts_with(
                "Its line 3 (\"watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [app:70]\") means"
            ),
            "{said}"
        );
    }
    // The idle thread has a meaning of its own.
    let idle = read(
        "soft lockup at boot\n[ 62.000001] watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [swapper/1:0]\n",
    );
    assert!(idle.to_string().starts_with("Its line 2 (\"watchdog: BUG: soft lockup"), "{idle}");
    // A log without stamps has no others.
    let bare = read("INFO: rcu_sched self-detected stall on CPU\n 1-....: (9 ticks this GP) idle=1/2/0\n")
        .to_string();
    assert!(bare.contains("CPU 1 gave RCU no quiescent state"), "{bare}");
}

#[test]
fn a_headline_hides_no_stack_below() {
    let trace = "Call Trace:\n spin+0x1/0x2\n caller+0x1/0x2\n";
    let prose = "I think so, too.\n".repeat(10);
    let headline = ">> [  900.100000] watchdog: BUG: soft lockup - CPU#2 stuck for 23s! [app:7]\n";
    let whole = |time: &str, cpu: u32| {
        let lockup = format!("[  {time}] watchdog: BUG: soft lockup - CPU#{cpu} stuck for 23s! [app:7]\n");
        format!("{lockup}CPU: {cpu} PID: 7 Comm: app Not tainted 5.10.1\n{trace}")
    };
    for text in [whole("900.100000", 2), whole("928.100000", 2), whole("929.100000", 3)] {
        let said = read(&format!("{headline}{prose}{text}")).to_string();
        assert!(said.contains("is spin, called from caller"), "{said}");
    }
    let crash = "Internal error: Oops - BUG: 0 [#0] SMP\nkernel BUG at a.c:9!\nInternal error: Oops - BUG: 0 [#1] SMP\n";
    let said = read(&format!("{crash}{trace}")).to_string();
    assert!(said.contains("is spin, called from caller"), "{said}");
    // Of several hung tasks, the one that was quoted is not the first below.
    let task = |at: u32, pid: u32| {
        format!(
            "[  900.10000{at}] INFO: task app:{pid} blocked for more than 122 seconds.\n[  900.20000{at}] task:app  state:D stack:0 pid:{pid}\n"
        )
    };
    let stack = |name: &str| format!("Call Trace:\n {name}+0x1/0x2\n");
    let quoted: String = task(2, 8).lines().map(|line| format!("> {line}\n")).collect();
    let log = format!("{quoted}{prose}{}{}{}{}", task(1, 7), stack("first"), task(2, 8), stack("second"));
    let said = read(&log).to_string();
    assert!(said.contains("the stack of app (8) is second"), "{said}");
}

#[test]
fn reports_that_show_the_same_are_described_once() {
    let stall = |time: u32, cpu: u32| {
        format!(
            "[ {time}.300001] rcu: INFO: rcu_sched detected stalls on CPUs/tasks:\n[ {time}.300002] rcu:     {cpu}-...0: (135 ticks this GP) idle=2/1/0x4\n"
        )
    };
    let starved = "[ 500.1] rcu: rcu_sched kthread starved for 1424 jiffies! g9 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x402 ->cpu=2\n";
    let text = format!("{}{}{}{}{starved}", stall(100, 6), stall(160, 6), stall(220, 6), stall(280, 7));
    let said = read(&text).to_string();
    assert_eq!(said.matches("CPU 6 gave RCU no quiescent state").count(), 1, "{said}");
    assert!(
        said.contains("; lines 3 and 5 report the same. Line 7 means that RCU's own thread rcu_sched"),
        "{said}"
    );
}
