//! The row of a CPU in the report of an RCU stall (`print_cpu_stall_info()` in `kernel/rcu/tree_stall.h`).

use crate::text::kernel_log::stamps::number_behind;

/// What a CPU did, by the count of RCU (`idle=`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Watched {
    /// A thread had it, or the row does not show it.
    #[default]
    Other,
    /// Neither a thread nor an interrupt had it.
    Idle,
    /// So many interrupts, one within the other, had it over its idle thread. The softirqs behind an interrupt are part of that.
    OverIdle(u64),
}

/// A CPU that RCU waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StalledCpu {
    pub(super) cpu: u32,
    /// No timer tick came there in the grace period.
    pub(super) has_no_ticks: bool,
    /// What it did, as RCU saw it.
    pub(super) watched: Watched,
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
            watched: Watched::Other,
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
            watched: watched(rest),
            // A digit while the irq_work is pending that rcu_watching_snap_recheck() in kernel/rcu/tree.c queues there.
            takes_no_interrupt: flags.chars().nth(3).is_some_and(|flag| flag.is_ascii_digit()),
            rcuc_jiffies: number_behind(rest, "rcuc=").filter(|_| rest.contains("starved")),
            may_be_false: rest.contains("(false positive?)"),
        })
    }

    /// True of a row that shows by itself that it is one: prose has neither its flags nor its words.
    pub(super) fn is_alone(message: &str) -> bool {
        let flags =
            message.split_once(": (").and_then(|(head, _)| head.split_once('-')).map(|(_, flags)| flags);
        let has_words = message.contains(" ticks this GP)") || message.contains(" GPs behind)");
        let begins = message.starts_with(|sign: char| sign.is_ascii_digit());
        begins
            && has_words
            && flags.is_some_and(|flags| flags.len() >= 3)
            && StalledCpu::of_row(message).is_some()
    }

    /// Adds what another line shows of the same CPU.
    pub(super) fn add(&mut self, other: &StalledCpu) {
        self.has_no_ticks |= other.has_no_ticks;
        if self.watched == Watched::Other {
            self.watched = other.watched;
        }
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

/// `idle=400/0/0`: the counts behind the first number. A thread adds a count that no interrupt reaches.
///
/// - Until 4.15 `7db/2/0`: `dynticks_nesting` in hexadecimal digits, which is 0 in the idle loop, the number of interrupts over it, and
///   0x140000000000000 or more in a thread (`DYNTICK_TASK_EXIT_IDLE`); then that of NMIs.
/// - From 4.16 on `9dd4/0/0x3`: 0 in the idle loop and 1 in a thread; then `dynticks_nmi_nesting`, of interrupts and NMIs, which the first one
///   over the idle loop raises by 1, each further one by 2, and which a thread begins at half of a `long` (`DYNTICK_IRQ_NONIDLE`). Until 4.18
///   it is printed without `0x`.
fn watched(row: &str) -> Watched {
    /// More interrupts are not within one another: the count is that of a thread.
    const MOST_NESTED: u64 = 64;
    let value = row.split_once("idle=").and_then(|(_, rest)| rest.split_whitespace().next());
    let mut counts = value.unwrap_or_default().split('/').skip(1);
    let (Some(nesting), Some(nmi)) = (counts.next(), counts.next()) else { return Watched::Other };
    let hex = |digits: &str| u64::from_str_radix(digits, 16).ok();
    let depth = match (nesting, nmi.strip_prefix("0x")) {
        // From 4.16 on: 1, 3, 5.
        ("0", Some(nmi)) => hex(nmi).map(|nmi| nmi.div_ceil(2)),
        (_, Some(_)) => None,
        ("0", None) => nmi.parse().ok().map(|nmi: u64| nmi.div_ceil(2)),
        (nesting, None) => hex(nesting).filter(|_| nmi == "0"),
    };
    match depth {
        Some(0) => Watched::Idle,
        Some(depth) if depth <= MOST_NESTED => Watched::OverIdle(depth),
        _ => Watched::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_show_a_thread_the_idle_loop_and_interrupts_over_it() {
        let cases = [
            ("400/0/0", Watched::Idle),
            ("9dd4/0/0x0", Watched::Idle),
            ("7db/1/0", Watched::OverIdle(1)),
            ("7db/3/0", Watched::OverIdle(3)),
            ("40d/0/1", Watched::OverIdle(1)),
            ("9dd5/0/0x1", Watched::OverIdle(1)),
            ("9dd5/0/0x3", Watched::OverIdle(2)),
            ("9dd4/1/0x4000000000000002", Watched::Other),
            ("9dd4/1/4611686018427387906", Watched::Other),
            ("6a1/140000000000001/0", Watched::Other),
            ("6a1/140000000000000/1", Watched::Other),
            ("400", Watched::Other),
        ];
        for (idle, expected) in cases {
            let row = StalledCpu::of_row(&format!("3-...: (0 ticks this GP) idle={idle} softirq=1/1"));
            assert_eq!(row.map(|one| one.watched), Some(expected), "{idle}");
        }
    }

    #[test]
    fn a_row_alone_is_told_from_prose() {
        for (row, is_alone) in [
            ("3-...!: (1 GPs behind) idle=9874/1/0x4 softirq=1/1", true),
            ("12-....: (4012 ticks this GP)", true),
            ("12-...: (0 ticks this GP) idle=d41/0/0", true),
            ("3-: (1 GPs behind)", false),
            ("3-....: (see below)", false),
            ("as in CPU 3-....: (1 GPs behind)", false),
        ] {
            assert_eq!(StalledCpu::is_alone(row), is_alone, "{row}");
        }
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
