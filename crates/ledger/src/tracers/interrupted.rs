//! What a stack saved in an interrupt shows of the thread below it: where it was, and whether it had
//! interrupts disabled until that moment.

use whylate_events::{InterruptEntry, interrupt_entry};

/// Functions that enable interrupts again: an interrupt taken right in them had to wait for that.
const ENABLING: [&str; 7] = [
    "irqrestore",
    "unlock_irq",
    "irq_enable",
    "irq_restore",
    "hardirqs_on",
    "finish_task_switch",
    "finish_lock_switch",
];

/// Functions that only the idle task is in (kernel/sched/idle.c).
const IDLE: [&str; 3] = ["do_idle", "cpu_startup_entry", "default_idle_call"];

/// Where the thread was that an interrupt came upon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Interrupted {
    /// In user code, which cannot disable interrupts.
    User,
    /// Idle, in this function.
    Idle {
        /// The function.
        function: String,
    },
    /// In a function of the kernel.
    Kernel {
        /// The function.
        function: String,
        /// The one that called it.
        caller: Option<String>,
        /// True when the function enables interrupts, which were disabled until then.
        enabling: bool,
    },
}

/// Reads a stack, innermost function first. `None` where it shows no interrupt.
pub(super) fn interrupted<S: AsRef<str>>(stack: &[S]) -> Option<Interrupted> {
    let bare = |frame: &S| {
        let name = frame.as_ref().trim();
        name.split(['+', ' ', '[']).next().unwrap_or("").to_owned()
    };
    let names: Vec<String> = stack.iter().map(bare).collect();
    // Of nested interrupts the innermost is the timer's.
    let InterruptEntry { below, from_user } = interrupt_entry(&names)?;
    let mut below = names.iter().skip(below);
    let idle = below.clone().any(|name| IDLE.contains(&name.as_str()));
    match below.next() {
        Some(function) if idle => Some(Interrupted::Idle { function: function.clone() }),
        Some(function) if !from_user => Some(Interrupted::Kernel {
            function: function.clone(),
            caller: below.next().cloned(),
            enabling: ENABLING.iter().any(|word| function.contains(word)),
        }),
        _ => Some(Interrupted::User),
    }
}

/// The first function of a stack that is not a lock's, the scheduler's or a tracer's own: the one to ask about.
pub(super) fn responsible<S: AsRef<str>>(stack: &[S]) -> Option<&str> {
    stack.iter().map(|frame| frame.as_ref().trim()).find(|name| !is_primitive(name))
}

/// True of a function of the tracers themselves. Their files are not compiled for the function tracer
/// (kernel/trace/Makefile), so a line that names one is the mark at which a section begins or ends, and shows no call: its
/// caller is where that was (`start_critical_timing`, `stop_critical_timing`, kernel/trace/trace_irqsoff.c).
pub(super) fn is_mark(name: &str) -> bool {
    const MARKS: [&str; 6] = [
        "trace_hardirqs_o",
        "tracer_hardirqs_o",
        "trace_preempt_o",
        "tracer_preempt_o",
        "start_critical_timing",
        "stop_critical_timing",
    ];
    MARKS.iter().any(|mark| name.starts_with(mark))
}

/// True of a function that only disables or enables for others: a lock's, a tracer's, a preemption counter's.
pub(super) fn is_primitive(name: &str) -> bool {
    const PARTS: [&str; 13] = [
        "_lock_irq",
        "unlock_irq",
        "_raw_spin",
        "_raw_read",
        "_raw_write",
        "preempt_count",
        "preempt_on",
        "preempt_off",
        "hardirqs_o",
        "return_to_handler",
        "local_bh_",
        "tracer_",
        "rt_spin_",
    ];
    name.is_empty() || is_mark(name) || PARTS.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(function: &str, caller: Option<&str>, enabling: bool) -> Option<Interrupted> {
        Some(Interrupted::Kernel { function: function.into(), caller: caller.map(Into::into), enabling })
    }

    #[test]
    fn what_was_interrupted_is_below_the_interrupts_entry() {
        let timer =
            ["timerlat_irq", "__hrtimer_run_queues", "hrtimer_interrupt", "__sysvec_apic_timer_interrupt"];
        let with = |below: &[&'static str]| {
            let stack: Vec<&str> = timer.iter().chain(below).copied().collect();
            interrupted(&stack)
        };
        assert_eq!(
            with(&[
                "asm_call_irq_on_stack",
                "sysvec_apic_timer_interrupt",
                "asm_sysvec_apic_timer_interrupt",
                "delay_tsc",
                "dummy_load"
            ]),
            kernel("delay_tsc", Some("dummy_load"), false)
        );
        assert_eq!(
            with(&[
                "asm_sysvec_apic_timer_interrupt",
                "_raw_spin_unlock_irqrestore",
                "cgroup_rstat_flush_locked"
            ]),
            kernel("_raw_spin_unlock_irqrestore", Some("cgroup_rstat_flush_locked"), true)
        );
        assert_eq!(with(&["asm_sysvec_apic_timer_interrupt"]), Some(Interrupted::User));
        assert_eq!(
            with(&["gic_handle_irq", "el0t_64_irq_handler", "el0t_64_irq", "x"]),
            Some(Interrupted::User)
        );
        assert_eq!(
            with(&["el1_interrupt", "el1h_64_irq_handler", "el1h_64_irq", "foo+0x10/0x20"]),
            kernel("foo", None, false)
        );
        assert_eq!(
            with(&["asm_sysvec_apic_timer_interrupt", "pv_native_safe_halt", "default_idle", "do_idle"]),
            Some(Interrupted::Idle { function: "pv_native_safe_halt".into() })
        );
        // A stack without an interrupt shows nothing of what one came upon.
        assert_eq!(with(&[]), None);
        assert_eq!(interrupted::<&str>(&[]), None);
    }

    #[test]
    fn locks_are_not_to_blame_for_their_users() {
        let stack =
            ["sub_preempt_count", "_raw_spin_unlock_irqrestore", "ata_scsi_queuecmd", "scsi_dispatch_cmd"];
        assert_eq!(responsible(&stack), Some("ata_scsi_queuecmd"));
        assert_eq!(responsible(&["tracer_hardirqs_on"]), None);
    }
}
