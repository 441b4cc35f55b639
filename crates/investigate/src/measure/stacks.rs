//! Call stacks of what runs on the measured CPUs: at each wake-up of a measuring thread, and by a clock.
//!
//! A timer's interrupt wakes the measuring thread with the stack of the thread that it interrupts: the one that is in the
//! way. While no program has the CPU there is no sample, and nothing is disturbed.

use super::options::SpikeStacks;
use crate::record::{stack_notes, tracepoint};
use std::fs;
use whylate_base::{Cpu, Ns};
use whylate_events::Stacks;
use whylate_ftrace::tracefs::Tracefs;
use whylate_probes::{ProbeThread, Spike};
use whylate_stacks::{ClockPeriod, SamplerError, SamplerOptions, StackSampler, SymbolOptions};

/// So long after samples were taken it is known whether they belong to a spike; of one that lasts longer the beginning is not
/// known.
const KNOWN_AFTER: Ns = Ns::from_secs(1);
/// The samples of a spike begin so much earlier, and end so much later.
const AROUND: Ns = Ns::from_ms(2);

/// What a lost sample means.
const LOST: &str = "a spike may have no line; choose a longer --stack-period";

/// Begins the sampling on the CPUs of these threads; on all, for a thread that is not bound.
///
/// # Errors
/// In a sentence, why there is none.
pub(super) fn start(options: &SpikeStacks, threads: &[ProbeThread]) -> Result<StackSampler, String> {
    let tracefs = Tracefs::open().map_err(|error| crate::in_full(&error))?;
    let sampler = StackSampler::start(SamplerOptions {
        // It interrupts what is in the way of the measuring threads, and not these.
        period: ClockPeriod::Exactly(options.period),
        wakes: tracepoint(&tracefs, "sched", "sched_waking", "pid"),
        chosen_after: Some(KNOWN_AFTER),
        symbols: SymbolOptions {
            debug_dirs: options.symbols.clone(),
            kallsyms: fs::read_to_string("/proc/kallsyms").ok(),
        },
        ..SamplerOptions::default()
    })
    .map_err(|error| error.to_string())?;
    let chosen: Vec<(Cpu, String)> =
        sampler.cpus().filter_map(|cpu| Some((cpu, wakes(cpu, threads)?))).collect();
    sampler.follow_cpus(&chosen).map_err(|error| SamplerError::from(error).to_string())?;
    Ok(sampler)
}

/// Which wake-ups on a CPU are sampled: those of its measuring threads, by any other thread than these and the idle task.
fn wakes(cpu: Cpu, threads: &[ProbeThread]) -> Option<String> {
    let here: Vec<_> =
        threads.iter().filter(|thread| thread.cpu == cpu || !thread.bound).map(|thread| thread.tid).collect();
    let woken: Vec<String> = here.iter().map(|tid| format!("pid == {tid}")).collect();
    let by: String = here.iter().map(|tid| format!(" && common_pid != {tid}")).collect();
    (!here.is_empty()).then(|| format!("({}) && common_pid != 0{by}", woken.join(" || ")))
}

/// The span of a spike's samples.
pub(super) fn span(spike: &Spike) -> (Ns, Ns) {
    (spike.due - AROUND, spike.woken + AROUND)
}

/// What the sampling did to the measurement, and what is missing, in sentences.
pub(super) fn notes(stacks: &Stacks) -> Vec<String> {
    let one =
        stacks.cost_of_one().map_or_else(String::new, |one| format!(", each in about {one} of its time"));
    let did = format!(
        "call stacks were taken on the measured CPUs, at wake-ups of measuring threads and every {} while a program had the \
         CPU{one}: where a program has the CPU these latencies are higher by that",
        stacks.period
    );
    std::iter::once(did).chain(stack_notes(stacks, LOST)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Tid;
    use whylate_sys::SchedParams;

    #[test]
    fn wake_ups_of_a_cpus_own_threads_are_sampled() {
        let sched = SchedParams::fifo(80);
        let thread = |cpu, tid, bound| ProbeThread { cpu: Cpu(cpu), bound, tid: Tid(tid), sched };
        let bound = [thread(0, 10, true), thread(1, 11, true), thread(1, 12, true)];
        assert_eq!(
            wakes(Cpu(0), &bound).as_deref(),
            Some("(pid == 10) && common_pid != 0 && common_pid != 10")
        );
        assert_eq!(
            wakes(Cpu(1), &bound).as_deref(),
            Some("(pid == 11 || pid == 12) && common_pid != 0 && common_pid != 11 && common_pid != 12")
        );
        assert_eq!(wakes(Cpu(2), &bound), None);
        assert!(wakes(Cpu(2), &[thread(0, 10, false)]).is_some());
    }
}
