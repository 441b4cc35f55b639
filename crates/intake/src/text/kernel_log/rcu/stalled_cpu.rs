//! The row of a CPU in the report of an RCU stall (`print_cpu_stall_info()` in `kernel/rcu/tree_stall.h`).

use crate::text::kernel_log::stamps::number_behind;

/// A CPU that RCU waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StalledCpu {
    pub(super) cpu: u32,
    /// No timer tick came there in the grace period.
    pub(super) has_no_ticks: bool,
    /// It was idle, as RCU saw it.
    pub(super) is_idle: bool,
    /// RCU sent it an interrupt, which it did not take.
    pub(super) takes_no_interrupt: bool,
    /// So long its thread `rcuc` did not run.
    rcuc_jiffies: Option<u64>,
    /// The kernel itself doubts that it is stalled.
    may_be_false: bool,
}

impl StalledCpu {
    /// One of which no more is shown.
    pub(super) fn new(cpu: u32) -> StalledCpu {
        StalledCpu {
            cpu,
            has_no_ticks: false,
            is_idle: false,
            takes_no_interrupt: false,
            rcuc_jiffies: None,
            may_be_false: false,
        }
    }

    /// `4-...!: (1 GPs behind) idle=9874/1/0x4 softirq=0/0 fqs=20 rcuc=21071 jiffies(starved)`
    pub(super) fn of_row(message: &str) -> Option<StalledCpu> {
        let (head, rest) = message.split_once(": (")?;
        let (cpu, flags) = head.split_once('-')?;
        let is_flag = |flag: char| "Oo.N?!".contains(flag) || flag.is_ascii_digit();
        let is_row = flags.len() <= 4 && flags.chars().all(is_flag);
        // What stands for the tab before the number, where a console was read by machine.
        let cpu = cpu.trim_start_matches(|sign: char| !sign.is_alphanumeric() && sign != '-');
        let cpu = cpu.parse().ok().filter(|_| is_row)?;
        // The row of another CPU may follow, where lines were put together.
        let rest = rest.split(": (").next().unwrap_or(rest);
        Some(StalledCpu {
            cpu,
            has_no_ticks: rest.starts_with("0 ticks this GP"),
            is_idle: is_idle(rest),
            // A digit while the irq_work is pending that rcu_watching_snap_recheck() in kernel/rcu/tree.c queues there.
            takes_no_interrupt: flags.chars().nth(3).is_some_and(|flag| flag.is_ascii_digit()),
            rcuc_jiffies: number_behind(rest, "rcuc=").filter(|_| rest.contains("starved")),
            may_be_false: rest.contains("(false positive?)"),
        })
    }

    /// Adds what another line shows of the same CPU.
    pub(super) fn add(&mut self, other: &StalledCpu) {
        self.has_no_ticks |= other.has_no_ticks;
        self.is_idle |= other.is_idle;
        self.takes_no_interrupt |= other.takes_no_interrupt;
        self.may_be_false |= other.may_be_false;
        self.rcuc_jiffies = self.rcuc_jiffies.or(other.rcuc_jiffies);
    }

    /// What its row shows, one sentence each.
    pub(super) fn shown(&self) -> Vec<String> {
        let StalledCpu { cpu, takes_no_interrupt, rcuc_jiffies, may_be_false, .. } = self;
        let interrupt = takes_no_interrupt.then(|| {
            format!("CPU {cpu} did not take an interrupt that RCU sent it, so interrupts were probably disabled there")
        });
        let rcuc = rcuc_jiffies.map(|jiffies| format!("rcuc/{cpu} did not run for {jiffies} jiffies"));
        let doubt =
            may_be_false.then(|| format!("the report itself marks CPU {cpu} as a possible false alarm"));
        [interrupt, rcuc, doubt].into_iter().flatten().collect()
    }
}

/// `idle=400/0/0`: no thread and no interrupt handler had the CPU (`dynticks_nesting` and `dynticks_nmi_nesting`).
fn is_idle(row: &str) -> bool {
    let value = row.split_once("idle=").and_then(|(_, rest)| rest.split_whitespace().next());
    let mut parts = value.unwrap_or_default().split('/').skip(1);
    parts.next() == Some("0") && matches!(parts.next(), Some("0" | "0x0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_cpu_has_no_nesting() {
        let is_idle = |idle: &str| {
            StalledCpu::of_row(&format!("3-...: (0 ticks this GP) idle={idle} softirq=1/1"))
                .map(|one| one.is_idle)
        };
        assert_eq!(["400/0/0", "9dd4/0/0x0"].map(is_idle), [Some(true); 2]);
        assert_eq!(["9dd4/1/0x4000000000000002", "40d/0/1", "400"].map(is_idle), [Some(false); 3]);
    }

    #[test]
    fn rows_are_told_from_other_lines() {
        let shown = |row: &str| {
            StalledCpu::of_row(row).map(|one| (one.cpu, one.has_no_ticks, one.shown().join("; ")))
        };
        let interrupt =
            "CPU 0 did not take an interrupt that RCU sent it, so interrupts were probably disabled there";
        let cases = [
            (
                "1-...: (4 GPs behind) idle=aec/0/0 3-...: (0 ticks this GP) rcuc=7 jiffies(starved)",
                Some((1, false, "")),
            ),
            ("3-...!: (0 ticks this GP) idle=470/0/0", Some((3, true, ""))),
            ("0-...0: (1 GPs behind) idle=d634/1/0x4 fqs=2024", Some((0, false, interrupt))),
            (
                "4-....: (9 ticks this GP) rcuc=5252 jiffies(starved)",
                Some((4, false, "rcuc/4 did not run for 5252 jiffies")),
            ),
            (
                "0-...!: (0 ticks this GP) fqs=0  (false positive?)",
                Some((0, true, "the report itself marks CPU 0 as a possible false alarm")),
            ),
            ("$3-....: (3 GPs behind) idle=7d5c/1/0x4", Some((3, false, ""))),
            ("x3-....: (3 GPs behind) idle=7d5c/1/0x4", None),
            ("2026-11-28: (1 GPs behind)", None),
            ("(t=5253 jiffies g=4205 q=12)", None),
        ];
        for (row, expected) in cases {
            assert_eq!(
                shown(row),
                expected.map(|(cpu, no_ticks, text)| (cpu, no_ticks, text.to_owned())),
                "{row}"
            );
        }
    }
}
