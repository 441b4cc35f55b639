//! Which functions, threads and CPUs call stacks of several architectures show.
use super::*;

fn read(text: &str) -> LoggedStacks {
    let mut stacks = LoggedStacks::default();
    text.lines().for_each(|line| {
        stacks.line(line);
    });
    stacks
}

#[test]
fn each_stack_keeps_its_owner() {
    let stacks = read(
        "kthread stack dump:\ntask:rcu_preempt state:R  running task stack:1 pid:14\nCall Trace:\n __switch_to+0x1/0x2\n gp+0x1/0x2\n\
         Task dump for CPU 0:\nsh              R  running task        0  1315   1295 0x00000002\nCall trace:\n spin+0x1/0x2\n caller+0x1/0x2\n\
         NMI backtrace for cpu 1\nCPU: 1 PID: 484 Comm: app Tainted: G\n[<c01>] (rcu_sched_clock_irq) from [<c02>] (update_process_times+0x1/0x2)\n\
         [<c02>] (gic_handle_irq) from [<c03>] (__irq_usr+0x54/0x80)\nCall trace:\n unknown+0x1/0x2\n",
    );
    let shown: Vec<String> = stacks.stacks.iter().filter_map(LoggedStack::shown).collect();
    assert_eq!(
        shown,
        [
            "the stack of rcu_preempt (14) is gp",
            "the stack of sh (1315) on CPU 0 is spin, called from caller",
            "the stack of app (484) on CPU 1 shows user code",
            "the stack below it is unknown",
        ]
    );
    assert_eq!(stacks.on_cpu(1).and_then(LoggedStack::shown).as_ref(), shown.get(2));
    let thread = LoggedThread { name: "sh".into(), pid: Some(1315) };
    assert_eq!(stacks.of_thread(&thread).and_then(LoggedStack::shown).as_ref(), shown.get(1));
}

#[test]
fn the_registers_and_the_trace_below_them_are_one_stack() {
    let stacks = read(
        "CPU: 2 PID: 7 Comm: app Not tainted\nRIP: 0010:spin+0x1/0x2\nCall Trace:\n caller+0x1/0x2\nRIP: 0033:0x7f\n",
    );
    let recursive =
        read("Call Trace:\n check+0x1/0x2\n walk+0x1/0x2\n check+0x1/0x2\n walk+0x1/0x2\n commit+0x1/0x2\n");
    let once = "the stack below it is check, called from walk, commit";
    assert_eq!(recursive.first().and_then(LoggedStack::shown).as_deref(), Some(once));
    let shown = "the stack of app (7) on CPU 2 is spin, called from caller";
    assert_eq!(stacks.first().and_then(LoggedStack::shown).as_deref(), Some(shown));
    let user = read("NMI backtrace for cpu 3\nRIP: 0033:0x55\n");
    assert_eq!(
        user.first().and_then(LoggedStack::shown).as_deref(),
        Some("the stack of CPU 3 shows user code")
    );
}

#[test]
fn an_interrupt_is_not_called_by_what_it_interrupts() {
    let stacks = read(
        "Call Trace:\n <IRQ>\n driver_isr+0x1/0x2\n my_event+0x1/0x2\n </IRQ>\nRIP: 0010:spin+0x1/0x2\n caller+0x1/0x2\n",
    );
    let shown =
        "the stack below it is driver_isr, called from my_event, which interrupted spin, called from caller";
    assert_eq!(stacks.first().and_then(LoggedStack::shown).as_deref(), Some(shown));
}

#[test]
fn an_interrupt_of_powerpc_is_no_caller_of_its_handler() {
    let shown = |text: &str| read(text).first().and_then(LoggedStack::shown);
    let stall = "Call Trace:\n[c01] [c02] rcu_sched_clock_irq+0x1/0x2\n[c01] [c02] timer_interrupt+0x1/0x2\n[c01] [c02] fast_exception_return+0x1/0x2\n\
                 --- interrupt: 901 at replay_interrupt_return+0x0/0x4\n    LR = enable_irqs+0x1/0x2\n[c01] [c02] serve+0x1/0x2\n\
                 [c01] [c02] timer_interrupt+0x1/0x2\n[c01] [c02] fast_exception_return+0x1/0x2\n\
                 --- interrupt: 901 at spin+0x1/0x2\n    LR = other+0x1/0x2\n[c01] [c02] caller+0x1/0x2\n";
    let expected = "the stack below it is enable_irqs, called from serve, timer_interrupt, which interrupted spin, called from caller";
    assert_eq!(shown(stall).as_deref(), Some(expected));
    let newer = "Call Trace:\n[c01] [c02] rcu_sched_clock_irq+0x1/0x2\n[c01] [c02] timer_interrupt+0x1/0x2\n[c01] [c02] decrementer_common_virt+0x1/0x2\n\
                 --- interrupt: 900 at spin+0x1/0x2\nNIP [c02] spin+0x1/0x2\nLR [c03] other+0x1/0x2\n--- interrupt: 900\n[c01] [c02] caller+0x1/0x2\n";
    assert_eq!(shown(newer).as_deref(), Some("the stack below it is spin, called from caller"));
}

#[test]
fn decoded_registers_stand_above_their_callers() {
    let shown = |text: &str| read(text).first().and_then(LoggedStack::shown);
    for register in ["EIP: spin (b.c:7)", "EIP: spin+0x1/0x2", "RIP: 0010:spin (b.c:7)"] {
        let text = format!(
            "CPU: 2 PID: 7 Comm: app Not tainted\n{register}\nCall Trace:\n caller (b.c:9)\n ret_from_fork_asm (e.S:7)\n entry_INT80_32 (e.S:9)\n"
        );
        let expected = "the stack of app (7) on CPU 2 is spin, called from caller";
        assert_eq!(shown(&text).as_deref(), Some(expected), "{register}");
    }
}

#[test]
fn functions_without_offsets_stand_below_a_title() {
    let shown = |text: &str| read(text).first().and_then(LoggedStack::shown);
    let trace = "Call Trace:\n <TASK>\n __schedule\n spin\n ? unsure\n caller [driver]\n kthread\n </TASK>\nword\n\nother\n";
    assert_eq!(shown(trace).as_deref(), Some("the stack below it is spin, called from caller [driver]"));
    let sleeps = "Call Trace:\n context_switch+0x1/0x2\n __schedule+0x1/0x2\n poll_it+0x1/0x2 [drv]\n caller+0x1/0x2\n";
    assert_eq!(shown(sleeps).as_deref(), Some("the stack below it is poll_it [drv], called from caller"));
    let runs =
        "RIP: 0010:finish_task_switch.isra.0+0x1/0x2\nCall Trace:\n __schedule+0x1/0x2\n caller+0x1/0x2\n";
    assert_eq!(shown(runs).as_deref(), Some("the stack below it is finish_task_switch, called from caller"));
    assert_eq!(shown("spin\ncaller\n"), None);
    assert_eq!(shown("Call Trace:\nIt looks so:\nspin\n"), None);
}

#[test]
fn what_stands_above_the_lock_that_a_thread_sleeps_for_is_left_out() {
    let stack = |state: char| {
        read(&format!(
            "task:a state:{state} stack:1 pid:7\nCall Trace:\n __schedule+0x1/0x2\n preempt_schedule_notrace+0x1/0x2\n \
             rcu_is_watching+0x1/0x2\n lock_acquire+0x1/0x2\n __mutex_lock+0x1/0x2\n open_it+0x1/0x2\n"
        ))
    };
    let of = |stacks: &LoggedStacks| {
        let first = stacks.first().expect("a stack");
        (first.shown().unwrap_or_default(), first.wait())
    };
    let (shown, wait) = of(&stack('D'));
    assert_eq!(shown, "the stack of a (7) is __mutex_lock, called from open_it");
    assert_eq!(wait.as_deref(), Some("it waits for a lock"));
    let (shown, wait) = of(&stack('R'));
    assert!(shown.contains("rcu_is_watching") && wait.is_none(), "it spins, or checks: {shown}");
}
