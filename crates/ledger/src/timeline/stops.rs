//! The signals by which programs were stopped.

use std::collections::VecDeque;
use whylate_base::{Ns, Tid};

/// The latest ones; a thread stops soon after its signal.
const MOST: usize = 16;

/// A signal that stops a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StopSignal {
    /// The thread it was sent to, of the process that stops.
    pub(crate) of: Tid,
    pub(crate) sender: Sender,
    /// Its number.
    pub(crate) signal: i32,
}

/// A signal that stops a process by name, by the numbers of `include/uapi/asm-generic/signal.h`.
pub(crate) fn stop_name(signal: i32) -> Option<&'static str> {
    let names = [(19, "SIGSTOP"), (20, "SIGTSTP"), (21, "SIGTTIN"), (22, "SIGTTOU")];
    names.into_iter().find(|(number, _)| *number == signal).map(|(_, name)| name)
}

/// What sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// Another thread.
    Thread(Tid),
    /// The thread itself, by a call of its own.
    Itself,
    /// The kernel: the process is in the background of its terminal, or a key was pressed there.
    Kernel,
}

/// A sleep in which a thread was stopped, until it is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoppedSleep {
    /// When the thread was woken to stop: the next activation may have been due since.
    pub(crate) since: Ns,
    /// When the sleep was to end, where that had passed as the thread was to go on with it.
    pub(crate) over: Option<Ns>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct StopSignals(VecDeque<StopSignal>);

impl StopSignals {
    pub(crate) fn add(&mut self, signal: StopSignal) {
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back(signal);
    }

    /// What sent the last signal to a process, one of whose threads it is sent to by `is_kin`.
    pub(crate) fn of(&self, is_kin: impl Fn(Tid) -> bool) -> Option<StopSignal> {
        self.0.iter().rev().find(|signal| is_kin(signal.of)).copied()
    }
}
