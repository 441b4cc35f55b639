//! The histograms of `rtla timerlat hist` and `rtla osnoise hist` (tools/tracing/rtla/src/timerlat_hist.c,
//! osnoise_hist.c): a column for each CPU, and of timerlat for each of its contexts.

use super::counted::{Counted, Source, Unit};
use super::error::Broken;
use whylate_base::{Cpu, Ns};
use whylate_stats::Run;

/// `Index   IRQ-000   Thr-000`, then `3   940   11815`, then `over:`, `count:`, `min:`, `avg:`, `max:` of each column.
pub(super) fn read(text: &str) -> Option<Result<Run, Broken>> {
    let title = text.lines().find(|line| line.starts_with("# RTLA "))?;
    let header = text.lines().find_map(|line| line.trim_start().strip_prefix("Index"))?;
    let probe = if title.contains("timerlat") { "timerlat" } else { "osnoise" };
    let unit = match text.lines().any(|line| line.starts_with("# Time unit is nanoseconds")) {
        true => Unit::NS,
        false => Unit::US,
    };
    let source = Source { tool: "rtla", probe, unit };
    if let Err(broken) = source.at_most(header.split_ascii_whitespace().count()) {
        return Some(Err(broken));
    }
    let mut columns: Vec<Counted> = header.split_ascii_whitespace().map(column).collect();
    // Newer ones sum all CPUs up below the table.
    let table = text.lines().skip_while(|line| !line.trim_start().starts_with("Index")).skip(1);
    for line in table.take_while(|line| !line.starts_with("ALL:")) {
        let Some((name, rest)) = line.trim_start().split_once(char::is_whitespace) else { continue };
        for (column, value) in columns.iter_mut().zip(rest.split_ascii_whitespace()) {
            let Ok(value) = value.parse::<u64>() else { continue };
            match (name, name.parse::<u64>()) {
                (_, Ok(class)) => column.classes.push((class, value)),
                ("over:", _) => column.overflow = value,
                ("min:", _) => column.min = Some(value),
                ("avg:", _) => column.mean = Some(value as f64),
                ("max:", _) => column.max = Some(value),
                _ => {}
            }
        }
    }
    let elapsed = text.lines().find_map(|line| line.strip_prefix("# Duration:")).and_then(duration);
    Some(source.run(columns).map(|run| Run { elapsed, ..run }))
}

/// `IRQ-003`, `Thr-003`, `Usr-003`, `CPU-003`.
fn column(title: &str) -> Counted {
    let (context, number) = title.split_once('-').unwrap_or((title, ""));
    let cpu = number.parse().ok().map(Cpu);
    let name = match (context, cpu) {
        ("IRQ", Some(cpu)) => format!("CPU {cpu}, interrupt"),
        ("Thr", Some(cpu)) => format!("CPU {cpu}, thread"),
        ("Usr", Some(cpu)) => format!("CPU {cpu}, user space"),
        (_, Some(cpu)) => format!("CPU {cpu}"),
        _ => title.to_owned(),
    };
    Counted { cpu, name, ..Counted::default() }
}

/// `   0 00:10:00`: days, hours, minutes, seconds.
fn duration(text: &str) -> Option<Ns> {
    let (days, time) = text.trim().split_once(char::is_whitespace)?;
    // Narrow numbers: what they make up fits into a wide one.
    let mut parts = time.trim().split(':').map(|part| part.parse::<u16>().ok().map(i64::from));
    let mut part = || parts.next()?;
    let (hours, minutes, seconds) = (part()?, part()?, part()?);
    let days = i64::from(days.parse::<u16>().ok()?);
    Some(Ns::from_secs(((days * 24 + hours) * 60 + minutes) * 60 + seconds))
}
