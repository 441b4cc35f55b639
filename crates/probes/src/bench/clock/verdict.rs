//! What the costs of clocks mean.

use super::published::{SOURCES, row_of_source};
use super::timer;
use crate::bench::{BenchRow, BenchVerdict};
use whylate_base::{Ns, Severity};
use whylate_sys::PosixClock;

/// A source that costs less than this share of the current one is worth a change.
const WORTH: f64 = 0.8;
/// The resolution of clock_getres(2) with high-resolution timers is 1 ns; without them it is the tick.
const HIGH_RESOLUTION: Ns = Ns::from_us(1);

/// The verdict on these rows, with the clock source that is in use.
pub(super) fn verdict(rows: &[BenchRow], current: Option<&str>) -> Vec<BenchVerdict> {
    let row = |name: &str| rows.iter().find(|row| row.name == name);
    let mut verdict = Vec::new();
    let monotonic = row(PosixClock::MONOTONIC.name());
    if let Some(monotonic) = monotonic {
        verdict.push(reading(monotonic, current));
    }
    if let (Some(current), Some(own)) = (current, current.and_then(|name| row(&row_of_source(name)))) {
        verdict.extend(sources(rows, current, own));
    }
    verdict.extend(rows.iter().filter_map(backwards));
    if let (Some(fine), Some(coarse)) = (monotonic, row(PosixClock::MONOTONIC_COARSE.name())) {
        verdict.push(coarse_clock(fine, coarse));
    }
    verdict.extend(monotonic.and_then(resolution));
    if let Some(late) = row(timer::NANOSLEEP) {
        let text = format!(
            "A sleep of {} ends {} late in half of the cases, and {} at worst.",
            timer::SLEEP,
            late.per_operation.p50,
            late.per_operation.max
        );
        verdict.push(BenchVerdict::new(Severity::Info, text));
    }
    verdict
}

fn reading(row: &BenchRow, current: Option<&str>) -> BenchVerdict {
    let cost = row.per_operation.p50;
    let source = current.map(|name| format!(" (clock source {name})")).unwrap_or_default();
    match row.clock.as_ref().and_then(|clock| clock.makes_system_call) {
        Some(false) => BenchVerdict::new(
            Severity::Info,
            format!("A reading of CLOCK_MONOTONIC costs {cost}, in user mode (vDSO){source}."),
        ),
        Some(true) => BenchVerdict::new(
            Severity::Warning,
            format!(
                "A reading of CLOCK_MONOTONIC costs {cost}, because each is a system call{source}: the vDSO does not \
                 support this clock source."
            ),
        ),
        None => BenchVerdict::new(
            Severity::Info,
            format!(
                "A reading of CLOCK_MONOTONIC costs {cost}{source}; whether it makes a system call cannot be told, \
                 because the kernel refused the seccomp filter."
            ),
        ),
    }
}

/// Whether another source would be cheaper, and what the dearest costs.
fn sources(rows: &[BenchRow], current: &str, own: &BenchRow) -> Option<BenchVerdict> {
    let others = || rows.iter().filter(|row| row.group == SOURCES && row.name != own.name);
    let cheapest = others().min_by(|a, b| a.per_operation.p50.0.total_cmp(&b.per_operation.p50.0))?;
    let ratio = cheapest.per_operation.p50.ratio(own.per_operation.p50);
    let (name, cost) = (source_of(cheapest), cheapest.per_operation.p50);
    Some(match ratio < WORTH {
        true => BenchVerdict::new(
            Severity::Warning,
            format!(
                "The clock source {name} costs {cost} a reading, {current} {}: change to it, after a look at why the \
                 kernel chose {current} (dmesg | grep -i clocksource).",
                own.per_operation.p50
            ),
        ),
        false => BenchVerdict::new(
            Severity::Info,
            format!("{current} is the cheapest clock source here; the next is {name} with {cost}."),
        ),
    })
}

fn source_of(row: &BenchRow) -> &str {
    row.name.strip_prefix("clock source ").unwrap_or(&row.name)
}

fn backwards(row: &BenchRow) -> Option<BenchVerdict> {
    let clock = row.clock.as_ref().filter(|clock| clock.steps_backwards > 0)?;
    let can_be_set = PosixClock::ALL.iter().any(|known| known.name() == row.name && known.can_be_set());
    let (severity, why) = match can_be_set {
        true => (Severity::Warning, "another program may have set it"),
        false => (Severity::Error, "the clock source cannot be relied on"),
    };
    let text = format!(
        "{} went backwards in {} of {} readings, by {} at worst: {why}.",
        row.name, clock.steps_backwards, clock.readings, clock.worst_step_backwards
    );
    Some(BenchVerdict::new(severity, text))
}

fn coarse_clock(fine: &BenchRow, coarse: &BenchRow) -> BenchVerdict {
    let (fine, cost) = (fine.per_operation.p50, coarse.per_operation.p50);
    let step = coarse.clock.as_ref().and_then(|clock| clock.resolution_claimed);
    let step = step.map(|step| format!(", with steps of {step}")).unwrap_or_default();
    let text = match cost.0 < fine.0 {
        true => {
            format!("CLOCK_MONOTONIC_COARSE costs {cost}, {:.1} times less{step}.", fine.ratio(cost))
        }
        false => format!("CLOCK_MONOTONIC_COARSE costs {cost}, not less{step}."),
    };
    BenchVerdict::new(Severity::Info, text)
}

fn resolution(row: &BenchRow) -> Option<BenchVerdict> {
    let claimed = row.clock.as_ref()?.resolution_claimed.filter(|claimed| *claimed > HIGH_RESOLUTION)?;
    Some(BenchVerdict::new(
        Severity::Warning,
        format!(
            "The resolution of CLOCK_MONOTONIC is {claimed}: the kernel has no high-resolution timers, so no sleep ends \
             more precisely (CONFIG_HIGH_RES_TIMERS, kernel parameter highres=)."
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{ClockFacts, PerOperation};

    fn row(group: &str, name: &str, cost: i64, clock: ClockFacts) -> BenchRow {
        let samples = [Ns(cost)].into_iter().collect();
        BenchRow {
            group: group.to_owned(),
            name: name.to_owned(),
            operations: 1,
            per_operation: PerOperation::of(&samples, 1).expect("a sample"),
            samples,
            round_medians: Vec::new(),
            sending: None,
            clock: Some(clock),
        }
    }

    fn severities(rows: &[BenchRow]) -> Vec<Severity> {
        verdict(rows, Some("tsc")).iter().map(|verdict| verdict.severity).collect()
    }

    #[test]
    fn a_system_call_a_cheaper_source_and_a_step_backwards_are_reported() {
        let fast = ClockFacts { makes_system_call: Some(false), ..ClockFacts::default() };
        let slow = ClockFacts { makes_system_call: Some(true), ..ClockFacts::default() };
        let back = ClockFacts { steps_backwards: 2, ..fast.clone() };
        let source = |name: &str, cost| row(SOURCES, &row_of_source(name), cost, fast.clone());
        assert_eq!(severities(&[row("c", "CLOCK_MONOTONIC", 20, fast.clone())]), [Severity::Info]);
        assert_eq!(severities(&[row("c", "CLOCK_MONOTONIC", 300, slow)]), [Severity::Warning]);
        assert_eq!(severities(&[row("c", "CLOCK_MONOTONIC_RAW", 20, back.clone())]), [Severity::Error]);
        assert_eq!(severities(&[row("c", "CLOCK_REALTIME", 20, back)]), [Severity::Warning]);
        assert_eq!(severities(&[source("tsc", 20), source("hpet", 1_200)]), [Severity::Info]);
        assert_eq!(severities(&[source("tsc", 200), source("kvm-clock", 40)]), [Severity::Warning]);
        assert_eq!(severities(&[]), []);
    }
}
