//! What was observed of a program: plain data that the rules read.

use super::calls::SystemCall;
use super::interpreter;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use whylate_base::{Comm, CpuSet, Ns, Policy, SourceLocation, Tid};
use whylate_events::{AddressId, Frame, SampleKind, StackId, StackSample, Stacks};

/// What was observed of a program and of the processes that it started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observation {
    /// Its threads, by id.
    pub(crate) threads: BTreeMap<Tid, ThreadFacts>,
    /// Its processes, by id.
    pub(crate) processes: BTreeMap<Tid, ProcessFacts>,
    /// The system calls since each thread's last `execve`, by their start.
    pub(crate) calls: Vec<Call>,
    /// The page faults since each thread's last `execve`, by their time.
    pub(crate) faults: Vec<Fault>,
    /// The threads of whylate itself, which took some of the CPU time.
    pub(crate) observers: BTreeSet<Tid>,
    /// Priority inversions that the ledger found.
    pub(crate) inversions: Vec<Inversion>,
    /// Where the code of the real-time threads' program files reads a coarse clock.
    pub(crate) coarse_reads: Vec<CoarseRead>,
    /// The function that the program calls at an address, where only its code shows that.
    pub(crate) called_names: HashMap<AddressId, &'static str>,
    /// When a descriptor of a process began to refer to something else, by process and number, in the order of time.
    pub(crate) descriptor_changes: HashMap<(Tid, i32), Vec<Ns>>,
    /// The call stacks.
    pub(crate) stacks: Arc<Stacks>,
    /// Whether system calls were observed.
    pub(crate) sees_calls: bool,
    /// Whether all of them were: no event was lost.
    pub(crate) sees_all_calls: bool,
    /// Whether the kernel has CONFIG_RT_GROUP_SCHED in force; `None` where that is not known.
    pub(crate) rt_group_sched: Option<bool>,
    /// The CPUs of each NUMA node; empty on a machine with one node.
    pub(crate) nodes: BTreeMap<u32, CpuSet>,
}

/// A thread.
#[derive(Clone, Debug)]
pub(crate) struct ThreadFacts {
    /// Its id.
    pub(crate) tid: Tid,
    /// Its process.
    pub(crate) pid: Tid,
    /// Its name.
    pub(crate) comm: Comm,
    /// Its policy: the real-time one, if it ever had one.
    pub(crate) policy: Policy,
    /// The user's real-time priority 1 to 99; 0 for other policies.
    pub(crate) priority: u32,
    /// The CPUs it may use; `None` where they could not be read.
    pub(crate) cpus: Option<CpuSet>,
    /// Page faults without a device, since it began.
    pub(crate) minor_faults: u64,
    /// Page faults that read from a device, since it began.
    pub(crate) major_faults: u64,
    /// Times that it gave up the CPU, since it began.
    pub(crate) voluntary_switches: u64,
    /// Times that it was preempted, since it began.
    pub(crate) involuntary_switches: u64,
    /// The time it waited on a runqueue, since it began; `None` where the kernel does not count it.
    pub(crate) run_delay: Option<Ns>,
    /// Since when it is known to be real-time.
    pub(crate) realtime_since: Option<Ns>,
    /// When it gave up its real-time policy for good; `None` where it kept it.
    pub(crate) realtime_until: Option<Ns>,
    /// What it, or another thread for it, asked of the scheduler.
    pub(crate) requests: Vec<PolicyRequest>,
    /// When it set its own CPUs, after its last `execve`: the call's index in [`Observation::calls`].
    pub(crate) pinned: Vec<usize>,
    /// Times that it was preempted by a thread of the same priority.
    pub(crate) equal_preemptions: u64,
    /// The longest CPU time between two sleeps, as far as that was observed.
    pub(crate) longest_awake: Ns,
    /// The kernel sent it SIGXCPU: it had run for longer than its RLIMIT_RTTIME, or its process for longer than RLIMIT_CPU.
    pub(crate) is_over_rttime: bool,
    /// Its periodic part; `None` where it has none.
    pub(crate) path: Option<RealTimePath>,
    /// The thread that started it, and when; `None` where that was before the observation.
    pub(crate) forked: Option<(Tid, Ns)>,
    /// When it executed its program last, as far as that was observed.
    pub(crate) executed: Option<Ns>,
}

impl ThreadFacts {
    /// A thread of which nothing is known yet.
    pub(crate) fn new(tid: Tid, pid: Tid) -> ThreadFacts {
        ThreadFacts {
            tid,
            pid,
            comm: Comm::default(),
            policy: Policy::Other,
            priority: 0,
            cpus: None,
            minor_faults: 0,
            major_faults: 0,
            voluntary_switches: 0,
            involuntary_switches: 0,
            run_delay: None,
            realtime_since: None,
            realtime_until: None,
            requests: Vec::new(),
            pinned: Vec::new(),
            equal_preemptions: 0,
            longest_awake: Ns::ZERO,
            is_over_rttime: false,
            path: None,
            forked: None,
            executed: None,
        }
    }

    /// The last request for a real-time policy, where that was refused and the thread never became real-time.
    pub(crate) fn refused(&self) -> Option<&PolicyRequest> {
        let last = self.requests.iter().rev().find(|request| request.is_for_realtime())?;
        (last.error.is_some() && !self.policy.is_realtime()).then_some(last)
    }

    /// True for a real-time thread, and for one that asked to be one and was refused.
    pub(crate) fn wants_realtime(&self) -> bool {
        self.policy.is_realtime() || self.refused().is_some()
    }

    /// How a real-time thread ranks among others: greater runs first.
    pub(crate) fn rank(&self) -> u32 {
        match self.policy {
            Policy::Deadline => 100,
            Policy::Fifo | Policy::Rr => self.priority,
            _ => 0,
        }
    }

    /// `control:411`, for a title.
    pub(crate) fn name(&self) -> String {
        format!("{}:{}", self.comm, self.tid)
    }

    /// `control:411 (fifo 50)`.
    pub(crate) fn ranked_name(&self) -> String {
        format!("{} ({})", self.name(), self.scheduling())
    }

    /// `fifo 50`, `deadline`, `other`.
    pub(crate) fn scheduling(&self) -> String {
        match self.policy {
            Policy::Fifo | Policy::Rr => format!("{} {}", self.policy.name(), self.priority),
            policy => policy.name().to_owned(),
        }
    }
}

/// A thread's periodic part: from its first periodic wait to the end of its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RealTimePath {
    /// The start of the first periodic wait.
    pub(crate) start: Ns,
    /// The start of the second one: by then the code of the loop has run once.
    pub(crate) warm: Ns,
    /// The end of the last one.
    pub(crate) end: Ns,
    /// How many waits there were.
    pub(crate) waits: u64,
}

impl RealTimePath {
    /// True for an instant in it.
    pub(crate) fn contains(&self, at: Ns) -> bool {
        self.start <= at && at <= self.end
    }
}

/// A call that asks for a policy or priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PolicyRequest {
    /// The call's index in [`Observation::calls`].
    pub(crate) call: usize,
    /// The thread that called.
    pub(crate) by: Tid,
    /// The policy asked for, where the call's arguments have it.
    pub(crate) policy: Option<Policy>,
    /// The error, a positive number of `errno(3)`; `None` where it succeeded.
    pub(crate) error: Option<i32>,
}

impl PolicyRequest {
    /// The error numbers of a refusal: not permitted, and no room for a SCHED_DEADLINE reservation.
    pub(crate) const REFUSALS: [i32; 2] = [1, 16];

    /// True where the call was for a real-time policy, or was refused as such calls are.
    pub(crate) fn is_for_realtime(&self) -> bool {
        match self.policy {
            Some(policy) => policy.is_realtime(),
            None => self.error.is_some_and(|error| PolicyRequest::REFUSALS.contains(&error)),
        }
    }
}

/// A system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The thread.
    pub(crate) tid: Tid,
    /// The call.
    pub(crate) call: SystemCall,
    /// Its arguments.
    pub(crate) args: [u64; 6],
    /// When the thread entered the kernel.
    pub(crate) start: Ns,
    /// When it left; `None` where it did not, or that was not seen.
    pub(crate) end: Option<Ns>,
    /// What the call returned.
    pub(crate) ret: Option<i64>,
    /// Whether the thread slept in it.
    pub(crate) slept: bool,
    /// Whether a signal could have ended that sleep: it waited for what another does, not for a device or a lock of the
    /// kernel.
    pub(crate) slept_interruptibly: bool,
    /// The thread that ended the last sleep in it, and when; `None` where an interrupt did, such as a timer's, or that was
    /// not seen.
    pub(crate) woken_by: Option<(Tid, Ns)>,
    /// Until when a sleep, or a wait of a futex with a timeout, was to last, in its timer's own clock; `None` for other calls, and
    /// where no timer was seen.
    pub(crate) due: Option<Ns>,
    /// Where in the program it was made.
    pub(crate) stack: Option<StackId>,
}

impl Call {
    /// How long it took.
    pub(crate) fn duration(&self) -> Option<Ns> {
        self.end.map(|end| end.since(self.start))
    }

    /// The first argument as a file descriptor.
    pub(crate) fn fd(&self) -> i32 {
        self.args[0] as i32
    }

    /// The error it returned, a positive number of `errno(3)`.
    pub(crate) fn error(&self) -> Option<i32> {
        self.ret.filter(|ret| (-4095..0).contains(ret)).map(|ret| -ret as i32)
    }
}

/// A page fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The thread.
    pub(crate) tid: Tid,
    /// When.
    pub(crate) time: Ns,
    /// The address that was touched.
    pub(crate) address: u64,
    /// Whether the page was read from a device.
    pub(crate) is_major: bool,
    /// Whether the page was present and written to; `None` where the recording does not show it.
    pub(crate) is_write_to_present: Option<bool>,
    /// Why; `None` where that is not known.
    pub(crate) cause: Option<FaultCause>,
    /// Where in the program.
    pub(crate) stack: StackId,
}

/// Why a page fault happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultCause {
    /// A thread's stack grew into pages that had not been touched.
    Stack,
    /// A write to a page that was shared until then: after fork(2), of a private mapping of a file, or one that was only
    /// read before.
    CopyOnWrite,
    /// Code or data of a file that was not mapped to the page yet.
    File,
    /// Memory that was given back to the kernel before, and obtained again.
    Heap,
    /// Memory that had not been touched before.
    FirstTouch,
}

/// A place at which the program's code reads a coarse clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CoarseRead {
    /// The clock's name, as clock_gettime(2) has it.
    pub(crate) clock: &'static str,
    /// Where.
    pub(crate) location: SourceLocation,
}

/// A priority inversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inversion {
    /// The thread that waited.
    pub(crate) tid: Tid,
    /// Where it waited.
    pub(crate) location: Option<SourceLocation>,
    /// The owner of the lock, where it is known.
    pub(crate) owner: Option<Tid>,
    /// The thread that kept the owner off the CPU, as `name:tid`.
    pub(crate) middle: String,
    /// For how long.
    pub(crate) lost: Ns,
}

/// What `/proc` shows of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessFacts {
    /// Locked memory at the last look, in bytes (`VmLck`).
    pub(crate) locked_bytes: Option<u64>,
    /// The most memory that was locked at any look.
    pub(crate) most_locked_bytes: Option<u64>,
    /// The script that it interprets, where it is an interpreter with one.
    pub(crate) script: Option<String>,
    /// Its effective capabilities (capabilities(7)).
    pub(crate) capabilities: Option<u64>,
    /// Whether a seccomp filter limits its system calls.
    pub(crate) has_seccomp_filter: Option<bool>,
    /// Whether it is in a user namespace other than the first.
    pub(crate) in_user_namespace: Option<bool>,
    /// The soft RLIMIT_RTPRIO.
    pub(crate) rtprio_limit: Option<u64>,
    /// The soft RLIMIT_RTTIME; `None` where there is none.
    pub(crate) rttime_limit: Option<Ns>,
    /// What its descriptors were, each time that it was looked.
    pub(crate) descriptors: Vec<(Look, BTreeMap<i32, Descriptor>)>,
    /// What it had mapped, each time that it was looked.
    pub(crate) mappings: Vec<(Ns, Vec<MappedRange>)>,
    /// How much of its memory was resident, at the last look that read it; `None` where that was not read.
    pub(crate) memory: Option<(Ns, Vec<MemoryRange>)>,
    /// The bytes of its own memory on each NUMA node, at the last look that read them; empty where they were not read.
    pub(crate) node_bytes: BTreeMap<u32, u64>,
}

/// When something was read: it may have changed meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// Before it was read.
    pub(crate) begin: Ns,
    /// When all of it had been read.
    pub(crate) end: Ns,
}

impl From<Ns> for Look {
    fn from(at: Ns) -> Look {
        Look { begin: at, end: at }
    }
}

/// What a file descriptor refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Descriptor {
    /// A regular file.
    File(String),
    /// A terminal.
    Terminal(String),
    /// A pipe or a FIFO.
    Pipe,
    /// A socket.
    Socket,
    /// A timer (timerfd_create(2)).
    Timer,
    /// An event counter (eventfd(2)).
    Event,
    /// A device, or anything else.
    Other(String),
}

/// A range of `/proc/PID/maps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MappedRange {
    /// Its first address.
    pub(crate) start: u64,
    /// The first address behind it.
    pub(crate) end: u64,
    /// Where in the file it begins.
    pub(crate) offset: u64,
    /// Whether it is writable.
    pub(crate) is_writable: bool,
    /// Whether it is shared with other processes.
    pub(crate) is_shared: bool,
    /// The path, `[heap]`, `[stack]` and the like; empty for anonymous memory.
    pub(crate) path: String,
}

/// A range of `/proc/PID/smaps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryRange {
    /// Its first address.
    pub(crate) start: u64,
    /// The first address behind it.
    pub(crate) end: u64,
    /// How many of its bytes are in memory (`Rss`).
    pub(crate) resident: u64,
    /// Whether it is locked, so that all of it stays in memory (`lo`, without `lf`: locked when touched).
    pub(crate) is_locked: bool,
    /// Whether it is data that no file has: it is writable, and anonymous or the heap.
    pub(crate) is_data: bool,
    /// The thread whose stack it is, by its stack pointer.
    pub(crate) stack_of: Option<Tid>,
}

impl MemoryRange {
    /// How many bytes are not in memory.
    pub(crate) fn missing(&self) -> u64 {
        (self.end - self.start).saturating_sub(self.resident)
    }
}

impl Observation {
    /// The program's own line in a stack.
    ///
    /// Where the program has neither lines nor names, its address explains more than the name of the library's function
    /// that it calls: the finding names the call. A line of an interpreter is none of the program's: of that only the
    /// script is known. An address of no file is no line: another run of the program has it elsewhere.
    pub(crate) fn location(&self, stack: Option<StackId>) -> Option<SourceLocation> {
        let stack = stack?;
        let has_name = |frame: &Frame<'_>| frame.file_name().is_some() || frame.function().is_some();
        let own = self.stacks.own_frame(stack)?;
        let in_file = |frame: &Frame<'_>| frame.module.is_some_and(|module| module.path.starts_with('/'));
        let frame = match self.stacks.own_frames(stack).any(|frame| has_name(&frame)) {
            true => own,
            false => self.stacks.own_frames(stack).find(in_file).unwrap_or(own),
        };
        let module = frame.module?;
        if !interpreter::is_one(module) {
            return Some(frame.source());
        }
        let scripts = self.processes.values().filter_map(|process| process.script.as_ref());
        interpreter::place(module, scripts)
    }

    /// The threads that are, or asked to be, real-time.
    pub(crate) fn realtime_threads(&self) -> impl Iterator<Item = &ThreadFacts> {
        self.threads.values().filter(|thread| thread.wants_realtime())
    }

    /// The system calls in the real-time path: those that a real-time thread starts in its periodic part.
    pub(crate) fn path_calls(&self) -> impl Iterator<Item = (&ThreadFacts, &Call)> {
        self.calls.iter().filter_map(|call| Some((self.in_path(call.tid, call.start)?, call)))
    }

    /// The samples of CPU time in the real-time path, of the same threads and parts.
    pub(crate) fn path_samples(&self) -> impl Iterator<Item = (&ThreadFacts, &StackSample)> {
        let samples = self.stacks.samples.iter().filter(|sample| sample.kind == SampleKind::CpuClock);
        samples.filter_map(|sample| Some((self.in_path(sample.tid, sample.time)?, sample)))
    }

    /// The thread, where it is real-time and `at` is in its periodic part.
    fn in_path(&self, tid: Tid, at: Ns) -> Option<&ThreadFacts> {
        let thread = self.threads.get(&tid).filter(|thread| thread.wants_realtime())?;
        thread.path.filter(|path| path.contains(at)).map(|_| thread)
    }

    /// What a descriptor of a process referred to at an instant: by the look nearest to it, where no call changed it
    /// between the two.
    pub(crate) fn descriptor(&self, tid: Tid, fd: i32, at: Ns) -> Option<&Descriptor> {
        let pid = self.threads.get(&tid)?.pid;
        let looks = &self.processes.get(&pid)?.descriptors;
        let changes = self.descriptor_changes.get(&(pid, fd)).map(Vec::as_slice).unwrap_or_default();
        let changed_by = |time: Ns| changes.partition_point(|change| *change <= time);
        let known = looks.iter().filter_map(|(look, table)| Some((look, table.get(&fd)?)));
        let known = known.filter(|(look, _)| changed_by(look.begin.min(at)) == changed_by(look.end.max(at)));
        known.min_by_key(|(look, _)| (look.begin.0 - at.0).abs()).map(|(_, descriptor)| descriptor)
    }

    /// The functions of a stack, innermost first; behind them those that only the code of their callers shows.
    pub(crate) fn functions(&self, stack: Option<StackId>) -> impl Iterator<Item = &str> {
        let frames = stack.into_iter().flat_map(|stack| self.stacks.frames(stack));
        let addresses =
            stack.and_then(|stack| self.stacks.stacks.get(stack.0 as usize)).into_iter().flatten();
        let called = addresses.filter_map(|address| self.called_names.get(address).copied());
        frames.filter_map(|frame| frame.location?.function.as_deref()).chain(called)
    }
}
