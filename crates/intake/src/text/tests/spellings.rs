//! Each event in each way a kernel or trace-cmd prints it.

use super::*;

fn signal(sig: i32, code: i32, tid: i32, comm: &str) -> whylate_events::Signal {
    whylate_events::Signal { sig, code, tid: Tid(tid), comm: Comm::from(comm) }
}

fn wake(comm: &str, tid: i32, prio: i32, cpu: u32) -> Wake {
    Wake { comm: Comm::from(comm), tid: Tid(tid), prio: Priority(prio), target_cpu: Cpu(cpu) }
}

fn switch(prev: (&str, i32, i32), prev_state: TaskState, next: (&str, i32, i32)) -> EventKind {
    Switch(whylate_events::Switch {
        prev_comm: Comm::from(prev.0),
        prev_tid: Tid(prev.1),
        prev_prio: Priority(prev.2),
        prev_state,
        next_comm: Comm::from(next.0),
        next_tid: Tid(next.1),
        next_prio: Priority(next.2),
    })
}

#[test]
fn every_event_in_every_spelling() {
    use TaskState::*;
    let timer = |function: &str| {
        HrtimerStart(whylate_events::HrtimerStart {
            hrtimer: 0xffff4a20be78e240,
            function: function.into(),
            expires: Ns(255607970000000),
            softexpires: Ns(255607960000000),
        })
    };
    let expiry = |function: &str| {
        HrtimerExpire(HrtimerExpiry {
            hrtimer: 0x8f0f0672,
            function: function.into(),
            now: Ns(1310780020098),
        })
    };
    let syscall = |nr, args| SyscallEnter(Syscall { nr, args });
    for (body, expected) in [
        (
            "sched_switch: a:1 [98] R ==> ksoftirqd/4:62 [120]",
            switch(("a", 1, 98), Runnable, ("ksoftirqd/4", 62, 120)),
        ),
        (
            "sched_switch: a:b:1 [-1] D|K ==> x ==> y:62 [0]",
            switch(("a:b", 1, -1), Uninterruptible, ("x ==> y", 62, 0)),
        ),
        (
            "sched_switch: a:1 [120] S ==> b:2 [49] CPU:001",
            switch(("a", 1, 120), Interruptible, ("b", 2, 49)),
        ),
        (
            "sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=b c next_pid=14 next_prio=-1",
            switch(("swapper/0", 0, 120), Runnable, ("b c", 14, -1)),
        ),
        (
            "sched_switch: prev_comm=x prev_pid=9 prev_pid=3 prev_prio=98 prev_state=R+ ==> next_comm=a next_comm=b next_pid=4 next_prio=0",
            switch(("x prev_pid=9", 3, 98), Preempted, ("a next_comm=b", 4, 0)),
        ),
        (
            "sched_switch: prev_comm=a next_comm=z prev_pid=3 prev_prio=98 prev_state=I ==> next_comm=b next_pid=4 next_prio=0 extra=1",
            switch(("a next_comm=z", 3, 98), Idle, ("b", 4, 0)),
        ),
        (
            "sched_switch: prev_comm=sh prev_pid=1 prev_prio=120 prev_state=64 next_comm=swapper/6 next_pid=0 next_prio=120",
            switch(("sh", 1, 120), Dead, ("swapper/6", 0, 120)),
        ),
        (
            "sched_switch: [FAILED TO PARSE] prev_comm=sh prev_pid=1 prev_prio=0x78 prev_state=0x100 next_comm=b next_pid=2 next_prio=120",
            switch(("sh", 1, 120), Preempted, ("b", 2, 120)),
        ),
        (
            "sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=R 0x0 ==> next_comm=b next_pid=2 next_prio=9",
            switch(("a", 1, 120), Runnable, ("b", 2, 9)),
        ),
        (
            "sched_switch: prev_comm=fio prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/11 nex",
            switch(("fio", 7, 120), Interruptible, ("swapper/11", 0, 120)),
        ),
        (
            "1456:  0:S ==> [001]   12905: 19:R cyclictest",
            switch(("comm", 1456, 0), Interruptible, ("cyclictest", 12905, 19)),
        ),
        (
            "12898:120:R   + [001]   12905: 19:R two words",
            Wakeup { wake: wake("two words", 12905, 19, 1), new: false },
        ),
        (
            "context_switch:  1456:0:1  ==> 12905:19:0 [003]",
            switch(("comm", 1456, 0), Interruptible, ("", 12905, 19)),
        ),
        ("wakeup: 12898:120:0  ==+ 12905:19:0 [003]", Wakeup { wake: wake("", 12905, 19, 3), new: false }),
        ("sched_waking: comm=rtload pid=105 prio=49 target_cpu=001", Waking(wake("rtload", 105, 49, 1))),
        (
            "sched_waking: comm=a pid=9 pid=105 prio=49 success=1 target_cpu=011",
            Waking(wake("a pid=9", 105, 49, 11)),
        ),
        ("sched_wakeup: rtload:105 [49] CPU:001", Wakeup { wake: wake("rtload", 105, 49, 1), new: false }),
        (
            "sched_wakeup: a:b c:105 [-1] success=1 CPU:001",
            Wakeup { wake: wake("a:b c", 105, -1, 1), new: false },
        ),
        (
            "sched_wakeup: comm= pid=105 prio=49 target_cpu=001",
            Wakeup { wake: wake("", 105, 49, 1), new: false },
        ),
        (
            "sched_wakeup_new:      comm=shutils pid=19428 prio=120 success=1 target_cpu=2",
            Wakeup { wake: wake("shutils", 19428, 120, 2), new: true },
        ),
        (
            "sched_migrate_task: comm=a b pid=12662 prio=120 orig_cpu=1 dest_cpu=0",
            Migrate { tid: Tid(12662), from: Cpu(1), to: Cpu(0) },
        ),
        (
            "sched_process_fork: comm=bash pid=12657 child_comm=ba sh child_pid=12660",
            Fork { parent: Tid(12657), child: Tid(12660), comm: "ba sh".into() },
        ),
        (
            "sched_process_fork: parent_comm=bash parent_pid=12657 child_comm=bash child_pid=12660",
            Fork { parent: Tid(12657), child: Tid(12660), comm: "bash".into() },
        ),
        ("sched_process_exec: filename=/a b/cat pid=12 old_pid=13", Exec { old: Tid(13), tid: Tid(12) }),
        ("sched_process_exit: comm=cat pid=12660 prio=120 group_dead=true", Exit { tid: Tid(12660) }),
        (
            "sched_pi_setprio: comm=low pid=7 oldprio=120 newprio=-1",
            PiSetprio { tid: Tid(7), old: Priority(120), new: Priority(-1) },
        ),
        (
            "sched_blocked_reason: pid=7 iowait=1 caller=folio_wait_bit_common+0x1b0/0x2c0",
            EventKind::BlockedReason(whylate_events::BlockedReason {
                tid: Tid(7),
                io_wait: true,
                caller: "folio_wait_bit_common".into(),
            }),
        ),
        (
            "sched_blocked_reason: pid=7 iowait=0 caller=msm_hw_wait+0x5/0x9 [msm_drm] delay=120",
            EventKind::BlockedReason(whylate_events::BlockedReason {
                tid: Tid(7),
                io_wait: false,
                caller: "msm_hw_wait".into(),
            }),
        ),
        ("irq_handler_entry: irq=10 name=arch_timer", IrqEntry { irq: 10, name: "arch_timer".into() }),
        ("irq_handler_entry: irq=36 name=two words", IrqEntry { irq: 36, name: "two words".into() }),
        ("irq_handler_exit: irq=10 ret=handled", IrqExit { irq: 10 }),
        ("local_timer_entry: vector=236", VectorEntry { name: "local_timer".into() }),
        ("call_function_single_exit: vector=251", VectorExit { name: "call_function_single".into() }),
        ("softirq_raise:         vec=1", SoftirqRaise { vec: 1 }),
        ("softirq_entry: vec=7 [action=SCHED]", SoftirqEntry { vec: 7 }),
        ("softirq_exit: vec=9 [action=RCU]", SoftirqExit { vec: 9 }),
        (
            "hrtimer_start: hrtimer=0xffff4a20be78e240 function=tick_sched_timer/0x0 expires=255607970000000 softexpires=255607960000000",
            timer("tick_sched_timer"),
        ),
        (
            "hrtimer_start: hrtimer=ffff4a20be78e240 function=0xffffffff92968830 expires=255607970000000 softexpires=255607960000000 mode=ABS was_armed=0",
            timer(""),
        ),
        ("hrtimer_cancel: hrtimer=00000000dc287626", HrtimerCancel { hrtimer: 0xdc287626 }),
        ("hrtimer_expire_entry: hrtimer=000000008f0f0672 function=f+0x0/0x30 now=1310780020098", expiry("f")),
        ("hrtimer_expire_entry: hrtimer=0x8f0f0672 now=1310780020098 function=f/0x0", expiry("f")),
        ("hrtimer_expire_exit: hrtimer=0x10", HrtimerExpireExit { hrtimer: 0x10 }),
        (
            "timer_expire_entry: timer=0x10 function=process_timeout now=4295219940 baseclk=4295219940",
            TimerExpire { timer: 0x10, function: "process_timeout".into() },
        ),
        ("timer_expire_exit: timer=000000002191923e", TimerExpireExit { timer: 0x2191923e }),
        (
            "sys_enter: NR 33 (b, 1, 560e9cba49bc, 0, 7, ffffffffffffff80)",
            syscall(33, [11, 1, 0x560e9cba49bc, 0, 7, u64::MAX - 127]),
        ),
        ("sys_enter: NR -1 (0, 0, 0, 0, 0, 0)", syscall(-1, [0; 6])),
        (
            "sys_enter: id=33 args=ARRAY[0b, 00, 00, 00, 01, 00, 00, 00, 00, 01, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, ff, ff, ff, ff]",
            syscall(33, [11, 1, 256, 0, 0, 0xffff_ffff]),
        ),
        (
            "sys_enter_futex: __syscall_nr=202 uaddr=0x7f00 op=0x80 val=-1",
            syscall(202, [0x7f00, 0x80, u64::MAX, 0, 0, 0]),
        ),
        ("sys_exit: NR 230 = -516", SyscallExit(SyscallReturn { nr: 230, ret: -516 })),
        ("sys_exit: id=230 ret=0xfffffffffffffffc", SyscallExit(SyscallReturn { nr: 230, ret: -4 })),
        (
            "sys_exit_futex: __syscall_nr=202 ret=0xffffffffffffff92",
            SyscallExit(SyscallReturn { nr: 202, ret: -110 }),
        ),
        // tracefs' own lines: hexadecimal, of later kernels with a sign of it.
        ("sys_futex(uaddr: 7f00, op: 80, val: 0)", syscall(202, [0x7f00, 0x80, 0, 0, 0, 0])),
        (
            "sys_clock_nanosleep(which_clock: 1, flags: 1, rqtp: 0x7ffe00, rmtp: 0)",
            syscall(230, [1, 1, 0x7ffe00, 0, 0, 0]),
        ),
        (
            "sys_openat(dfd: 0xffffff9c, filename: 0x7f00 \"/etc/a <- b\", flags: 0x80000, mode: 0)",
            syscall(257, [0xffff_ff9c, 0x7f00, 0x80000, 0, 0, 0]),
        ),
        ("sys_sched_yield()", syscall(24, [0; 6])),
        ("sys_futex -> 0xffffffffffffff92", SyscallExit(SyscallReturn { nr: 202, ret: -110 })),
        ("sys_read -> 0x1f", SyscallExit(SyscallReturn { nr: 0, ret: 31 })),
        ("sys_no_such_call(a: 1)", EventKind::Other),
        ("sys_futex(uaddr: 7f00, op:", EventKind::Other),
        // trace-cmd's.
        (
            "sys_enter_futex: op=FUTEX_WAIT|FUTEX_PRIVATE_FLAG uaddr=0x7f00 val=0x2 utime=0x00000010",
            syscall(202, [0x7f00, 0x80, 2, 0x10, 0, 0]),
        ),
        (
            "sys_enter_clock_nanosleep: which_clock: 0x00000001, flags: 0x00000001, rqtp: 0x7ffe00, rmtp: 0x00000000",
            syscall(230, [1, 1, 0x7ffe00, 0, 0, 0]),
        ),
        ("sys_exit_futex: 0xffffffffffffff92", SyscallExit(SyscallReturn { nr: 202, ret: -110 })),
        ("sys_exit_futex: later", EventKind::Other),
        (
            "page_fault_user: address=0x7ffe29c3a7c8 ip=0x7f4c2022f08e error_code=0x7",
            PageFault(whylate_events::PageFault {
                address: 0x7ffe29c3a7c8,
                ip: 0x7f4c2022f08e,
                user: true,
                error_code: 7,
            }),
        ),
        (
            "page_fault_kernel: address=0x7f4c20158a10 ip=__put_user_4 error_code=0x3",
            PageFault(whylate_events::PageFault {
                address: 0x7f4c20158a10,
                ip: 0,
                user: false,
                error_code: 3,
            }),
        ),
        (
            "contention_begin: 0000000073b18ad9 (flags=SPIN|READ)",
            ContentionBegin { lock: 0x73b18ad9, flags: ContentionFlags(3) },
        ),
        (
            "contention_begin: lock_addr=0x10 flags=0x8",
            ContentionBegin { lock: 0x10, flags: ContentionFlags(ContentionFlags::RT) },
        ),
        ("contention_end: 0000000073b18ad9 (ret=-4)", ContentionEnd { lock: 0x73b18ad9, ret: -4 }),
        ("contention_end: lock_addr=0x10 ret=4294967292", ContentionEnd { lock: 0x10, ret: -4 }),
        ("cpu_idle: state=1 cpu_id=0", CpuIdle { state: Some(1) }),
        ("cpu_idle:             state=4294967295 cpu_id=5", CpuIdle { state: None }),
        ("nmi_handler: perf_event_nmi_handler() delta_ns: 5290 handled: 1", Nmi { delta: Ns(5290) }),
        ("nmi_handler: handler=0xff delta_ns=5290 handled=1", Nmi { delta: Ns(5290) }),
        (
            "signal_generate: sig=9 errno=0 code=128 comm=a pid=3 b pid=17 grp=1 res=0",
            Signal(signal(9, 128, 17, "a pid=3 b")),
        ),
        (
            "signal_generate:      sig=17 errno=0 code=-6 comm=x pid=4 grp=0 res=0",
            Signal(signal(17, -6, 4, "x")),
        ),
        ("tracing_mark_write: hello: a <- marker", Marker("hello: a <- marker".into())),
        ("print:  tracing_mark_write: whylate: workload 7", Marker("whylate: workload 7".into())),
        ("print: ip=0xffffffff buf=hello there", Marker("hello there".into())),
        (
            "finish_task_switch.isra.0 <-__schedule",
            Function { name: "finish_task_switch.isra.0".into(), caller: "__schedule".into() },
        ),
        ("ext4_map [ext4] <-x", Function { name: "ext4_map [ext4]".into(), caller: "x".into() }),
        (
            "function:             schedule <-- do_nanosleep",
            Function { name: "schedule".into(), caller: "do_nanosleep".into() },
        ),
        ("function: ip=0xff parent_ip=0xfe", Function { name: "".into(), caller: "".into() }),
        ("rcu_dyntick: Start 1 0 0xacc", EventKind::Other),
        ("ipi_entry: (Rescheduling interrupts)", EventKind::Other),
        ("bprint:  some_function: formatted", EventKind::Other),
    ] {
        let event = one(&format!("  comm-5  [001] d..1. 12.5: {body}"));
        assert_eq!(event.kind, expected, "{body}");
        assert_eq!((event.cpu, event.context.tid), (Cpu(1), Tid(5)));
    }
}

#[test]
fn states_by_letter_and_by_bit() {
    use TaskState::*;
    for (state, expected) in [
        ("R", Runnable),
        ("R+", Preempted),
        ("S", Interruptible),
        ("D", Uninterruptible),
        ("D|K", Uninterruptible),
        ("D|N", Idle),
        ("I", Idle),
        ("W", Idle),
        ("X", Dead),
        ("Z", Dead),
        ("x", Dead),
        ("T", Stopped),
        ("t", Traced),
        ("P", Other),
        ("S|D+", Preempted),
        ("0", Runnable),
        ("1", Interruptible),
        ("2", Uninterruptible),
        ("130", Uninterruptible),
        ("128", Idle),
        ("1026", Idle),
        ("256", Preempted),
        ("1024", Preempted),
        ("16", Dead),
        ("4", Stopped),
        ("8", Traced),
    ] {
        let event = one(&format!("a-1 [000] 1.5: sched_switch: a:1 [120] {state} ==> b:2 [120]"));
        assert_eq!(event.kind, switch(("a", 1, 120), expected, ("b", 2, 120)), "{state}");
    }
}

#[test]
fn a_calls_number_is_that_of_the_machine() {
    for (machine, nr) in [("x86_64", Some(202)), ("aarch64", Some(98)), ("armv7l", None)] {
        let (events, info) = all(&format!("# whylate: machine={machine}\na-1 [000] 1.5: sys_futex -> 0x0"));
        let expected = nr.map_or(Other, |nr| SyscallExit(SyscallReturn { nr, ret: 0 }));
        assert_eq!((events[0].kind, info.damage), (expected, vec![]), "{machine}");
    }
}

#[test]
fn fields_that_make_no_sense_are_damage_but_show_who_ran() {
    for body in [
        "sched_switch: nonsense",
        "sched_switch: a:1 [98] R ==> b:62",
        "sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=what? ==> next_comm=b next_pid=2 next_prio=3",
        "sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=swapper/1x nex",
        "sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=7",
        "sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=fio nex",
        "sched_wakeup: comm=a pid=99999999999 prio=1 target_cpu=0",
        "sched_waking: comm=a pid=1 prio=1 target_cpu=99999",
        "sched_migrate_task: comm=a pid=1",
        "irq_handler_entry: irq=x name=y",
        "sys_enter: NR 1 (zzz)",
        "cpu_idle: state=-1",
        "hrtimer_start: hrtimer=0x1",
    ] {
        let (events, info) = all(&format!("a-5 [001] 1.5: ok: x\n\na-5 [001] 2.5: {body}"));
        assert_eq!(events.len(), 2, "{body}");
        assert_eq!((events[1].kind, events[1].context.tid), (Other, Tid(5)), "{body}");
        assert_eq!(info.damage.len(), 1, "{body}");
        assert_eq!(info.damage[0].offset, Some(3), "{body}");
        assert!(info.damage[0].what.contains(body.get(..8).expect("long")), "{:?}", info.damage);
    }
}

#[test]
fn a_trace_in_comments_is_read_where_no_other_line_is_one() {
    let trace = "redis-1234 [001] 12345.152000: sched_switch: prev_comm=redis prev_pid=1234 prev_prio=120 \
                 prev_state=S ==> next_comm=kworker/0:0 next_pid=7 next_prio=120\n";
    let commented = format!("perf sched script\n\n# Output:\n# {trace}#\n# that is all\n");
    let (events, info) = all(&commented);
    assert_eq!((events.len(), info.events), (1, 1));
    assert_eq!(events[0].context.tid, Tid(1234));
    // Beside a trace it is a remark.
    let (_, info) = all(&format!("# {trace}{trace}"));
    assert_eq!(info.events, 1);
}

#[test]
fn rows_that_were_broken_within_comments_are_joined() {
    let trace = "            app-1234  [001] d..3  12345.152000: sched_switch: prev_comm=a
  pool of threads prev_pid=1234 prev_prio=120 prev_state=S ==>
  \
                 next_comm=kworker/0:0 next_pid=7 next_prio=120
";
    let whole = all(&trace.replace(
        "
  ", " ",
    ))
    .0;
    assert!(matches!(whole[0].kind, Switch(_)), "{whole:?}");
    for mark in ["// ", " * ", "; ", "# "] {
        let marked: String = trace
            .lines()
            .map(|line| {
                format!(
                    "{mark}{line}
"
                )
            })
            .collect();
        let (events, info) = all(&format!(
            "{mark}Here is what I see:
{marked}"
        ));
        assert_eq!(events, whole, "{marked}");
        assert!(
            !info.damage.iter().any(|damage| damage.what.contains("no known form")),
            "{mark}: {:?}",
            info.damage
        );
    }
}

#[test]
fn pieces_with_something_between_are_cut_apart() {
    let line = |cpu: u32, us: i64| {
        format!(
            " app-7  [{cpu:03}] d..2.  {}.{:06}: sched_waking: comm=b pid=8 prio=19 target_cpu=001\n",
            us / 1_000_000,
            us % 1_000_000
        )
    };
    let losses = |text: &str| {
        let (events, info) = all(text);
        let lost = |event: &&Event| matches!(event.kind, Lost { .. });
        let at: Vec<_> = events.iter().filter(lost).map(|event| (event.cpu.0, event.ts.0 / 1_000)).collect();
        (at, info.left_out.len(), info.lost_events)
    };
    let (first, second) = (line(1, 100) + &line(1, 200), line(1, 30_000_000) + &line(1, 30_000_100));
    assert_eq!(losses(&format!("{first}\n\n{second}")), (vec![(1, 200), (1, 30_000_000)], 1, 0));
    assert_eq!(losses(&format!("{first}{second}")), (vec![], 0, 0));
    assert_eq!(losses(&format!("{first}Then:\n{}", line(1, 2_000))), (vec![], 0, 0));
    // A sentence alone cuts only where the rows go on with other threads.
    let other = line(3, 400_000).replace("app-7", "cat-9").replace("pid=8", "pid=10");
    for (told, cuts) in [
        ("and later, on the other CPU, this happens\n", 1),
        ("\n```\nThe second of both examples:\n```\n", 1),
        ("## The second of both examples\n", 1),
        ("usb 1-1: new device found on this port\n", 0),
    ] {
        assert_eq!(losses(&format!("{first}{told}{other}")).1, cuts, "{told}");
        assert_eq!(losses(&format!("{first}{told}{}", line(1, 400_000))).1, 0, "{told}");
    }
    let printed =
        " app-7  [001] d..2.  0.000200: bprint: work: begins\nand later, on the other CPU, this happens\n";
    assert_eq!(losses(&format!("{first}{printed}{other}")).1, 0);
    // A piece of earlier times ends where its last line is, and not with the text.
    let earlier = line(2, 50_000) + "\nCPU 1 before it:\n" + &first;
    assert_eq!(losses(&earlier), (vec![(1, 100), (1, 50_000), (2, 50_000)], 1, 0));
}

#[test]
fn marks_of_lines_left_out_are_kept_with_the_event_before() {
    let line = |us: i64| {
        format!(" app-7  [001] d..2.  10.{us:06}: sched_waking: comm=b pid=8 prio=19 target_cpu=001\n")
    };
    let text = format!("...\n{}...\n{}and so on ...\n{}<snip>\n", line(100), line(200), line(300));
    let (events, info) = all(&text);
    let places: Vec<_> = info.left_out.iter().map(|place| (place.at, place.line)).collect();
    assert_eq!((events.len(), places), (3, vec![(Ns(10_000_100_000), 3), (Ns(10_000_300_000), 7)]));
}

#[test]
fn signs_behind_the_last_field_are_none_of_it() {
    let switched = switch(("app", 7, 120), TaskState::Interruptible, ("b", 8, 50));
    let woken = Wakeup { wake: wake("b", 8, 50, 3), new: false };
    for junk in ["', // @suppress longLineCheck", "\",", ")", "),", ":", ";", "`", "|", " // note", "'] == x"]
    {
        for (fields, expected) in [
            (
                "sched_switch: prev_comm=app prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=b next_pid=8 next_prio=50",
                switched,
            ),
            ("sched_wakeup: comm=b pid=8 prio=50 success=1 target_cpu=003", woken),
            ("sched_wakeup: task b:8 [50] success=1 [003]", woken),
            ("sched_wakeup: b:8 [50] success=1 CPU:003", woken),
            (
                "sched_migrate_task: comm=b pid=8 prio=50 orig_cpu=1 dest_cpu=3",
                Migrate { tid: Tid(8), from: Cpu(1), to: Cpu(3) },
            ),
        ] {
            let line = format!("a-1 [000] d..2. 2.000001: {fields}{junk}\n");
            assert_eq!(one(&line).kind, expected, "{line}");
        }
    }
    // A row that was cut within its last number.
    for cut in ["...", "…", ".."] {
        let line =
            format!("a-1 [000] d..2. 2.000001: sched_wakeup: comm=b pid=8 prio=50 target_cpu=00{cut}\n");
        let (events, info) = all(&line);
        assert_eq!((events[0].kind, info.damage.len()), (Other, 1), "{line}");
    }
}
