//! Samples chosen threads while another thread of this process takes the records out and unwinds them.

use crate::clock_period::{ClockPeriod, DEFAULT_PERIOD};
use crate::collector::Collector;
use crate::cost;
use crate::shared::Shared;
use crate::source::{SampleSource, SampledTracepoint};
use crate::symbols::{SymbolOptions, symbolize};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use whylate_base::{Cpu, CpuSet, Ns, Tid};
use whylate_events::Stacks;
use whylate_sys::{PerfCounter, PerfEvent, PerfOptions, PerfRing, SysError, raise_open_files};

/// What to sample.
#[derive(Clone, Debug)]
pub struct SamplerOptions {
    /// The interval of the CPU clock of each thread.
    pub period: ClockPeriod,
    /// Bytes copied from the top of the stack with each sample.
    pub stack_bytes: u32,
    /// `sched:sched_waking`, with where its `pid` is: each wake-up by a followed thread is sampled. Needs privileges.
    pub wakes: Option<SampledTracepoint>,
    /// The number of `timer:hrtimer_expire_entry`: where the clock is slower than asked for, a followed thread is sampled in
    /// each timer's interrupt that finds it running, such as the tick's. Needs privileges.
    pub timers: Option<u64>,
    /// `raw_syscalls:sys_enter`, with where its `id` is, and a filter of the calls: each is sampled. Needs privileges.
    pub syscalls: Option<SampledTracepoint>,
    /// Samples are looked at so long after they were taken, and then only those of the [chosen](StackSampler::choose)
    /// spans; `None` takes all, at once.
    pub chosen_after: Option<Ns>,
    /// Where the functions and lines of the code are looked up.
    pub symbols: SymbolOptions,
}

impl Default for SamplerOptions {
    fn default() -> Self {
        SamplerOptions {
            period: DEFAULT_PERIOD,
            stack_bytes: DEFAULT_STACK_BYTES,
            wakes: None,
            timers: None,
            syscalls: None,
            chosen_after: None,
            symbols: SymbolOptions::default(),
        }
    }
}

/// The default of [`SamplerOptions::stack_bytes`]; perf's default as well.
const DEFAULT_STACK_BYTES: u32 = 8192;

/// The records' room on each CPU, and for all of them. Half a second of 1,000 samples a second takes 4 MiB.
const LARGEST_RING: usize = 8 << 20;
const SMALLEST_RING: usize = 256 << 10;
const ALL_RINGS: usize = 128 << 20;
/// Without privileges: `kernel.perf_event_mlock_kb` (516 KiB for each CPU) has room for it.
const UNPRIVILEGED_RING: usize = 512 << 10;

/// Why nothing can be sampled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SamplerError {
    /// The kernel refused.
    #[error("cannot sample call stacks: {}", with_hint(.0))]
    Refused(#[from] SysError),
    /// This architecture's registers are not known.
    #[error("cannot sample call stacks: whylate unwinds stacks on x86_64 and aarch64 only")]
    Architecture,
    /// It is not known on which CPUs threads run.
    #[error("cannot sample call stacks: cannot read the list of CPUs in {ONLINE}: {0}; mount sysfs at /sys")]
    Cpus(#[source] std::io::Error),
    /// No thread could be started.
    #[error("cannot sample call stacks: no thread to take them out: {0}")]
    Thread(#[source] std::io::Error),
}

fn with_hint(refused: &SysError) -> String {
    refused.hint().map_or_else(|| refused.to_string(), |hint| format!("{refused}: {hint}"))
}

/// The CPUs that threads can run on (`Documentation/ABI/testing/sysfs-devices-system-cpu`).
const ONLINE: &str = "/sys/devices/system/cpu/online";

fn online_cpus() -> std::io::Result<CpuSet> {
    let list = std::fs::read_to_string(ONLINE)?;
    list.trim().parse().map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))
}

/// Chosen threads being sampled. Dropping it ends the sampling and discards what was sampled.
#[derive(Debug)]
pub struct StackSampler {
    shared: Arc<Shared>,
    /// The event that each CPU's ring belongs to.
    rings: Vec<(Cpu, OwnedFd)>,
    period: Ns,
    stack_bytes: u32,
    kernel: bool,
    notes: Vec<String>,
    thread: Option<JoinHandle<Stacks>>,
}

impl StackSampler {
    /// Prepares rings for all CPUs and starts the thread that takes the records out. Nothing is sampled until
    /// [`follow`](Self::follow).
    ///
    /// # Errors
    /// [`SamplerError`], where not even this process's own threads could be sampled.
    pub fn start(options: SamplerOptions) -> Result<StackSampler, SamplerError> {
        if whylate_sys::PERF_REGISTERS.is_empty() {
            return Err(SamplerError::Architecture);
        }
        let cpus = online_cpus().map_err(SamplerError::Cpus)?;
        raise_open_files();
        let (kernel, notes) = privileges()?;
        let size = match kernel {
            true => (ALL_RINGS / cpus.len().max(1)).clamp(SMALLEST_RING, LARGEST_RING),
            false => UNPRIVILEGED_RING,
        };
        let mut rings = Vec::new();
        for cpu in cpus.iter() {
            // It counts nothing: a ring needs an event that lasts.
            let event = PerfEvent::open(&counter(PerfCounter::Nothing), Tid(0), cpu)?;
            rings.push(PerfRing::new(event, size)?);
        }
        let duplicate = |ring: &PerfRing| {
            let file = ring.as_fd().try_clone_to_owned();
            let file = file.map_err(|error| SysError::of_io("dup", "an event's descriptor", &error))?;
            Ok((ring.cpu(), file))
        };
        let owners = rings.iter().map(duplicate).collect::<Result<Vec<_>, SysError>>()?;
        let of_interrupt = cost::of_one_interrupt();
        let (period, is_sparse) = options.period.with_interrupts_of(of_interrupt);
        let sources = sources(&options, period, kernel.then_some(is_sparse));
        let shared = Arc::new(Shared { sources, ..Shared::default() });
        let mut collector = Collector::new(rings, shared.clone(), options.chosen_after);
        let (stack_bytes, symbols) = (options.stack_bytes, options.symbols);
        let of_one = kernel.then(|| cost::of_one_sample(stack_bytes)).flatten();
        let collect = move || {
            collector.run();
            let (mut stacks, files) = collector.finish();
            stacks.cost = of_one.map(|one| cost::of(&stacks, one, of_interrupt));
            symbolize(&mut stacks, &files, &symbols);
            stacks
        };
        let thread =
            thread::Builder::new().name("stacks".to_owned()).spawn(collect).map_err(SamplerError::Thread)?;
        let thread = Some(thread);
        Ok(StackSampler { shared, rings: owners, period, stack_bytes, kernel, notes, thread })
    }

    /// Samples a thread from now on, and all threads and processes that it starts. Of a thread that has ended there is
    /// nothing to sample: this is no error.
    ///
    /// # Errors
    /// That the kernel refuses this thread.
    pub fn follow(&self, tid: Tid) -> Result<(), SysError> {
        match self.open(tid).and_then(|opened| self.begin(opened)) {
            Err(error) if error.is_no_such_thread() => Ok(()),
            followed => followed,
        }
    }

    /// Samples whatever runs on chosen CPUs from now on, by its clock and at the wake-ups that a filter selects, in
    /// ftrace's filter language: a timer's interrupt wakes a thread with the stack of the thread that it interrupts.
    /// What other CPUs run has only its mappings recorded.
    ///
    /// # Errors
    /// That the kernel refuses it: it needs privileges.
    pub fn follow_cpus(&self, chosen: &[(Cpu, String)]) -> Result<(), SysError> {
        let mut opened = Vec::new();
        for &(cpu, ref ring) in &self.rings {
            let mappings = PerfOptions { mappings: true, ..counter(PerfCounter::Nothing) };
            let event = PerfEvent::open_on_cpu(&mappings, cpu)?;
            event.write_to(ring)?;
            opened.push(event);
            let Some((_, wakes)) = chosen.iter().find(|(chosen, _)| *chosen == cpu) else { continue };
            for (index, source) in self.shared.sources.iter().enumerate() {
                let filter = match source {
                    SampleSource::CpuClock(_) => None,
                    SampleSource::Wake(_) => Some(wakes.as_str()),
                    _ => continue,
                };
                // Of a CPU's kernel threads there is no other stack.
                let kernel_stack = self.kernel;
                let options = PerfOptions {
                    inherit: false,
                    mappings: false,
                    kernel_stack,
                    ..self.options(index, source)
                };
                let event = PerfEvent::open_on_cpu(&options, cpu)?;
                self.prepare(&event, ring, index, filter)?;
                opened.push(event);
            }
        }
        self.begin(opened)
    }

    /// The CPUs that there are.
    pub fn cpus(&self) -> impl Iterator<Item = Cpu> + '_ {
        self.rings.iter().map(|&(cpu, _)| cpu)
    }

    /// Chooses the spans whose samples are taken, in place of those that were chosen before.
    pub fn choose(&self, spans: Vec<(Ns, Ns)>) {
        *self.shared.spans.lock().unwrap_or_else(PoisonError::into_inner) = spans;
    }

    /// The events of a thread.
    fn open(&self, tid: Tid) -> Result<Vec<PerfEvent>, SysError> {
        let mut opened = Vec::new();
        for &(cpu, ref ring) in &self.rings {
            for (index, source) in self.shared.sources.iter().enumerate() {
                let event = PerfEvent::open(&self.options(index, source), tid, cpu)?;
                self.prepare(&event, ring, index, source.filter())?;
                opened.push(event);
            }
        }
        Ok(opened)
    }

    fn options(&self, index: usize, source: &SampleSource) -> PerfOptions {
        PerfOptions {
            period: source.period(),
            inherit: true,
            kernel: self.kernel,
            kernel_stack: self.kernel && source.has_kernel_stack(),
            user_stack: self.stack_bytes,
            // Of one event alone: each would write a record of its own.
            mappings: index == 0,
            ..counter(source.counter())
        }
    }

    fn prepare(
        &self,
        event: &PerfEvent,
        ring: &OwnedFd,
        source: usize,
        filter: Option<&str>,
    ) -> Result<(), SysError> {
        event.write_to(ring)?;
        filter.map_or(Ok(()), |filter| event.filter(filter))?;
        let id = event.id()?;
        self.shared.source_of.lock().unwrap_or_else(PoisonError::into_inner).insert(id, source);
        Ok(())
    }

    /// Enables events, and holds them until the end.
    fn begin(&self, opened: Vec<PerfEvent>) -> Result<(), SysError> {
        opened.iter().try_for_each(PerfEvent::enable)?;
        self.shared.events.lock().unwrap_or_else(PoisonError::into_inner).extend(opened);
        Ok(())
    }

    /// Ends the sampling and looks up the functions and lines.
    pub fn finish(mut self) -> Stacks {
        self.stop();
        let stacks = self.thread.take().map(|thread| thread.join());
        let mut stacks = match stacks {
            Some(Ok(stacks)) => stacks,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Stacks::default(),
        };
        stacks.period = self.period;
        stacks.notes.splice(0..0, std::mem::take(&mut self.notes));
        stacks
    }

    fn stop(&self) {
        for event in self.shared.events.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            // Dropping the event ends it as well; what follows only matters for when.
            let _ = event.disable();
        }
        self.shared.is_over.store(true, Ordering::Release);
    }
}

impl Drop for StackSampler {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What is sampled. What happens in the kernel, as all switches do, needs privileges: `kernel` is whether the clock is sparse
/// where there are any.
fn sources(options: &SamplerOptions, period: Ns, kernel: Option<bool>) -> Vec<SampleSource> {
    let mut sources =
        vec![SampleSource::CpuClock(period), SampleSource::MinorFault, SampleSource::MajorFault];
    if let Some(is_sparse) = kernel {
        sources.push(SampleSource::SwitchOut);
        sources.extend(options.timers.filter(|_| is_sparse).map(SampleSource::Timer));
        sources.extend(options.wakes.clone().map(SampleSource::Wake));
        sources.extend(options.syscalls.clone().map(SampleSource::Syscall));
    }
    sources
}

fn counter(counter: PerfCounter) -> PerfOptions {
    PerfOptions {
        counter,
        period: 1,
        inherit: false,
        kernel: false,
        kernel_stack: false,
        user_stack: 0,
        mappings: false,
    }
}

/// Whether what happens in the kernel may be sampled, and what is missing if not.
fn privileges() -> Result<(bool, Vec<String>), SamplerError> {
    let probe = |kernel| {
        let options = PerfOptions { kernel, ..counter(PerfCounter::ContextSwitches) };
        PerfEvent::open(&options, Tid(0), Cpu(0))
    };
    match probe(true) {
        Ok(_) => Ok((true, Vec::new())),
        Err(error) if error.is_permission() => {
            probe(false)?;
            let note = "where threads blocked was not sampled, nor the kernel's functions: that needs root, CAP_PERFMON, \
                        or kernel.perf_event_paranoid 1 or less";
            Ok((false, vec![note.to_owned()]))
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interrupts_of_other_timers_are_sampled_only_beside_a_sparse_clock() {
        let options = SamplerOptions { timers: Some(7), ..SamplerOptions::default() };
        let has_timers = |kernel| {
            let sources = sources(&options, Ns::from_ms(10), kernel);
            sources.iter().any(|source| matches!(source, SampleSource::Timer(7)))
        };
        assert_eq!([Some(true), Some(false), None].map(has_timers), [true, false, false]);
    }
}
