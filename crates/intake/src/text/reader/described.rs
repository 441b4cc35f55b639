//! What is known of a text as a whole: its description, and what could not be read of it.

use super::Reader;
use crate::text::programs;
use crate::text::tables::{self, Other};
use whylate_base::{Cpu, CpuSet, Ns};
use whylate_events::{Damage, LatencyTrace, Tool, TraceInfo};

impl Reader {
    /// What the headers behind the first report.
    pub(crate) fn further_headers(&self) -> Vec<LatencyTrace> {
        self.header.further.iter().filter(|trace| trace.latency > Ns::ZERO).cloned().collect()
    }

    /// What the text is, if it has no event: a log of the kernel, too, if its lines have the times of one.
    pub(crate) fn named_other(&mut self) -> Option<Other> {
        let is_log = self.stamps.are_of_log(self.lines) && self.header.tracer.is_none();
        match self.other.take() {
            None | Some(Other::Stacks(_)) if is_log => Some(Other::QuietLog),
            Some(Other::Guess { what, .. }) if is_log && programs::is_of_settings(what) => {
                Some(Other::QuietLog)
            }
            Some(Other::KernelLog(mut log)) => {
                log.set_hz(self.hz);
                Some(Other::KernelLog(log))
            }
            other => other,
        }
    }

    /// What is known of the text so far.
    pub(crate) fn info(&self) -> TraceInfo {
        let is_rtla = self.collected.last.is_none() && !self.analyses.breakdowns.is_empty();
        TraceInfo {
            format: match self.analyses.breakdowns.first().filter(|_| is_rtla).map(|first| first.tool) {
                Some(Tool::Hwlatdetect) => "hwlatdetect report".to_owned(),
                Some(_) => "rtla report".to_owned(),
                None if self.collected.is_timehist() => "perf sched timehist text".to_owned(),
                None => self.header.format(),
            },
            events: self.collected.read,
            lost_events: self.collected.lost,
            cpus: self
                .header
                .cpus
                .unwrap_or(0)
                .max(self.cpus_seen().iter().last().map_or(0, |cpu| cpu.0 + 1)),
            cpus_seen: if self.header.cpus.is_some() { CpuSet::default() } else { self.cpus_seen() },
            clock: self.header.clock.clone(),
            kernel_release: self.header.kernel_release.clone(),
            machine: self.header.machine.clone(),
            span: self.collected.span,
            damage: self.damage(),
            left_out: self.collected.left_out(),
            tracer: self.header.tracer.clone(),
            latency: self.header.latency.clone(),
            breakdowns: self.analyses.breakdowns.clone(),
            ..TraceInfo::default()
        }
    }

    fn cpus_seen(&self) -> CpuSet {
        let analysed = self.analyses.breakdowns.iter().map(|breakdown| breakdown.cpu);
        analysed.filter(|&cpu| cpu != Cpu::UNKNOWN).chain(self.collected.cpus.iter()).collect()
    }

    /// The kernel's log beside rows, which explains what is late as well.
    fn logged(&self) -> Option<Damage> {
        let log = tables::logged(self.other.as_ref()).filter(|_| self.collected.last.is_some())?;
        Some(
            Damage::whole(format!("the text has messages of the kernel's log beside its rows. {log}"))
                .detail(),
        )
    }

    fn damage(&self) -> Vec<Damage> {
        let [more, other] = self.further.damage(self.header.further_traces());
        let damages = [
            self.strange_lines.damage("skipped lines that seem to be of a trace, in no known form"),
            self.prose.damage("skipped lines that are no trace lines").map(Damage::detail),
            self.strange_fields
                .damage("events with fields in no known form, of which only time and thread are used"),
            self.cut_lines.damage("lines far longer than a trace's, of which the end was skipped"),
            self.decimals
                .damaged
                .damage("rows left out, whose stamp has more decimals than those of the others"),
            self.logged(),
            self.bare_calls.damage(),
            self.delay_table.beside_rows().filter(|_| self.has_content()),
            more,
            other,
            self.analyses.damage(),
            self.failed.clone(),
            self.above_header.clone(),
        ];
        self.collected.damage().into_iter().chain(damages).flatten().collect()
    }
}
