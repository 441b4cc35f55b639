//! What a sample costs the sampled thread, measured on this machine.

use whylate_base::{Ns, Tid};
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

#[cfg(test)]
mod tests {
    use super::*;

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
