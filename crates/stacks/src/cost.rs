//! What samples and interrupts cost the sampled thread, measured on this machine.

use whylate_base::{Ns, Tid};
use whylate_events::{SampleKind, Stacks};
use whylate_sys::{
    Clock, PerfCounter, PerfEvent, PerfOptions, PerfRing, SysError, current_cpu, now, setaffinity,
};

/// Page faults of one round. Their samples fit the ring: one that is full takes no time.
const FAULTS: usize = 64;
const PAGE: usize = 4096;
/// The least of several rounds is the one that nothing disturbed.
const ROUNDS: usize = 5;

/// The time that one sample takes in the kernel: what page faults with samples take longer than without.
/// `None` where it could not be measured.
pub(crate) fn of_one_sample(stack_bytes: u32) -> Option<Ns> {
    // Its own thread, because it must stay on one CPU.
    let measured = std::thread::spawn(move || measure(stack_bytes)).join();
    measured.ok().and_then(Result::ok)
}

fn measure(stack_bytes: u32) -> Result<Ns, SysError> {
    let cpu = current_cpu();
    setaffinity(Tid(0), &[cpu].into_iter().collect())?;
    let options = PerfOptions {
        counter: PerfCounter::MinorFaults,
        period: 1,
        inherit: false,
        kernel: true,
        kernel_stack: true,
        user_stack: stack_bytes,
        mappings: false,
    };
    let event = PerfEvent::open(&options, Tid(0), cpu)?;
    let mut ring = PerfRing::new(event, FAULTS * (stack_bytes as usize + PAGE))?;
    let mut least = [Ns(i64::MAX); 2];
    // Kept to the end: memory that is given back would be taken again without a fault.
    let mut held = Vec::new();
    for round in 0..2 * ROUNDS {
        let mut fresh: Vec<u8> = Vec::with_capacity(FAULTS * PAGE);
        let is_sampled = round % 2 == 1;
        if is_sampled {
            ring.owner().enable()?;
        }
        let start = now(Clock::Monotonic);
        fresh.resize(FAULTS * PAGE, 1);
        let taken = now(Clock::Monotonic) - start;
        ring.owner().disable()?;
        ring.read(|_| {});
        held.push(std::hint::black_box(fresh));
        let least = if is_sampled { &mut least[1] } else { &mut least[0] };
        *least = taken.min(*least);
    }
    let [without, with] = least;
    Ok(Ns((with - without).0.max(0) / FAULTS as i64))
}

/// The time of all samples, each of which takes `one`: those of the clock have an interrupt of their own.
pub(crate) fn of(stacks: &Stacks, one: Ns, interrupt: Option<Ns>) -> Ns {
    let clock = stacks.samples.iter().filter(|sample| sample.kind == SampleKind::CpuClock);
    let times = |count: usize, ns: Ns| Ns(ns.0.saturating_mul(i64::try_from(count).unwrap_or(i64::MAX)));
    let interrupts = times(clock.count(), interrupt.unwrap_or_default());
    Ns(times(stacks.samples.len(), one).0.saturating_add(interrupts.0))
}

/// The interval of the timer that is measured, and how many of its interrupts are.
const INTERRUPT_PERIOD: Ns = Ns::from_us(200);
const INTERRUPTS: usize = 20;
/// For as long as it is looked for them on a busy CPU.
const LONGEST: Ns = Ns::from_ms(100);
/// Reading the clock takes less.
const READ: Ns = Ns(500);

/// The time that a timer's interrupt takes from the thread that it interrupts. `None` where it could not be measured.
pub(crate) fn of_one_interrupt() -> Option<Ns> {
    let measured = std::thread::spawn(interrupted).join();
    measured.ok().and_then(Result::ok).flatten()
}

/// A thread that looks at the time again and again does not see the time that an interrupt takes.
fn interrupted() -> Result<Option<Ns>, SysError> {
    let cpu = current_cpu();
    setaffinity(Tid(0), &[cpu].into_iter().collect())?;
    let options = PerfOptions {
        counter: PerfCounter::CpuClock,
        period: u64::try_from(INTERRUPT_PERIOD.0).unwrap_or(u64::MAX),
        inherit: false,
        kernel: false,
        kernel_stack: false,
        user_stack: 0,
        mappings: false,
    };
    let event = PerfEvent::open(&options, Tid(0), cpu)?;
    event.enable()?;
    let mut gaps = Vec::with_capacity(1024);
    let start = now(Clock::Monotonic);
    let (mut last, mut ran) = (start, Ns::ZERO);
    while ran < Ns(INTERRUPT_PERIOD.0 * INTERRUPTS as i64) && last - start < LONGEST {
        let time = now(Clock::Monotonic);
        let gap = time - last;
        last = time;
        // Otherwise it had no CPU meanwhile, and the timer stood still.
        if gap < INTERRUPT_PERIOD {
            ran += gap;
        }
        if gap > READ {
            gaps.push(gap);
        }
    }
    drop(event);
    Ok(interrupt_among(&mut gaps))
}

/// The interrupts are the longest gaps; their median, because the thread may also have lost its CPU once or twice.
fn interrupt_among(gaps: &mut [Ns]) -> Option<Ns> {
    gaps.sort_unstable_by(|one, other| other.cmp(one));
    gaps.get(INTERRUPTS / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Cpu;
    use whylate_events::{StackId, StackSample};

    #[test]
    fn the_interrupts_are_the_longest_gaps_but_for_lost_cpus() {
        let mut gaps = vec![Ns(700); 100];
        gaps.extend([Ns::from_us(18); INTERRUPTS]);
        gaps.extend([Ns::from_ms(3), Ns::from_ms(4)]);
        assert_eq!(interrupt_among(&mut gaps), Some(Ns::from_us(18)));
        assert_eq!(interrupt_among(&mut [Ns(700)]), None);
    }

    #[test]
    fn samples_of_the_clock_take_an_interrupt_each() {
        let sample = |kind| StackSample {
            time: Ns(1),
            tid: Tid(1),
            pid: Tid(1),
            cpu: Cpu(0),
            kind,
            stack: StackId(0),
        };
        let kinds = [SampleKind::CpuClock, SampleKind::Timer, SampleKind::SwitchOut, SampleKind::CpuClock];
        let stacks = Stacks { samples: kinds.map(sample).to_vec(), ..Stacks::default() };
        assert_eq!(of(&stacks, Ns(2_000), Some(Ns(10_000))), Ns(28_000));
        assert_eq!(of(&stacks, Ns(2_000), None), Ns(8_000));
    }

    #[test]
    fn it_is_measured_where_the_kernel_samples_and_leaves_the_caller_on_its_cpus() {
        let before = whylate_sys::getaffinity(Tid(0)).expect("CPUs");
        if let Err(error) = std::thread::spawn(|| measure(8192)).join().expect("no panic") {
            whylate_testing::skip(whylate_testing::Need::Root, format_args!("no samples: {error}"));
        }
        assert!(of_one_sample(8192).is_none_or(|cost| cost >= Ns::ZERO));
        assert_eq!(whylate_sys::getaffinity(Tid(0)).expect("CPUs"), before);
    }
}
