//! The kernel's timerlat tracer: the kernel measures, we choose, read and count.
//!
//! ```text
//! due ──> timer's interrupt ──> thread runs ──> user space and back       an event of ftrace:timerlat each
//!            irq                  thread          user return
//!
//! Settings   osnoise/: what was changed, and what it was                  settings.rs
//! Instance   current_tracer = timerlat; its pages ─> CpuTrack ─> Sampler  cpu_track.rs
//! Interface  osnoise/per_cpu/cpuN/timerlat_fd, read by a thread of ours   interface.rs
//! ```
//!
//! There is one workload and one set of settings on a machine for all programs. So no other program may use them, and the order in
//! which all is undone matters: while a thread has its `timerlat_fd` open, the kernel ends a workload by killing that
//! thread's process (`stop_kthread`, kernel/trace/trace_osnoise.c).

mod cpu_track;
mod interface;
mod settings;

pub(crate) use interface::{Interface, Waiting};

use crate::recorder::{Recorder, Signals};
use crate::sampler::{Sampler, Wanted};
use crate::{Counts, CpuUnusable, Probe, ProbeError, Workload};
use cpu_track::{CpuTrack, Decoding};
use settings::Settings;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use whylate_base::{Cpu, CpuSet, Ns, Policy, Tid};
use whylate_events::TimerlatContext;
use whylate_ftrace::tracefs::{Instance, OnFull, Tracefs, TracefsError, remove_stale};
use whylate_sys::SchedParams;

const TRACER: &str = "timerlat";
/// Of each CPU's buffer: more than a second of the shortest period. All CPUs together get no more than the second.
const BUFFER_KIB: u64 = 1024;
const BUFFERS_KIB: u64 = 64 << 10;
/// How long a new thread of the kernel's may take to give itself its priority.
const SETTLED_WITHIN: Duration = Duration::from_secs(1);
/// The tracer at work. It is to be ended, or dropped, after the threads that wait for it.
pub(crate) struct Timerlat {
    workload: Workload,
    interval: Ns,
    wanted: Wanted,
    tracks: Vec<CpuTrack>,
    decoding: Decoding,
    /// Why the events could not be read any more.
    failed: Option<ProbeError>,
    interface: Arc<Interface>,
    /// `None` once it is gone.
    instance: Option<Instance>,
    settings: Option<Settings>,
}

impl Workload {
    /// A thread of this program where this kernel's timerlat wakes such, as its files show.
    pub fn of_this_kernel() -> Workload {
        match Tracefs::open() {
            Ok(tracefs) if Interface::of(&tracefs).is_there() => Workload::User,
            _ => Workload::Kernel,
        }
    }

    /// Whose latency is the sample.
    fn last(self) -> TimerlatContext {
        match self {
            Workload::User => TimerlatContext::UserReturn,
            Workload::Kernel => TimerlatContext::Thread,
        }
    }
}

impl Timerlat {
    /// Turns the tracer on: threads of the kernel measure from now on, ours when they read their files.
    ///
    /// # Errors
    /// Where the kernel lacks it, another program uses it, or tracefs refuses. Then nothing is changed.
    pub(crate) fn start(
        probe: &Probe,
        workload: Workload,
        cpus: &[Option<Cpu>],
    ) -> Result<Timerlat, ProbeError> {
        let cpus: CpuSet = cpus.iter().flatten().copied().collect();
        let tracefs = Tracefs::open()?;
        if !tracefs.read("available_tracers")?.split_ascii_whitespace().any(|tracer| tracer == TRACER) {
            return Err(ProbeError::NoTimerlat);
        }
        let interface = Interface::of(&tracefs);
        if workload == Workload::User && !interface.is_there() {
            return Err(ProbeError::NoUserWorkload);
        }
        if let Some((cpu, why)) = cpus.iter().find_map(|cpu| Some((cpu, unusable(cpu)?))) {
            return Err(ProbeError::Cpu { cpu, why });
        }
        remove_stale(&tracefs)?;
        settings::no_other_user(&tracefs)?;
        let settings = Settings::change(&tracefs, workload, &cpus, probe.interval)?;
        let instance = Instance::create(&tracefs)?;
        let all = instance.cpus()?.len().max(1) as u64;
        instance.set_buffer_kib((BUFFERS_KIB / all).clamp(64, BUFFER_KIB))?;
        instance.set_on_full(OnFull::Overwrite)?;
        instance.set_clock("mono")?;
        let decoding = Decoding::of(&instance)?;
        // From here on a refusal undoes all in order.
        let mut timerlat = Timerlat {
            workload,
            interval: probe.interval,
            wanted: probe.wanted(),
            tracks: Vec::new(),
            decoding,
            failed: None,
            interface: Arc::new(interface),
            instance: Some(instance),
            settings: Some(settings),
        };
        timerlat.turn_on()?;
        Ok(timerlat)
    }

    fn turn_on(&mut self) -> Result<(), ProbeError> {
        let Some(instance) = &self.instance else { return Ok(()) };
        instance.set_tracer(TRACER)?;
        instance.set_tracing(true)?;
        Ok(())
    }

    /// Adds a CPU to those that are measured; gives what a thread of ours reads there, where it takes one.
    ///
    /// # Errors
    /// When its pages cannot be opened.
    pub(crate) fn add(
        &mut self,
        cpu: Option<Cpu>,
        recorder: &Arc<Recorder>,
        signals: &Arc<Signals>,
    ) -> Result<Option<Arc<Interface>>, ProbeError> {
        let (Some(cpu), Some(instance)) = (cpu, &self.instance) else { return Ok(None) };
        let sampler = Sampler::new(cpu, self.wanted, Arc::clone(recorder), Arc::clone(signals));
        let pages = instance.open_pages(cpu)?;
        self.tracks.push(CpuTrack::new(pages, sampler, self.workload.last(), self.interval));
        Ok(match self.workload {
            Workload::User => Some(Arc::clone(&self.interface)),
            Workload::Kernel => None,
        })
    }

    /// The kernel's thread on `cpu`, with the policy and priority that it is to have.
    ///
    /// # Errors
    /// Where the kernel has started none there, or does not let it be changed.
    pub(crate) fn thread(&self, cpu: Cpu, sched: &SchedParams) -> Result<(Tid, SchedParams), ProbeError> {
        let reason = || format!("the kernel started no {TRACER}/{cpu}");
        let tid = kernel_thread(cpu).ok_or_else(|| ProbeError::Thread { cpu, reason: reason() })?;
        // It begins by raising itself, and would undo what came earlier.
        let until = Instant::now() + SETTLED_WITHIN;
        while whylate_sys::getattr(tid)?.policy != Policy::Fifo && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        whylate_sys::setattr(tid, sched)?;
        Ok((tid, whylate_sys::getattr(tid)?))
    }

    /// Activations that are due from `at` on count, but for the first few of each CPU.
    pub(crate) fn begin(&mut self, at: Ns) {
        self.tracks.iter_mut().for_each(|track| track.begin(at));
    }

    /// Takes in what the kernel has measured since the last time.
    pub(crate) fn drain(&mut self) {
        for track in &mut self.tracks {
            if let Err(error) = track.drain(&mut self.decoding) {
                self.failed.get_or_insert(error.into());
            }
        }
    }

    /// True when there is nothing more to be counted.
    pub(crate) fn is_over(&self) -> bool {
        self.failed.is_some() || self.tracks.iter().all(CpuTrack::is_over)
    }

    /// True while an activation is in progress, on a CPU whose thread is the kernel's.
    pub(crate) fn is_waiting(&self) -> bool {
        self.workload == Workload::Kernel && self.tracks.iter().any(|track| track.waits_since().is_some())
    }

    /// Since when the kernel's thread of the `nth` CPU is late; `None` where it is not, or is ours.
    pub(crate) fn waits_since(&self, nth: usize) -> Option<Ns> {
        self.tracks.get(nth).filter(|_| self.workload == Workload::Kernel)?.waits_since()
    }

    /// What was counted beside the samples of the `nth` CPU.
    pub(crate) fn counts(&self, nth: usize) -> Counts {
        self.tracks.get(nth).map(|track| track.counts()).unwrap_or_default()
    }

    /// Nothing is counted any more.
    pub(crate) fn close(&mut self) {
        self.tracks.iter_mut().for_each(CpuTrack::close);
    }

    /// Gives threads that are kept off their CPUs a chance to close their files: before all others, then among those of
    /// SCHED_OTHER, for which the kernel reserves some time even where a thread of priority 99 spins.
    pub(crate) fn free(&self, threads: &[Tid]) {
        for (sched, patience) in [(SchedParams::fifo(99), 1), (SchedParams::OTHER, 3)] {
            let until = Instant::now() + Duration::from_secs(patience);
            while self.interface.is_open() && Instant::now() < until {
                // One that has ended meanwhile is no failure.
                threads.iter().for_each(|&tid| drop(whylate_sys::setattr(tid, &sched)));
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }

    /// Turns the tracer off and puts the settings back.
    ///
    /// # Errors
    /// That the events could not be read, or the settings not be put back.
    pub(crate) fn end(mut self) -> Result<(), ProbeError> {
        let undone = self.undo();
        self.failed.take().map_or(undone, Err)
    }

    fn undo(&mut self) -> Result<(), ProbeError> {
        // The kernel does not remove an instance whose pages are open.
        self.tracks.clear();
        let (instance, settings) = (self.instance.take(), self.settings.take());
        if self.interface.is_open() {
            // To turn it off would kill this process.
            std::mem::forget(instance);
            return match settings {
                Some(settings) => {
                    Err(settings.leave("a measuring thread is still kept off its CPU".to_owned()))
                }
                None => Ok(()),
            };
        }
        if let Some(instance) = &instance {
            instance.set_tracer("nop")?;
        }
        drop(instance);
        settings.map_or(Ok(()), Settings::restore)
    }
}

impl Drop for Timerlat {
    fn drop(&mut self) {
        // `end` reports failures.
        let _ = self.undo();
    }
}

impl From<TracefsError> for ProbeError {
    fn from(error: TracefsError) -> ProbeError {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        ProbeError::Tracing(format!("{error}{}", cause.unwrap_or_default()))
    }
}

/// Why no workload can run on a CPU, the kernel's or ours.
fn unusable(cpu: Cpu) -> Option<CpuUnusable> {
    let why = CpuUnusable::by_lists(cpu, Path::new("/sys/devices/system/cpu"))?;
    Some(why).filter(|why| matches!(why, CpuUnusable::Absent { .. } | CpuUnusable::Offline { .. }))
}

/// The thread of the kernel's that timerlat wakes on `cpu`.
fn kernel_thread(cpu: Cpu) -> Option<Tid> {
    /// Of `kthreadd`, the parent of all.
    const KTHREADD: &str = "2";
    let name = format!("({TRACER}/{cpu})");
    let processes = fs::read_dir("/proc").ok()?.flatten();
    processes.filter_map(|process| process.file_name().to_str()?.parse().ok()).map(Tid).find(|tid| {
        let stat = fs::read_to_string(format!("/proc/{tid}/stat")).unwrap_or_default();
        // proc_pid_stat(5): pid, name, state, parent.
        let parent = stat.split_once(&name).and_then(|(_, rest)| rest.split_ascii_whitespace().nth(1));
        parent == Some(KTHREADD)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_threads_are_told_from_others_of_their_name() {
        let running = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            let same = std::thread::Builder::new().name("timerlat/8191".into());
            same.spawn_scoped(scope, || {
                running.wait();
                running.wait();
            })
            .expect("a thread");
            running.wait();
            assert_eq!(kernel_thread(Cpu(8191)), None);
            running.wait();
        });
    }

    #[test]
    fn where_the_kernel_lacks_it_this_is_reported() {
        let probe = Probe::new(crate::ProbeKind::Timerlat(Workload::Kernel));
        let available = Tracefs::open().and_then(|tracefs| tracefs.read("available_tracers"));
        match (probe.prepare().map(drop), available) {
            (Err(ProbeError::NoTimerlat), Ok(tracers)) => assert!(!tracers.contains(TRACER)),
            (Err(ProbeError::Tracing(why)), Err(_)) => assert!(why.contains("tracefs"), "{why}"),
            (other, Ok(tracers)) => assert!(tracers.contains(TRACER), "{other:?}"),
            (other, Err(why)) => panic!("{other:?} without tracefs: {why}"),
        }
    }
}
