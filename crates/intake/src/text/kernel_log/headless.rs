//! Reports of soft lockups of which the first line is missing, as where a text was cut: `watchdog_timer_fn()` (`kernel/watchdog.c`) prints
//! the registers and the stack, and stands in the stack itself.
//!
//! ```text
//! CPU: 7 PID: 88 Comm: mill Not tainted 6.9.0 #1
//! RIP: 0010:grind+0x13/0x30
//! Call Trace:
//!  <IRQ>
//!  ? watchdog_timer_fn+0x1e3/0x260
//! ```

use super::lockups;
use super::owner::Owner;
use super::stamps;

/// The first line of a report is not farther above the line of its CPU.
const NEAR: u64 = 60;
/// What begins another report than that of a lockup.
const BEGINS: [&str; 7] = [
    "[ cut here ]",
    "WARNING: ",
    "BUG: ",
    "Kernel panic",
    "NMI backtrace for cpu",
    "Task dump for CPU",
    "sysrq: ",
];
/// What may stand above the function in the stack.
const ABOVE: [&str; 5] = ["dump_stack", "show_stack", "show_regs", "show_trace", "__pfx_"];
const REPORTER: &str = "watchdog_timer_fn";

/// The first line of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FirstLine {
    number: u64,
    /// The CPU that it names.
    cpu: Option<u32>,
}

/// Finds such reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HeadlessReports {
    /// The last first line, until the line of its CPU comes.
    begun: Option<FirstLine>,
    /// The line of a CPU that no first line stands above.
    head: Option<(u64, String)>,
    is_in_trace: bool,
}

impl HeadlessReports {
    /// Takes in a line, which may begin a report; the line of the CPU, once the stack below it shows that it is of a soft lockup.
    pub(super) fn line(&mut self, number: u64, line: &str, begins: bool) -> Option<(u64, String)> {
        let message = stamps::message(line);
        if begins || BEGINS.iter().any(|words| message.contains(words)) {
            self.begun = Some(FirstLine { number, cpu: lockups::soft_lockup_cpu(message) });
            self.head = None;
            return None;
        }
        if let Some(owner) = Owner::of(message) {
            let is_of_it = |first: FirstLine| {
                number.saturating_sub(first.number) <= NEAR
                    && first.cpu.is_none_or(|cpu| owner.cpu.is_none_or(|own| own == cpu))
            };
            let has_first_line = self.begun.take().is_some_and(is_of_it);
            let is_head = message.starts_with("CPU: ") && !has_first_line;
            self.head = is_head.then(|| (number, line.to_owned()));
            self.is_in_trace = false;
            return None;
        }
        self.head.as_ref()?;
        if message.trim() == "Call Trace:" || message.trim() == "Call trace:" {
            self.is_in_trace = true;
            return None;
        }
        let name = message.split_once("+0x").filter(|_| self.is_in_trace).map(|(name, _)| name);
        let name = name.and_then(|name| name.split_whitespace().next_back())?;
        if name == REPORTER {
            return self.head.take();
        }
        if !ABOVE.iter().any(|above| name.starts_with(above)) {
            self.head = None;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::HeadlessReports;

    const HEAD: &str = "[  9.1] CPU: 7 PID: 88 Comm: mill Not tainted 6.9.0 #1";
    const STACK: [&str; 5] = [
        "[  9.1] RIP: 0010:grind+0x13/0x30",
        "[  9.1] Call Trace:",
        "[  9.1]  <IRQ>",
        "[  9.1]  ? __pfx_watchdog_timer_fn+0x10/0x10",
        "[  9.1]  ? watchdog_timer_fn+0x1e3/0x260",
    ];

    fn found(above: &[&str], stack: &[&str]) -> Option<u64> {
        let mut reports = HeadlessReports::default();
        let lines = above.iter().chain(std::iter::once(&HEAD)).chain(stack);
        (1..).zip(lines).find_map(|(number, line)| {
            let begins = line.contains("soft lockup");
            reports.line(number, line, begins).map(|(number, _)| number)
        })
    }

    #[test]
    fn the_watchdog_in_the_stack_shows_what_the_report_is() {
        assert_eq!(found(&[], &STACK), Some(1));
        // The first line is of another CPU.
        let other = "[  8.1] watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [mill:9]";
        assert_eq!(found(&[other], &STACK), Some(2));
        assert_eq!(found(&[&other.replace("#3", "#7")], &STACK), None);
        assert_eq!(found(&["[  8.1] NMI backtrace for cpu 7"], &STACK), None);
        assert_eq!(found(&["[  8.1] rcu: INFO: BUG: stall"], &STACK), None);
        // The watchdog was interrupted.
        let other = ["Call Trace:", " nmi_cpu_backtrace+0x1/0x2", " watchdog_timer_fn+0x1e3/0x260"];
        assert_eq!(found(&[], &other), None);
        assert_eq!(found(&[], &["RIP: 0010:watchdog_timer_fn+0x13/0x30", "Call Trace:"]), None);
    }
}
