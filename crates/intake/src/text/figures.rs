//! Outputs of other programs that have no events, but figures of their own to show.

use super::getdelays::DelayAccounts;
use super::jack::JackLog;
use super::known::RECORD;
use super::others;
use super::rt_trace_bcc::RtTraceRows;

const GETDELAYS: &str =
    "the output of getdelays, which has the kernel's sums of what a thread or a process waited for";
const RT_TRACE: &str = "the output of rt-trace-bcc, which has calls that interrupt other CPUs";

/// An output with figures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Figures {
    /// A log of JACK.
    Jack(JackLog),
    /// Delay accounting.
    Delays(DelayAccounts),
    /// Calls that interrupt CPUs.
    Calls(RtTraceRows),
}

impl Figures {
    /// One that begins with this line.
    pub(super) fn beginning(line: &str) -> Option<Figures> {
        let delays = DelayAccounts::beginning(line).map(Figures::Delays);
        delays.or_else(|| RtTraceRows::beginning(line).map(Figures::Calls))
    }

    /// Takes in a line.
    pub(super) fn line(&mut self, number: u64, line: &str) {
        match self {
            Figures::Jack(log) => log.line(number, line),
            Figures::Delays(accounts) => accounts.line(line),
            Figures::Calls(rows) => rows.line(line),
        }
    }

    /// What it is, in words.
    pub(crate) fn what(&self) -> &'static str {
        match self {
            Figures::Jack(_) => others::JACK,
            Figures::Delays(_) => GETDELAYS,
            Figures::Calls(_) => RT_TRACE,
        }
    }

    /// What to give instead.
    pub(crate) fn advice(&self) -> &'static str {
        RECORD
    }

    /// What it shows, in words.
    pub(crate) fn known(&self) -> Option<String> {
        match self {
            Figures::Jack(log) => log.known(),
            Figures::Delays(accounts) => accounts.known(),
            Figures::Calls(rows) => rows.known(),
        }
    }
}
