//! What a container shows of the whole recording, as [`TraceInfo`].

use super::compress::Compression;
use super::container::Container;
use crate::tracefs::{ACTIVATION_BEGIN, ACTIVATION_END, PROBE_GROUP};
use whylate_events::{Damage, ProbedActivations, TraceInfo};

pub(super) fn describe(container: &Container) -> TraceInfo {
    let format = match (container.version, container.compression) {
        (6, _) => "trace.dat v6".to_owned(),
        (version, Compression::None) => format!("trace.dat v{version}"),
        (version, compression) => format!("trace.dat v{version} ({})", compression.name()),
    };
    let mut damage = container.damage.clone();
    if container.unlisted > 0 {
        damage.push(Damage::whole(format!("{} more damaged places", container.unlisted)));
    }
    let mut clocks: Vec<&str> =
        container.buffers.iter().filter_map(|buffer| buffer.clock.as_deref()).collect();
    clocks.dedup();
    if clocks.len() > 1 {
        let what = format!(
            "the buffers were recorded with different clocks ({}): their events do not line up",
            clocks.join(", ")
        );
        damage.push(Damage::whole(what).doubt());
    }
    let clock = clocks.first().map(|&clock| clock.to_owned()).or_else(|| container.clock.clone());
    if let Some(clock) = clock.as_deref().filter(|clock| TICKING.contains(clock))
        && container.times.tsc.is_none()
    {
        let what = format!(
            "the trace clock {clock} counts ticks, and the file does not say how long one is: times are in \
             ticks and not in ns"
        );
        damage.push(Damage::whole(what).doubt());
    }
    let recorded_cpus = container
        .buffers
        .iter()
        .flat_map(|buffer| &buffer.cpus)
        .map(|data| data.cpu.0.saturating_add(1))
        .max();
    let data_bytes = container
        .buffers
        .iter()
        .flat_map(|buffer| &buffer.cpus)
        .fold(container.gone_bytes, |sum: u64, data| sum.saturating_add(data.size));
    // `Linux <node> <release> <machine>`
    let mut uname = container.uname.as_deref().unwrap_or_default().split_ascii_whitespace().rev();
    let machine = uname.next().map(str::to_owned);
    let kernel_release = uname.next().map(str::to_owned);
    // A recording without its host's name has a stand-in in brackets, as a kernel without a name has `(none)`.
    let host = uname.next().filter(|name| !name.starts_with('(')).map(str::to_owned);
    TraceInfo {
        format,
        cpus: container.cpu_count.max(recorded_cpus.unwrap_or(0)),
        clock,
        kernel_release,
        machine,
        host,
        probed: probed(container),
        time_shifted: container.times.shifted(),
        data_bytes: Some(data_bytes),
        damage,
        ..TraceInfo::default()
    }
}

/// What probes of our own show of a program, by the formats of their events.
fn probed(container: &Container) -> Option<ProbedActivations> {
    let has = |name| {
        container
            .formats
            .iter()
            .any(|format| (format.system.as_str(), format.name.as_str()) == (PROBE_GROUP, name))
    };
    has(ACTIVATION_BEGIN).then(|| match has(ACTIVATION_END) {
        true => ProbedActivations::BeginAndEnd,
        false => ProbedActivations::Begin,
    })
}

/// Trace clocks that count something else than nanoseconds (`trace_clocks`, `kernel/trace/trace.c`, and
/// `ARCH_TRACE_CLOCKS`).
pub(super) const TICKING: [&str; 3] = ["counter", "x86-tsc", "ppc-tb"];
