//! The rows of `runs`, `machines` and `settings`.

use super::Rows;
use crate::batch::Cell;

/// A row of `runs`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunFacts {
    /// The sort of input.
    pub(crate) kind: &'static str,
    /// The file's name.
    pub(crate) source: String,
    /// The program that made it.
    pub(crate) tool: Option<String>,
    /// Of a measurement: what a sample is.
    pub(crate) probe: Option<String>,
    /// How long it took.
    pub(crate) duration_ns: Option<i64>,
    /// The kernel's release.
    pub(crate) kernel: Option<String>,
    /// Events read.
    pub(crate) events: Option<u64>,
    /// Events that the kernel lost.
    pub(crate) lost_events: Option<u64>,
    /// How far a recording can be relied on.
    pub(crate) quality: Option<&'static str>,
    /// Places that could not be read.
    pub(crate) damage: Option<u64>,
    /// Samples of all threads.
    pub(crate) samples: Option<u64>,
    /// The largest latency, or the longest response.
    pub(crate) max_ns: Option<i64>,
    /// Explained threads that are not in the tables.
    pub(crate) unlisted_threads: Option<u64>,
    /// The date is still to come.
    pub(crate) future: Option<bool>,
}

/// A row of `machines`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MachineFacts {
    /// `uname -r`.
    pub(crate) kernel: Option<String>,
    /// `uname -v`.
    pub(crate) version: Option<String>,
    /// PREEMPT_RT.
    pub(crate) rt: Option<bool>,
    /// `uname -m`.
    pub(crate) arch: Option<String>,
    /// The CPU's or the board's model.
    pub(crate) cpu_model: Option<String>,
    /// How many CPUs.
    pub(crate) cpus: Option<u32>,
    /// The CPUs online.
    pub(crate) online: Option<String>,
    /// The isolated CPUs.
    pub(crate) isolated: Option<String>,
    /// Maker and product.
    pub(crate) board: Option<String>,
    /// Version and date.
    pub(crate) firmware: Option<String>,
    /// The kernel's command line.
    pub(crate) cmdline: Option<String>,
    /// The clock source.
    pub(crate) clocksource: Option<String>,
    /// TuneD's active profile.
    pub(crate) profile: Option<String>,
    /// A guest of a hypervisor.
    pub(crate) is_virtual: Option<bool>,
}

impl Rows<'_> {
    pub(crate) fn run(&mut self, facts: &RunFacts) {
        self.push(
            "runs",
            [
                facts.kind.into(),
                Cell::from(&facts.source),
                facts.tool.as_ref().into(),
                facts.probe.as_ref().into(),
                facts.duration_ns.into(),
                facts.kernel.as_ref().into(),
                facts.events.into(),
                facts.lost_events.into(),
                facts.quality.into(),
                facts.damage.into(),
                facts.samples.into(),
                facts.max_ns.into(),
                facts.unlisted_threads.into(),
                facts.future.into(),
            ],
        );
    }

    pub(crate) fn machine(&mut self, facts: &MachineFacts) {
        // What no update of its software changes.
        let hardware = [
            ("architecture", facts.arch.clone()),
            ("CPU", facts.cpu_model.clone()),
            ("board", facts.board.clone()),
        ];
        self.hardware.extend(hardware.into_iter().filter_map(|(name, value)| Some((name, value?))));
        self.push(
            "machines",
            [
                facts.kernel.as_ref().into(),
                facts.version.as_ref().into(),
                facts.rt.into(),
                facts.arch.as_ref().into(),
                facts.cpu_model.as_ref().into(),
                facts.cpus.into(),
                facts.online.as_ref().into(),
                facts.isolated.as_ref().into(),
                facts.board.as_ref().into(),
                facts.firmware.as_ref().into(),
                facts.cmdline.as_ref().into(),
                facts.clocksource.as_ref().into(),
                facts.profile.as_ref().into(),
                facts.is_virtual.into(),
            ],
        );
    }

    pub(crate) fn settings(&mut self, settings: &[(String, String)]) {
        for (name, value) in settings {
            self.push("settings", [name.into(), value.into()]);
        }
    }
}
