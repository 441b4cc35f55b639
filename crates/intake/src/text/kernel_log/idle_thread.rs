//! What a CPU did whose idle thread was current: an interrupt or a softirq runs over the idle thread, and a report then names that
//! thread (`swapper/0`, PID 0).

use super::reporter::is_of_interrupt;
use whylate_events::{interrupt_entry, is_idle_function, softirq_of};

/// Functions in which softirqs run, beside those that are softirqs, by how their names begin (`kernel/softirq.c`).
const SOFTIRQS: [&str; 6] =
    ["handle_softirqs", "__do_softirq", "do_softirq", "call_softirq", "tasklet_", "run_timer_base"];

/// What a CPU did over its idle thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OverIdle {
    /// It slept, or was on the way there or back.
    Idle,
    Softirqs,
    Interrupt,
    /// It was in a function that is of no known one of these.
    Other,
}

/// What the functions show, innermost first; `is_in_interrupt` where the stack marks the innermost one as an interrupt's (`<IRQ>`).
pub(super) fn over_idle(functions: &[&str], is_in_interrupt: bool) -> OverIdle {
    let idle = functions.iter().position(|name| is_idle_function(name));
    let above = functions.get(..idle.unwrap_or(functions.len())).unwrap_or_default();
    let serves_softirqs =
        |name: &&str| softirq_of(name).is_some() || SOFTIRQS.iter().any(|begin| name.starts_with(begin));
    let is_interrupt = || above.iter().any(|name| is_of_interrupt(name)) || interrupt_entry(above).is_some();
    if above.iter().any(serves_softirqs) {
        OverIdle::Softirqs
    } else if !above.is_empty() && (is_in_interrupt || is_interrupt()) {
        OverIdle::Interrupt
    } else if idle.is_some() || functions.is_empty() {
        OverIdle::Idle
    } else {
        OverIdle::Other
    }
}

#[cfg(test)]
mod tests {
    use super::{OverIdle, over_idle};

    #[test]
    fn only_functions_of_the_idle_loop_are_idle() {
        let cases: [(&[&str], bool, OverIdle); 9] = [
            (&[], false, OverIdle::Idle),
            (&["intel_idle", "cpuidle_enter_state", "do_idle"], false, OverIdle::Idle),
            // A driver's own function on the way.
            (&["soc_enter_wait", "cpuidle_enter_state"], false, OverIdle::Idle),
            (&["handle_softirqs"], false, OverIdle::Softirqs),
            (
                &["poll", "net_rx_action", "irq_exit_rcu", "asm_common_interrupt", "intel_idle"],
                true,
                OverIdle::Softirqs,
            ),
            (
                &["isr", "handle_irq_event", "gic_handle_irq", "el1_irq", "cpu_do_idle"],
                false,
                OverIdle::Interrupt,
            ),
            (&["isr", "handle_irq_event", "do_irq", "arch_cpu_idle"], false, OverIdle::Interrupt),
            (&["isr", "default_idle"], true, OverIdle::Interrupt),
            (&["driver_clean_rx"], false, OverIdle::Other),
        ];
        for (functions, is_in_interrupt, expected) in cases {
            assert_eq!(over_idle(functions, is_in_interrupt), expected, "{functions:?}");
        }
    }
}
