//! What raises a hard interrupt: a device, another CPU, or the CPU's own timer.

/// What raises an interrupt. Those of a device can be moved to another CPU and threaded, the others cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IrqKind {
    /// The CPU's own timer.
    OwnTimer,
    /// A call from another CPU, or from this one to itself.
    Ipi,
    /// A device.
    Device,
}

/// Per-CPU timers that have a line: `drivers/clocksource/{arm_arch_timer,timer-riscv,arm_global_timer,exynos_mct}.c`,
/// `arch/arm/kernel/smp_twd.c`, `drivers/clocksource/timer-loongson*`, and the IRQ 0 of x86 is not among them: it is
/// one for all CPUs.
const OWN_TIMERS: [&str; 7] =
    ["arch_timer", "riscv-timer", "gt", "twd", "mct_tick", "timer0-percpu", "constant_clockevent"];

/// What the ledger calls an interrupt of which a timer's expiry alone is recorded.
pub(crate) const OF_EXPIRY: &str = "hrtimer";

impl IrqKind {
    /// By the line, which an architecture vector has none of, and the name.
    pub(crate) fn of(irq: Option<u32>, name: &str) -> IrqKind {
        match irq {
            None if matches!(name, "local_timer" | OF_EXPIRY | "") => IrqKind::OwnTimer,
            None if is_vector(name) => IrqKind::Ipi,
            // A handler by its function's name, as a function tracer shows it.
            None => IrqKind::Device,
            // arm64 and riscv give their calls lines: `IPI`, `IPI0` ...
            Some(_) if name.starts_with("IPI") => IrqKind::Ipi,
            Some(_) if is_own_timer(name) => IrqKind::OwnTimer,
            Some(_) => IrqKind::Device,
        }
    }
}

/// True of an interrupt of the architecture's own, by its name: a timer of the CPU, or a call from another CPU. Lines of
/// `/proc/interrupts` are the others (`arch/x86/include/asm/trace/irq_vectors.h`).
pub(crate) fn is_vector(name: &str) -> bool {
    const VECTORS: [&str; 9] = [
        "local_timer",
        "reschedule",
        "call_function",
        "irq_work",
        "error_apic",
        "spurious_apic",
        "thermal_apic",
        "threshold_apic",
        "x86_platform_ipi",
    ];
    VECTORS.iter().any(|vector| name.starts_with(vector))
}

/// True of any timer's interrupt, one for all CPUs included, by the name that the architecture or the timer's driver gives it (`local_timer`,
/// `arch_timer`, `hpet`).
pub(crate) fn is_timer(name: &str) -> bool {
    name.contains("timer") || name.contains("tick") || name.starts_with("hpet")
}

fn is_own_timer(name: &str) -> bool {
    // The Exynos timer counts its CPUs: mct_tick0, mct_tick1.
    OWN_TIMERS.contains(&name.trim_end_matches(|digit: char| digit.is_ascii_digit()))
        || OWN_TIMERS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_and_the_name_tell_what_raises_an_interrupt() {
        for (irq, name, kind) in [
            (None, "local_timer", IrqKind::OwnTimer),
            (None, "reschedule", IrqKind::Ipi),
            (None, "call_function_single", IrqKind::Ipi),
            (None, "rtl8169_interrupt", IrqKind::Device),
            (Some(11), "arch_timer", IrqKind::OwnTimer),
            (Some(5), "riscv-timer", IrqKind::OwnTimer),
            (Some(70), "mct_tick3", IrqKind::OwnTimer),
            (Some(1), "IPI", IrqKind::Ipi),
            (Some(16), "eth0", IrqKind::Device),
            (Some(0), "timer", IrqKind::Device),
            (Some(18), "", IrqKind::Device),
        ] {
            assert_eq!(IrqKind::of(irq, name), kind, "{irq:?} {name}");
        }
    }
}
