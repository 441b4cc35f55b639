//! What one CPU did, in sequences of events made by hand and at random.

use super::*;
use crate::timeline::irqs::Irqs;
use proptest::prelude::*;

#[test]
fn interrupts_nest_on_the_thread() {
    let mut irqs = Irqs::default();
    let nic = Running::Irq(irqs.id(Some(10), "eth0".into()));
    let mut cpu = CpuTimeline::default();
    cpu.switch(Ns(0), Tid(7), Priority(120));
    cpu.enter(Ns(10), Running::Softirq(3), false);
    cpu.enter(Ns(12), nic, false);
    cpu.exit(Ns(15), |running| running == nic);
    cpu.exit(Ns(18), |running| running == Running::Softirq(3));
    cpu.exit(Ns(19), |running| running == Running::Softirq(3));
    let task = Running::Task(Tid(7), Priority(120));
    let seen: Vec<_> = cpu.between(Ns(5), Ns(30)).map(|(from, to, s)| (from.0, to.0, s.running)).collect();
    assert_eq!(
        seen,
        [
            (5, 10, task),
            (10, 12, Running::Softirq(3)),
            (12, 15, nic),
            (15, 18, Running::Softirq(3)),
            (18, 30, task),
        ]
    );
}

/// What happens on a CPU, from a random number.
fn happen(cpu: &mut CpuTimeline, at: Ns, what: u32) {
    let tid = Tid((what / 16 % 4) as i32);
    let prio = if what.is_multiple_of(3) { Priority::DEFAULT } else { Priority::realtime(10) };
    match what % 16 {
        0..6 => cpu.switch(at, tid, prio),
        6..12 => cpu.enter(at, Running::Softirq(1), false),
        12..14 => drop(cpu.exit(at, |_| true)),
        14 => cpu.lose_sight(at),
        _ => cpu.correct(
            at - Ns(400),
            Running::Task(tid, Priority::DEFAULT),
            Running::Task(tid, Priority::realtime(20)),
        ),
    }
}

proptest! {
    #[test]
    fn blocks_and_slices_have_the_same_sums(
        seeds in prop::collection::vec((0u32..1 << 16, 0i64..3), 1..40),
        rounds in 1i64..200,
        forgotten in prop::collection::vec(0i64..100, 0..4),
        spans in prop::collection::vec((0i64..100, 0i64..100), 1..8),
    ) {
        let mut cpu = CpuTimeline::default();
        let mut at = 0;
        let mut forgotten = forgotten.into_iter();
        for round in 0..rounds {
            for (seed, step) in &seeds {
                at += step;
                happen(&mut cpu, Ns(at), seed.wrapping_mul(1 + round as u32));
            }
            if round % 50 == 49 && let Some(share) = forgotten.next() {
                cpu.forget(Ns(at * share / 100));
            }
        }
        for (from, length) in spans {
            let (from, to) = (Ns(at * from / 100), Ns(at * (from + length) / 100));
            let mut plain = Usage::default();
            cpu.between(from, to).for_each(|clip| plain.add(clip));
            prop_assert_eq!(cpu.realtime_use(from, to).result(), plain.result());
        }
    }

    #[test]
    fn what_a_cpu_did_tiles_any_interval(starts in prop::collection::vec(0i64..100, 0..20), from in 0i64..100, length in 0i64..100) {
        let mut cpu = CpuTimeline::default();
        for (index, start) in starts.iter().enumerate() {
            cpu.switch(Ns(*start), Tid(index as i32), Priority(120));
        }
        let to = from + length;
        let mut at = Ns(from);
        for (begin, end, _) in cpu.between(Ns(from), Ns(to)) {
            prop_assert_eq!(begin, at);
            prop_assert!(end > begin);
            at = end;
        }
        prop_assert_eq!(at, Ns(to));
    }
}
