//! What a thread's own execution was spent in, where its system calls show that: one long call, or the handler of a signal.
//!
//! ```text
//! call:     sys_enter |------ mprotect ------| sys_exit
//! handler:  signal_generate | sys_exit -EINTR |------- handler -------| sys_enter rt_sigreturn
//! ```

use super::huge_pages::HugePages;
use whylate_base::{Ns, Tid};

/// A signal ends the sleep of a thread, and is traced soon after that (`complete_signal()` before `trace_signal_generate()`,
/// `kernel/signal.c`).
const NEAR_SIGNAL: Ns = Ns::from_ms(1);
/// A shorter time explains nothing.
const LONG: Ns = Ns::from_us(200);

/// So many kinds of short calls are counted in one activation.
const MOST_KINDS: usize = 16;
/// So many calls of one kind may be a loop.
const MANY: u64 = 20;

/// What a thread executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Within {
    /// A system call by its number and, where it is known, its name.
    Call { nr: i64, name: Option<&'static str> },
    /// The handler of a signal.
    Handler { signal: i32 },
}

impl Within {
    /// The name of the system call.
    pub(crate) fn call(self) -> Option<&'static str> {
        match self {
            Within::Call { name, .. } => name,
            Within::Handler { .. } => None,
        }
    }

    /// What it is called.
    pub(crate) fn name(self) -> String {
        match self {
            Within::Call { name: Some(name), .. } => name.to_owned(),
            Within::Call { nr, name: None } => format!("number {nr}"),
            Within::Handler { signal } => format!("the handler of {}", signal_name(signal)),
        }
    }

    /// The same with its kind.
    pub(crate) fn place(self) -> String {
        match self {
            Within::Handler { .. } => self.name(),
            Within::Call { .. } => format!("the system call {}", self.name()),
        }
    }
}

/// A signal by name, where its number is one on all architectures that are read.
fn signal_name(signal: i32) -> String {
    const NAMES: [(i32, &str); 13] = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (8, "SIGFPE"),
        (10, "SIGUSR1"),
        (11, "SIGSEGV"),
        (12, "SIGUSR2"),
        (14, "SIGALRM"),
        (15, "SIGTERM"),
        (17, "SIGCHLD"),
        (26, "SIGVTALRM"),
        (27, "SIGPROF"),
        (29, "SIGIO"),
    ];
    let known = NAMES.iter().find(|(number, _)| *number == signal);
    known.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}

/// When it did so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    pub(crate) within: Within,
    pub(crate) from: Ns,
    pub(crate) to: Ns,
    /// Whether a call that writes does so with whole pages, as its arguments show.
    pub(crate) whole_pages: Option<bool>,
}

/// Short system calls of one number, in which the thread did not sleep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calls {
    pub(crate) nr: i64,
    pub(crate) times: u64,
    /// In all of them.
    pub(crate) time: Ns,
}

/// The crossings between a thread's own code and the kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crossings {
    /// When it last entered a system call, and returned from one.
    entered: Ns,
    returned: Ns,
    /// When it last began a call or a page fault.
    pub(crate) inside_since: Option<Ns>,
    /// The first thread that it woke since then, and when.
    woke: Option<(Ns, Tid)>,
    /// A signal that was sent to it, and when; the number is 0 where there were several.
    signal: Option<(Ns, i32)>,
    /// When something made it return from a sleep in a call that was not over.
    interrupted: Option<Ns>,
    /// When the sleep of the call is to end that it is in, or was last.
    sleeps_until: Option<Ns>,
    /// Its short calls in this activation.
    short: Vec<Calls>,
    pub(crate) huge_pages: HugePages,
}

impl Crossings {
    /// It enters a system call.
    #[inline]
    pub(crate) fn enters(&mut self, at: Ns) {
        self.entered = at;
        self.inside_since = Some(at);
    }

    /// When it last returned from a call, where it is in none.
    pub(crate) fn outside_since(&self) -> Option<Ns> {
        (self.returned > self.entered).then_some(self.returned)
    }

    /// True where it has entered a system call since then.
    pub(crate) fn entered_since(&self, at: Ns) -> bool {
        self.entered >= at
    }

    /// It begins a page fault, perhaps within a call.
    pub(crate) fn faults(&mut self, at: Ns) {
        self.inside_since = Some(at);
    }

    /// It wakes a thread.
    pub(crate) fn wakes(&mut self, at: Ns, tid: Tid) {
        if self.inside_since.is_some() && self.woken_inside().is_none() {
            self.woke = Some((at, tid));
        }
    }

    /// The first thread that it has woken in its last call or page fault, and when.
    pub(crate) fn woken_inside(&self) -> Option<(Ns, Tid)> {
        self.woke.filter(|&(at, _)| Some(at) >= self.inside_since)
    }

    /// It returns from its system call, which it entered at the instant that is returned, if that is long ago.
    #[inline]
    pub(crate) fn returns(&mut self, at: Ns) -> Option<Ns> {
        self.returned = at;
        Some(self.entered).filter(|&entered| at - entered >= LONG)
    }

    /// It has returned from a system call, in which it did not sleep, if it has run since `running`: counts that as a short one.
    #[inline]
    pub(crate) fn returned_soon(&mut self, nr: i64, running: Ns) {
        let took = self.returned - self.entered;
        if running > self.entered || took >= LONG {
            return;
        }
        if let Some(calls) = self.short.iter_mut().find(|calls| calls.nr == nr) {
            calls.times += 1;
            calls.time += took;
        } else if self.short.len() < MOST_KINDS {
            self.short.push(Calls { nr, times: 1, time: took });
        }
    }

    /// An activation begins.
    pub(crate) fn begins(&mut self) {
        self.short.clear();
    }

    /// The short calls of this activation that took longest in all, where they are many and that is long.
    pub(crate) fn many(&self) -> Option<Calls> {
        let longest = self.short.iter().max_by_key(|calls| calls.time)?;
        Some(*longest).filter(|calls| calls.times >= MANY && calls.time >= LONG)
    }

    /// It is sent a signal.
    pub(crate) fn signalled(&mut self, at: Ns, signal: i32) {
        self.signal = match self.signal {
            Some((_, other)) if other != signal => Some((at, 0)),
            _ => Some((at, signal)),
        };
    }

    /// It returns from a sleep that is not over.
    pub(crate) fn is_interrupted(&mut self, at: Ns) {
        self.interrupted = Some(at);
    }

    /// It sleeps as it asks for: it is in no handler that came upon a sleep.
    pub(crate) fn sleeps_again(&mut self) {
        (self.interrupted, self.sleeps_until) = (None, None);
    }

    /// The timer of its sleep is armed for this instant.
    pub(crate) fn sleeps_until(&mut self, instant: Ns) {
        self.sleeps_until = Some(instant);
    }

    /// When it entered its last call, which was to sleep, and until when that was as far as a timer showed.
    pub(crate) fn sleep_begun(&self) -> (Ns, Option<Ns>) {
        (self.entered, self.sleeps_until)
    }

    /// True where it runs the handler of a signal that came upon a sleep of its own.
    pub(crate) fn is_in_handler(&self) -> bool {
        let signal = self.signal.zip(self.interrupted);
        signal.is_some_and(|((sent, _), interrupted)| sent + NEAR_SIGNAL >= interrupted)
    }

    /// It returns from the handler of a signal. Where that did not come upon a sleep, what came before its last return from a system
    /// call is not known to be that handler: the signal may have been blocked until then.
    pub(crate) fn handled(&mut self, at: Ns) -> Option<Spent> {
        let came_upon_sleep = self.is_in_handler();
        let interrupted = self.interrupted.take().filter(|_| came_upon_sleep);
        let (sent, signal) = self.signal.take()?;
        let from = interrupted.unwrap_or(sent.max(self.returned));
        (signal != 0 && at - from >= LONG).then_some(Spent {
            within: Within::Handler { signal },
            from,
            to: at,
            whole_pages: None,
        })
    }
}
