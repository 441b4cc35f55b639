//! Reads of the clocks by the kernel's watchdog that took too long for a check (`cs_watchdog_read()` and `clocksource_watchdog()` in
//! `kernel/time/clocksource.c`). No clock is given up by these.
//!
//! ```text
//! clocksource: timekeeping watchdog on CPU2: hpet wd-wd read-back delay of 120456ns
//! clocksource: wd-tsc-wd read-back delay of 140123ns, clock-skew test skipped!
//! clocksource: timekeeping watchdog on CPU2: hpet retried 2 times before success
//! clocksource: Long readout interval, skipping watchdog check: cs_nsec: 6000000000 wd_nsec: 6000000100
//! clocksource: Watchdog hpet read timed out. Readout sequence took: 120456ns          watchdog_print_freq_timeout() of newer kernels
//! clocksource: Watchdog remote CPU 3 read timed out                                   watchdog_handle_remote_timeout(), the same
//! ```

use super::stamps::{cpu_behind, cpus, number_behind};
use whylate_base::Ns;

/// No machine has more CPUs.
const MOST_CPUS: usize = 4096;

/// What such messages show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ClockReads {
    /// The clock by which the other is checked.
    reference: Option<String>,
    /// The clock that was to be checked.
    checked: Option<String>,
    /// The CPUs that read them.
    cpus: Vec<u32>,
    /// The CPUs that did not answer a check by another CPU in time.
    silent: Vec<u32>,
    /// The shortest and the longest time from a read of the reference to the next one.
    delays: Option<(Ns, Ns)>,
    /// The longest time from one check to the next.
    interval: Option<Ns>,
    /// A check that was good after further reads.
    was_retried: bool,
    /// A check was left out.
    was_skipped: bool,
}

impl ClockReads {
    /// Takes in a message; false where it is none of these.
    pub(super) fn line(&mut self, message: &str) -> bool {
        let behind_cpu = message.split_once("watchdog on CPU").and_then(|(_, rest)| rest.split_once(": "));
        let reads = behind_cpu.map(|(_, rest)| rest);
        let timed_out = message.split_once("Watchdog ").filter(|(_, rest)| rest.contains(" read timed out"));
        if let Some((_, rest)) = timed_out {
            match cpu_behind(rest, "remote CPU ") {
                Some(cpu) => add(&mut self.silent, cpu),
                None => self.timed_out(rest),
            }
        } else if let Some((reference, _)) =
            reads.and_then(|rest| rest.split_once(" wd-wd read-back delay of "))
        {
            self.reference.get_or_insert_with(|| reference.to_owned());
            self.delay(ns_behind(message, "read-back delay of "));
        } else if let Some((before, _)) = message.split_once("-wd read-back delay of ")
            && message.contains("skipped")
        {
            let checked = before.rsplit_once("wd-").map(|(_, clock)| clock.to_owned());
            self.checked = self.checked.take().or(checked);
        } else if let Some((reference, _)) =
            reads.filter(|rest| rest.contains("before success")).and_then(|rest| rest.split_once(" retried "))
        {
            self.reference.get_or_insert_with(|| reference.to_owned());
            self.was_retried = true;
        } else if message.contains("Long readout interval") {
            let interval = ns_behind(message, "cs_nsec: ").max(ns_behind(message, "wd_nsec: "));
            self.interval = self.interval.max(interval);
        } else {
            return false;
        }
        self.was_skipped |= message.contains("wd-wd") || message.contains("skip");
        if let Some(cpu) = cpu_behind(message, "watchdog on CPU") {
            add(&mut self.cpus, cpu);
        }
        true
    }

    /// `hpet read timed out. Readout sequence took: 120456ns`
    fn timed_out(&mut self, rest: &str) {
        if let Some((reference, _)) = rest.split_once(" read timed out") {
            self.reference.get_or_insert_with(|| reference.trim().to_owned());
        }
        self.was_skipped = true;
        self.delay(ns_behind(rest, "sequence took: "));
    }

    fn delay(&mut self, delay: Option<Ns>) {
        if let Some(delay) = delay {
            let (least, most) = self.delays.unwrap_or((delay, delay));
            self.delays = Some((least.min(delay), most.max(delay)));
        }
    }

    /// What they mean; `None` where none was seen.
    pub(super) fn meaning(&self) -> Option<String> {
        match (self.reads_meaning(), self.silent_meaning()) {
            (Some(reads), Some(silent)) => Some(format!("{reads}; {silent}")),
            (reads, silent) => reads.or(silent),
        }
    }

    /// Of CPUs that another one asked for their reading (`watchdog_check_skew()`).
    fn silent_meaning(&self) -> Option<String> {
        (!self.silent.is_empty()).then(|| {
            format!(
                "{} did not answer in time as another CPU compared its clock with theirs. The kernel left that check out, and found no clock \
                 unstable by it. Whether interrupts were disabled there, or the CPUs' way to each other was slow, is not shown",
                cpus(&self.silent)
            )
        })
    }

    fn reads_meaning(&self) -> Option<String> {
        (self.was_skipped || self.was_retried).then_some(())?;
        let on = if self.cpus.is_empty() { String::new() } else { format!(" on {}", cpus(&self.cpus)) };
        let reference = self
            .reference
            .as_ref()
            .map_or("the reference clock".to_owned(), |name| format!("the reference clock {name}"));
        let checked = self.checked.as_deref().unwrap_or("the clock");
        let mut parts = Vec::new();
        match self.delays {
            Some((least, most)) if least < most => parts.push(format!(
                "two reads of {reference} in a row took {least} to {most}{on}, too long to check {checked} by it"
            )),
            Some((delay, _)) => parts.push(format!(
                "two reads of {reference} in a row took {delay}{on}, too long to check {checked} by it"
            )),
            None if self.was_retried => parts
                .push(format!("a check of {checked} by {reference} was good only after further reads{on}")),
            None if self.interval.is_none() => {
                parts.push(format!("reads of the clocks took too long to check {checked}{on}"));
            }
            None => {}
        }
        if let Some(interval) = self.interval {
            parts.push(format!(
                "a check of the clocks came {interval} after the one before it, and not after 500 ms: its timer was late, or the \
                 machine stood still"
            ));
        }
        let mut text = parts.join("; ");
        text.push_str(if self.was_skipped {
            ". The kernel skipped the check, and found no clock unstable by it"
        } else {
            ". The kernel found no clock unstable by it"
        });
        if self.delays.is_some() || self.was_retried {
            let name = self.reference.as_deref().unwrap_or("that clock");
            text.push_str(&format!(
                ". Either reads of {name} are slow here, as in a virtual machine, or something took the CPU between them: an interrupt \
                 of the firmware (SMI) or a hypervisor"
            ));
        }
        Some(text)
    }
}

/// Adds a CPU to a list in ascending order.
fn add(cpus: &mut Vec<u32>, cpu: u32) {
    if cpus.len() < MOST_CPUS
        && let Err(at) = cpus.binary_search(&cpu)
    {
        cpus.insert(at, cpu);
    }
}

/// The nanoseconds behind these words.
fn ns_behind(text: &str, words: &str) -> Option<Ns> {
    number_behind(text, words).and_then(|ns| i64::try_from(ns).ok()).map(Ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(lines: &[&str]) -> Option<String> {
        let mut reads = ClockReads::default();
        assert!(lines.iter().all(|line| reads.line(line)));
        reads.meaning()
    }

    #[test]
    fn slow_reads_of_the_reference_are_no_unstable_clock() {
        let first = "clocksource: timekeeping watchdog on CPU2: hpet wd-wd read-back delay of 120456ns";
        let skipped = "clocksource: wd-tsc-wd read-back delay of 140123ns, clock-skew test skipped!";
        let end = ". The kernel skipped the check, and found no clock unstable by it. Either reads of hpet are slow here, as in a \
                   virtual machine, or something took the CPU between them: an interrupt of the firmware (SMI) or a hypervisor";
        let one = "two reads of the reference clock hpet in a row took 120.5 us on CPU 2, too long to check the clock by it";
        assert_eq!(meaning(&[first]), Some(format!("{one}{end}")));
        let longer = "timekeeping watchdog on CPU0: hpet wd-wd read-back delay of 300000ns";
        let all = "two reads of the reference clock hpet in a row took 120.5 us to 300.0 us on CPUs 0 and 2, too long to check tsc by it";
        assert_eq!(meaning(&[first, skipped, longer]), Some(format!("{all}{end}")));
        assert_eq!(
            meaning(&[skipped]).as_deref(),
            Some(
                "reads of the clocks took too long to check tsc. The kernel skipped the check, and found no clock unstable by it"
            )
        );
    }

    #[test]
    fn retried_reads_and_late_checks_are_told_apart() {
        let retried = "clocksource: timekeeping watchdog on CPU5: hpet retried 2 times before success";
        let means = meaning(&[retried]).unwrap_or_default();
        assert!(means.starts_with("a check of the clock by the reference clock hpet was good only after further reads on CPU 5. The kernel found no clock unstable"), "{means}");
        let long = "clocksource: Long readout interval, skipping watchdog check: cs_nsec: 6000000000 wd_nsec: 5000000000";
        assert_eq!(
            meaning(&[long]).as_deref(),
            Some(
                "a check of the clocks came 6.000 s after the one before it, and not after 500 ms: its timer was late, or the \
                 machine stood still. The kernel skipped the check, and found no clock unstable by it"
            )
        );
        let mut other = ClockReads::default();
        assert!(!other.line("clocksource: timekeeping watchdog on CPU3: hpet read-back delay of 67600ns, attempt 4, marking unstable"));
        assert_eq!(other.meaning(), None);
    }

    #[test]
    fn cpus_that_do_not_answer_are_named_and_no_clock_is_blamed() {
        let remote = |cpu: u32| format!("clocksource: Watchdog remote CPU {cpu} read timed out");
        let means = meaning(&[&remote(7), &remote(5), &remote(7)]).unwrap_or_default();
        assert!(means.starts_with("CPUs 5 and 7 did not answer in time as another CPU compared"), "{means}");
        assert!(means.contains("found no clock unstable"), "{means}");
        let reference = "clocksource: Watchdog hpet read timed out. Readout sequence took: 120456ns";
        let means = meaning(&[reference, &remote(7)]).unwrap_or_default();
        assert!(means.starts_with("two reads of the reference clock hpet in a row took 120.5 us"), "{means}");
        assert!(means.contains("; CPU 7 did not answer in time"), "{means}");
    }
}
