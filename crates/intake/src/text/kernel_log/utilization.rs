//! What had a CPU during a soft lockup, which kernels from 6.9 on measure (`print_cpustat()`, `print_irq_counts()` in
//! `kernel/watchdog.c`). The stack beside it shows only one instant.
//!
//! ```text
//! CPU#9 Utilization every 4s during lockup:
//!  #1:   0% system,    0% softirq,   100% hardirq,     0% idle
//! CPU#9 Detect HardIRQ Time exceeds 50%. Most frequent HardIRQs:
//!  #1: 330945      irq#7
//! ```

use super::stamps::{cpu_behind, leading_number};

/// The kernel measures so many times (`NUM_SAMPLE_PERIODS`).
const SAMPLES: usize = 5;
/// From this share on something had the CPU; the kernel looks at interrupts from the same (`HARDIRQ_PERCENT_THRESH`).
const MOST_OF_IT: u64 = 50;

/// A share of a sample that lasted longer than it was to may be more than the whole.
const MOST_SHOWN: u64 = 110;

/// The shares of one sample, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sample {
    system: u64,
    softirq: u64,
    hardirq: u64,
    idle: u64,
}

/// What had a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occupation {
    Interrupts,
    Softirqs,
    Kernel,
    Idle,
    /// None of the others for most of the time: user code, or a hypervisor.
    UserOrStolen,
}

/// The samples of a CPU's report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Utilization {
    pub(super) cpu: u32,
    /// Each is as long.
    seconds: u64,
    samples: [Option<Sample>; SAMPLES],
    /// The interrupt that came most, as the report names it, and how many times.
    interrupt: Option<(String, u64)>,
    /// The list of interrupts follows.
    is_list: bool,
}

impl Utilization {
    /// `CPU#9 Utilization every 4s during lockup:`
    pub(super) fn title(message: &str) -> Option<Utilization> {
        let (before, rest) = message.split_once(" Utilization every ")?;
        let (seconds, end) = rest.split_once("s during lockup")?;
        let cpu = cpu_behind(before, "CPU#").filter(|_| end.trim_end_matches(':').trim().is_empty())?;
        let seconds = seconds.parse().ok().filter(|_| before.starts_with("CPU#"))?;
        Some(Utilization { cpu, seconds, samples: [None; SAMPLES], interrupt: None, is_list: false })
    }

    /// Takes in a line below it; false where it is none of the report.
    pub(super) fn line(&mut self, message: &str) -> bool {
        if message.contains("Most frequent HardIRQs") {
            self.is_list |= cpu_behind(message, "CPU#") == Some(self.cpu);
            return true;
        }
        let row = message.trim().strip_prefix('#').and_then(|row| row.split_once(": "));
        let Some((number, row)) = row else { return false };
        let Some(number) = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1)) else {
            return false;
        };
        match (sample(row), interrupt(row)) {
            (Some(sample), _) => self.samples.get_mut(number).map(|slot| *slot = Some(sample)).is_some(),
            (None, Some(interrupt)) if self.is_list => {
                if number == 0 && self.interrupt.is_none() {
                    self.interrupt = Some(interrupt);
                }
                true
            }
            _ => false,
        }
    }

    /// The mean of a share over the samples; `None` without samples.
    fn mean(&self, share: impl Fn(&Sample) -> u64) -> Option<u64> {
        let samples = self.samples.iter().flatten();
        let count = u64::try_from(samples.clone().count()).ok()?;
        samples.map(share).fold(0, u64::saturating_add).checked_div(count)
    }

    /// What had the CPU for most of the time; `None` where nothing had.
    pub(super) fn occupation(&self) -> Option<Occupation> {
        let rest = |one: &Sample| {
            let others = one.system.saturating_add(one.softirq).saturating_add(one.hardirq);
            100_u64.saturating_sub(others.saturating_add(one.idle))
        };
        let shares = [
            (Occupation::Interrupts, self.mean(|one| one.hardirq)?),
            (Occupation::Softirqs, self.mean(|one| one.softirq)?),
            (Occupation::Kernel, self.mean(|one| one.system)?),
            (Occupation::Idle, self.mean(|one| one.idle)?),
            (Occupation::UserOrStolen, self.mean(rest)?),
        ];
        let (occupation, most) = shares.into_iter().max_by_key(|&(_, share)| share)?;
        (most >= MOST_OF_IT).then_some(occupation)
    }

    /// `in the 20 s before the report CPU 9 spent 100 % in hard interrupts, 0 % in softirqs, ...`
    pub(super) fn shown(&self) -> Option<String> {
        let [hardirq, softirq] = [self.mean(|one| one.hardirq)?, self.mean(|one| one.softirq)?];
        let [system, idle] = [self.mean(|one| one.system)?, self.mean(|one| one.idle)?];
        let count = u64::try_from(self.samples.iter().flatten().count()).ok()?;
        let most =
            self.interrupt.as_ref().map(|(name, times)| format!("; most often came {name}, {times} times"));
        Some(format!(
            "in the {} s that the report shows, CPU {} spent {hardirq} % in hard interrupts, {softirq} % in softirqs, {system} % in \
             other kernel code and {idle} % idle{}",
            self.seconds.saturating_mul(count),
            self.cpu,
            most.unwrap_or_default()
        ))
    }
}

/// `0% system, 0% softirq, 100% hardirq, 0% idle`, with tabs between
fn sample(row: &str) -> Option<Sample> {
    let share = |name: &str| {
        let (before, _) = row.split_once(name)?;
        let number = before.rsplit([',', ' ', '\t']).next()?;
        // The kernel rounds up.
        number.parse().ok().filter(|share| *share <= MOST_SHOWN)
    };
    Some(Sample {
        system: share("% system")?,
        softirq: share("% softirq")?,
        hardirq: share("% hardirq")?,
        idle: share("% idle")?,
    })
}

/// `330945      irq#7`
fn interrupt(row: &str) -> Option<(String, u64)> {
    let (_, name) = row.split_once("irq#")?;
    let number =
        name.split(|sign: char| !sign.is_ascii_digit()).next().filter(|number| !number.is_empty())?;
    Some((format!("IRQ {number}"), leading_number(row)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rows: &[&str]) -> Utilization {
        let mut read = Utilization::title("CPU#3 Utilization every 4s during lockup:").expect("a title");
        assert!(rows.iter().all(|row| read.line(row)), "{rows:?}");
        read
    }

    #[test]
    fn the_largest_share_had_the_cpu() {
        let cases = [
            ("#1:   2% system,\t  0% softirq,\t 97% hardirq,\t  1% idle", Some(Occupation::Interrupts)),
            ("#1: 0% system, 88% softirq, 10% hardirq, 0% idle", Some(Occupation::Softirqs)),
            ("#2: 100% system, 0% softirq, 0% hardirq, 0% idle", Some(Occupation::Kernel)),
            ("#5: 0% system, 0% softirq, 0% hardirq, 99% idle", Some(Occupation::Idle)),
            ("#1: 1% system, 1% softirq, 1% hardirq, 0% idle", Some(Occupation::UserOrStolen)),
            ("#1: 40% system, 30% softirq, 30% hardirq, 0% idle", None),
        ];
        for (row, occupation) in cases {
            assert_eq!(read(&[row]).occupation(), occupation, "{row}");
        }
        // Longer than planned, and rounded up.
        let rows = [
            "#1: 100% system, 1% softirq, 0% hardirq, 0% idle",
            "#2: 101% system, 0% softirq, 0% hardirq, 0% idle",
        ];
        let shown = read(&rows).shown().expect("two rows");
        assert!(shown.starts_with("in the 8 s") && shown.contains("100 % in other kernel code"), "{shown}");
        assert_eq!(read(&[]).occupation(), None);
        assert_eq!(read(&[]).shown(), None);
    }

    #[test]
    fn the_interrupt_that_came_most_is_named() {
        let read = read(&[
            "#1: 10% system, 0% softirq, 90% hardirq, 0% idle",
            "#2: 20% system, 0% softirq, 80% hardirq, 0% idle",
            "CPU#3 Detect HardIRQ Time exceeds 50%. Most frequent HardIRQs:",
            "#1: 4711      irq#7",
            "#2: 31        irq#82",
        ]);
        assert_eq!(
            read.shown().as_deref(),
            Some(
                "in the 8 s that the report shows, CPU 3 spent 85 % in hard interrupts, 0 % in softirqs, 15 % in other kernel code and \
                 0 % idle; most often came IRQ 7, 4711 times"
            )
        );
    }

    #[test]
    fn other_lines_are_none_of_it() {
        assert_eq!(Utilization::title("CPU#3 Utilization every 4s during lockup: #1: 0% system"), None);
        let mut read = read(&[]);
        for line in ["#1: 7  irq#7", "#9: 0% system, 0% softirq, 0% hardirq, 0% idle", "# 1", "Call trace:"] {
            assert!(!read.line(line), "{line}");
        }
    }
}
