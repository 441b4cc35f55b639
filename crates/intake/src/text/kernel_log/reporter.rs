//! What a call stack shows, without the functions of the kernel that printed it.
//!
//! A report of a stall comes from an interrupt: its own functions and the interrupt's stand above what was interrupted
//! (`kernel/rcu/tree_stall.h`, `kernel/watchdog.c`, `lib/nmi_backtrace.c`).

use whylate_events::interrupt_entry;

/// In place of a function: the registers are those of user code.
pub(super) const USER: &str = "<user code>";

/// Functions that report a stall out of an interrupt, by how their names begin.
const REPORTERS: [&str; 20] = [
    "rcu_dump_cpu_stacks",
    "rcu_sched_clock_irq",
    "rcu_check_callbacks",
    "rcu_pending",
    "__rcu_pending",
    "print_cpu_stall",
    "print_other_cpu_stall",
    "check_cpu_stall",
    "rcu_check_gp_start_stall",
    "dump_cpu_task",
    "nmi_cpu_backtrace",
    "nmi_trigger_cpumask_backtrace",
    "arch_trigger_cpumask_backtrace",
    "watchdog_timer_fn",
    "watchdog_overflow_callback",
    "update_process_times",
    "tick_sched_",
    "tick_nohz_handler",
    "tick_handle_periodic",
    "tick_periodic",
];
/// Functions between those and the entry of the interrupt, by how their names begin.
const INTERRUPT_PATH: [&str; 32] = [
    "__hrtimer_run_queues",
    "hrtimer_interrupt",
    "hrtimer_run_queues",
    "arch_timer_",
    "generic_handle_",
    "handle_irq",
    "handle_percpu_",
    "handle_fasteoi_",
    "handle_domain_irq",
    "__handle_irq",
    "__handle_domain_irq",
    "gic_handle_",
    "__gic_handle_",
    "do_interrupt_handler",
    "call_on_irq_stack",
    "do_IRQ",
    "do_irq",
    "timer_interrupt",
    "__timer_interrupt",
    "decrementer_common",
    "riscv_",
    "ret_from_",
    "sysvec_",
    "__sysvec_",
    "smp_",
    // parisc
    "call_on_stack",
    "do_cpu_irq_mask",
    "intr_return",
    // LoongArch
    "constant_timer_interrupt",
    "handle_cpu_irq",
    "handle_loongarch_irq",
    "do_vint",
];
/// Functions between the watchdog of hard lockups and what its NMI interrupted, by how their names begin.
const NMI_PATH: [&str; 11] = [
    "__perf_event_overflow",
    "perf_event_",
    "intel_pmu_",
    "x86_pmu_",
    "armpmu_",
    "nmi_handle",
    "default_do_nmi",
    "do_nmi",
    "exc_nmi",
    "asm_exc_nmi",
    "end_repeat_nmi",
];
/// Functions that print the stack of the thread that calls them, and their callers, by how their names begin.
const PRINTERS: [&str; 16] = [
    "dump_backtrace",
    "unwind_backtrace",
    "show_",
    "sched_show_task",
    "spin_dump",
    "panic",
    "warn_slowpath",
    "__warn",
    "print_",
    "check_noncircular",
    "validate_chain",
    "mark_lock",
    "__lock_acquire",
    "lock_acquire",
    "___might_sleep",
    "__might_sleep",
];
/// The insides of taking a lock: the function that took it comes next.
const LOCK_INSIDES: [&str; 6] = [
    "__mutex_lock",
    "__mutex_lock_slowpath",
    "__mutex_lock_common",
    "rwsem_down_write_slowpath",
    "rwsem_down_read_slowpath",
    "rt_mutex_slowlock",
];

/// Where a stack shows its thread to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StackPlace<'a> {
    /// It shows nothing.
    Nothing,
    /// In user code.
    User,
    /// The stack ends above what the report interrupted.
    Cut,
    /// In these functions, innermost first.
    Functions(Vec<&'a str>),
}

/// Where the thread of a stack is, innermost function first.
pub(super) fn place(stack: &[String]) -> StackPlace<'_> {
    let is_of = |name: &String, list: &[&str]| list.iter().any(|begin| name.starts_with(begin));
    if stack.first().is_some_and(|first| first == USER) {
        return StackPlace::User;
    }
    let reporter = stack.iter().position(|name| is_of(name, &REPORTERS));
    let Some(inside) = reporter.and_then(|at| stack.get(at..)) else {
        let printers = stack.iter().take_while(|name| is_of(name, &PRINTERS)).count();
        let rest = functions(stack.get(printers..).unwrap_or_default());
        return if rest.is_empty() { StackPlace::Nothing } else { StackPlace::Functions(rest) };
    };
    let entry = interrupt_entry(inside);
    let below = match entry {
        Some(entry) => entry.below,
        None => {
            let is_inside = |name: &&String| {
                is_of(name, &REPORTERS) || is_of(name, &INTERRUPT_PATH) || is_of(name, &NMI_PATH)
            };
            inside.iter().take_while(is_inside).count()
        }
    };
    let rest = inside.get(below..).unwrap_or_default();
    if entry.is_some_and(|entry| entry.from_user) || rest.first().is_some_and(|first| first == USER) {
        return StackPlace::User;
    }
    let rest = functions(rest);
    if rest.is_empty() { StackPlace::Cut } else { StackPlace::Functions(rest) }
}

/// True of a function between an interrupt's entry and its handler.
pub(super) fn is_of_interrupt(name: &str) -> bool {
    INTERRUPT_PATH.iter().any(|begin| name.starts_with(begin))
}

/// The softirq's handler in which these functions are: the one that softirqs call (`handle_softirqs()` in `kernel/softirq.c`).
pub(super) fn softirq<'a>(functions: &[&'a str]) -> Option<&'a str> {
    called_by(functions, &["__do_softirq", "handle_softirqs"])
}

/// The function that the innermost of the `callers` called, in a stack with its innermost function first.
pub(super) fn called_by<'a>(functions: &[&'a str], callers: &[&str]) -> Option<&'a str> {
    let caller = functions.iter().position(|name| callers.contains(name))?;
    caller.checked_sub(1).and_then(|at| functions.get(at)).copied()
}

/// The functions, without the insides of taking a lock.
fn functions(stack: &[String]) -> Vec<&str> {
    let takes_a_lock = |name: &String| name.contains("mutex_lock") || name.contains("down_");
    let next = |at: usize| stack.get(at + 1).is_some_and(takes_a_lock);
    let is_inside = |at: usize, name: &String| LOCK_INSIDES.contains(&name.as_str()) && next(at);
    let kept = stack.iter().enumerate().filter(|&(at, name)| name != USER && !is_inside(at, name));
    kept.map(|(_, name)| name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reporters_own_functions_are_left_out() {
        let functions = StackPlace::Functions;
        let cases: [(&[&str], StackPlace<'_>); 12] = [
            // arm64: the stack is cut above the interrupt's entry.
            (
                &[
                    "dump_backtrace",
                    "sched_show_task",
                    "rcu_dump_cpu_stacks",
                    "rcu_sched_clock_irq",
                    "hrtimer_interrupt",
                    "generic_handle_irq",
                ],
                StackPlace::Cut,
            ),
            (
                &["rcu_sched_clock_irq", "gic_handle_irq", "el1_irq", "spin", "caller"],
                functions(vec!["spin", "caller"]),
            ),
            (&["rcu_sched_clock_irq", "gic_handle_irq", "__irq_usr"], StackPlace::User),
            (&["watchdog_timer_fn", "asm_sysvec_apic_timer_interrupt", USER], StackPlace::User),
            (&["watchdog_timer_fn", "asm_sysvec_apic_timer_interrupt"], StackPlace::Cut),
            // An architecture whose entries are not known.
            (
                &["rcu_sched_clock_irq", "riscv_timer_interrupt", "ret_from_exception", "spin"],
                functions(vec!["spin"]),
            ),
            (
                &[
                    "rcu_sched_clock_irq",
                    "timer_interrupt",
                    "call_on_stack",
                    "do_cpu_irq_mask",
                    "intr_return",
                ],
                StackPlace::Cut,
            ),
            // What crashed or spins in an interrupt is not its report.
            (
                &["poll", "net_rx_action", "__do_softirq", "asm_common_interrupt", "idle"],
                functions(vec!["poll", "net_rx_action", "__do_softirq", "asm_common_interrupt", "idle"]),
            ),
            (
                &["print_circular_bug", "__lock_acquire", "lock_acquire", "open", USER],
                functions(vec!["open"]),
            ),
            (
                &["__mutex_lock", "__mutex_lock_slowpath", "mutex_lock", "rtnl_lock"],
                functions(vec!["mutex_lock", "rtnl_lock"]),
            ),
            (&["dump_backtrace"], StackPlace::Nothing),
            // Within the NMI of the watchdog.
            (
                &[
                    "panic",
                    "nmi_panic",
                    "watchdog_overflow_callback",
                    "__perf_event_overflow",
                    "perf_event_nmi_handler",
                ],
                StackPlace::Cut,
            ),
        ];
        for (stack, expected) in cases {
            let stack: Vec<String> = stack.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(place(&stack), expected, "{stack:?}");
        }
    }

    #[test]
    fn a_softirq_has_the_name_of_its_handler() {
        assert_eq!(softirq(&["poll", "net_rx_action", "__do_softirq", "do_softirq"]), Some("net_rx_action"));
        assert_eq!(softirq(&["__do_softirq"]), None);
    }
}
