//! The lines of the live view: a row of bars for each CPU over one axis, its maximum and when that was; then the last
//! spikes.

use std::collections::BTreeMap;
use std::fmt::Write;
use whylate_base::{Ns, Tid};
use whylate_investigate::measure::{ExplainedSpike, NotExplained};
use whylate_probes::CpuResult;
use whylate_stats::Histogram;

/// What is to be seen at an instant.
pub(super) struct Frame<'a> {
    pub(super) elapsed: Ns,
    pub(super) duration: Ns,
    /// On CLOCK_MONOTONIC, as the spikes.
    pub(super) now: Ns,
    pub(super) cpus: &'a [CpuResult],
    pub(super) spikes: &'a [ExplainedSpike],
    /// What went wrong meanwhile.
    pub(super) news: &'a [String],
}

/// What is remembered from one frame to the next.
#[derive(Default)]
pub(super) struct View {
    /// Each thread's maximum, and how far the measurement was when it was first seen.
    maxima: BTreeMap<Tid, (Ns, Ns)>,
}

/// `thread 4194304  331.2 us 12 min 59 s ago   `
const BESIDE: usize = 43;

impl View {
    pub(super) fn lines(
        &mut self,
        frame: &Frame<'_>,
        columns: usize,
        rows: usize,
        color: bool,
    ) -> Vec<String> {
        self.remember(frame);
        let paint = |code: &str, text: &str| match color {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        };
        let mut lines = vec![paint("1", &cut(&self.title(frame), columns))];
        lines.extend(frame.news.iter().map(|news| paint("33", &cut(news, columns))));
        lines.push(String::new());

        let spikes = latest(frame.spikes);
        // The title, the axis, three lines between, and as many spikes as leave the CPUs half of the rest.
        let rest = rows.saturating_sub(6 + frame.news.len()).max(1);
        let listed = spikes.len().min((rest / 2).max(rest.saturating_sub(frame.cpus.len())));
        let room = rest - listed.min(rest);
        let chosen = self.chosen(frame.cpus, room);
        let width = columns.saturating_sub(BESIDE).min(120);
        if let Some(axis) = Axis::of(frame.cpus.iter().map(|cpu| &cpu.histogram)).filter(|_| width >= 8) {
            lines.push(paint("2", &cut(&format!("{:BESIDE$}{}", "", axis.ticks(width)), columns)));
            for cpu in &chosen {
                let beside = cut(&self.beside(cpu, frame.elapsed), columns);
                lines.push(beside + &paint("36", &bars(&axis.bins(&cpu.histogram, width))));
            }
        } else {
            lines.extend(chosen.iter().map(|cpu| cut(&self.beside(cpu, frame.elapsed), columns)));
        }
        if chosen.len() < frame.cpus.len() {
            let more = frame.cpus.len() - chosen.len();
            lines.push(cut(&format!("{more} more threads, none of them later"), columns));
        }
        if listed > 0 {
            lines.push(String::new());
            lines.push(paint("2", &cut("the last spikes", columns)));
            lines.extend(spikes[..listed].iter().map(|spike| cut(&spike_line(spike, frame.now), columns)));
        }
        lines.truncate(rows);
        lines
    }

    fn remember(&mut self, frame: &Frame<'_>) {
        for cpu in frame.cpus {
            let Some(max) = cpu.histogram.max() else { continue };
            let known = self.maxima.entry(cpu.tid).or_insert((max, frame.elapsed));
            if max > known.0 {
                *known = (max, frame.elapsed);
            }
        }
    }

    fn title(&self, frame: &Frame<'_>) -> String {
        let samples: u64 = frame.cpus.iter().map(|cpu| cpu.histogram.count()).sum();
        let mut title = format!("{} of {}: {samples} samples", time(frame.elapsed), time(frame.duration));
        // Of equal ones the last.
        let known = frame.cpus.iter().filter_map(|cpu| Some((self.maxima.get(&cpu.tid)?, cpu)));
        if let Some(((max, seen), cpu)) = known.max_by_key(|(known, _)| **known) {
            let _ = write!(title, ", max {max} ({}), {} ago", cpu.name(), time(frame.elapsed - *seen));
        }
        title
    }

    fn beside(&self, cpu: &CpuResult, elapsed: Ns) -> String {
        let name = cpu.name();
        match self.maxima.get(&cpu.tid) {
            Some((max, seen)) => {
                let age = format!("{} ago", time(elapsed - *seen));
                format!("{name:<15} {:>9} {age:<w$}", max.to_string(), w = BESIDE - 26)
            }
            None => format!("{name:<15} {:>9} {:w$}", "-", "", w = BESIDE - 26),
        }
    }

    /// Where there is no room for all: those with the largest maxima.
    fn chosen<'a>(&self, cpus: &'a [CpuResult], room: usize) -> Vec<&'a CpuResult> {
        let mut chosen: Vec<&CpuResult> = cpus.iter().collect();
        if cpus.len() > room {
            chosen.sort_by_key(|cpu| std::cmp::Reverse(cpu.histogram.max()));
            chosen.truncate(room.saturating_sub(1).max(1));
            chosen.sort_by_key(|cpu| cpu.cpu);
        }
        chosen
    }
}

/// By its CPU, where it has one of its own.
/// The last one first.
fn latest(spikes: &[ExplainedSpike]) -> Vec<&ExplainedSpike> {
    let mut spikes: Vec<&ExplainedSpike> = spikes.iter().collect();
    spikes.sort_by_key(|spike| std::cmp::Reverse(spike.measured.due));
    spikes
}

fn spike_line(spike: &ExplainedSpike, now: Ns) -> String {
    let age = format!("{} ago", time(now - spike.measured.woken));
    let why = match &spike.answer {
        Ok(activation) => activation.verdict.why.clone(),
        Err(NotExplained::NotYet) => "not explained yet".to_owned(),
        Err(why) => why.to_string(),
    };
    let cpu = format!("CPU {}", spike.measured.cpu);
    format!("{age:>12}  {cpu:<8} {:>9}  {why}", spike.latency().to_string())
}

/// Whole seconds, minutes, hours.
fn time(time: Ns) -> String {
    let seconds = time.0.max(0) / 1_000_000_000;
    match (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, s) => format!("{s} s"),
        (0, 0, m, s) => format!("{m} min {s} s"),
        (0, h, m, _) => format!("{h} h {m} min"),
        (d, h, ..) => format!("{d} d {h} h"),
    }
}

/// As much as there is room for; what moves the cursor is left out.
fn cut(text: &str, columns: usize) -> String {
    text.chars().filter(|c| !c.is_control()).take(columns).collect()
}

/// Whole decades from below the least to above the most: it stands still while the maximum grows.
struct Axis {
    from: u32,
    to: u32,
}

impl Axis {
    fn of<'a>(histograms: impl Iterator<Item = &'a Histogram> + Clone) -> Option<Axis> {
        let least = histograms.clone().filter_map(Histogram::min).min()?;
        let most = histograms.filter_map(Histogram::max).max()?;
        let from = least.0.max(1).ilog10();
        Some(Axis { from, to: (most.0.max(1).ilog10() + 1).max(from + 1) })
    }

    fn column(&self, latency: Ns, width: usize) -> usize {
        let at = (latency.0.max(1) as f64).log10() - f64::from(self.from);
        ((at / f64::from(self.to - self.from) * width as f64).max(0.0) as usize).min(width.saturating_sub(1))
    }

    fn bins(&self, histogram: &Histogram, width: usize) -> Vec<u64> {
        let mut bins = vec![0; width];
        let max = histogram.max().unwrap_or_default();
        let mut add = |latency: Ns, count: u64| {
            if let Some(bin) = bins.get_mut(self.column(latency.min(max), width)) {
                *bin += count;
            }
        };
        histogram.buckets().iter().for_each(|bucket| add(bucket.upto, bucket.count));
        add(max, histogram.overflow());
        bins
    }

    /// Each decade's latency, at its column.
    fn ticks(&self, width: usize) -> String {
        let mut line = String::new();
        for decade in self.from..self.to {
            let name = short(decade);
            let at = self.column(Ns(10_i64.pow(decade)), width);
            let used = line.chars().count();
            if at >= used && at + name.len() <= width {
                line += &" ".repeat(at - used);
                line += &name;
                line.push(' ');
            }
        }
        line
    }
}

/// A power of ten of nanoseconds, without decimals.
fn short(decade: u32) -> String {
    let unit = ["ns", "us", "ms", "s"].get(decade as usize / 3);
    match unit {
        Some(unit) => format!("{}{unit}", 10_u32.pow(decade % 3)),
        None => format!("{}s", 10_u64.pow(decade - 9)),
    }
}

/// Heights are logarithmic: the one late wake-up in a million is what matters.
fn bars(bins: &[u64]) -> String {
    const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let highest = bins.iter().copied().max().unwrap_or(0);
    let height = |count: u64| (count as f64 + 1.0).ln() / (highest as f64 + 1.0).ln();
    let bar = |&count: &u64| match count {
        0 => ' ',
        _ => EIGHTHS[((height(count) * 8.0).ceil() as usize).clamp(1, 8)],
    };
    bins.iter().map(bar).collect()
}

#[cfg(test)]
mod tests;
