//! What held up a thread: another thread, an interrupt or a softirq, and how each is written.

use super::irq_kind::IrqKind;
use std::fmt;
use whylate_base::{Comm, Priority, Tid};
use whylate_events::Name;

/// What held up a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Culprit {
    /// A thread.
    Task {
        /// Its id.
        tid: Tid,
        /// Its name.
        comm: Comm,
        /// Its priority at that time.
        priority: Priority,
    },
    /// A hard interrupt.
    Irq {
        /// The line, or `None` for an architecture vector such as the local timer.
        irq: Option<u32>,
        /// Its name.
        name: Name,
    },
    /// A softirq, by number.
    Softirq {
        /// HI, TIMER, NET_TX ...
        vec: u32,
    },
}

/// `rtload:312`, the way trace tools write a thread; without a name its number.
pub fn thread_name(comm: &Comm, tid: Tid) -> String {
    match (comm.is_empty(), is_stand_in(tid)) {
        (true, _) => format!("tid {tid}"),
        (false, true) => comm.to_string(),
        (false, false) => format!("{comm}:{tid}"),
    }
}

/// `irq 16 eth0`, `local_timer interrupt` of an architecture vector.
pub fn irq_name(irq: Option<u32>, name: &str) -> String {
    match (irq, name) {
        (Some(irq), "") => format!("irq {irq}"),
        (Some(irq), name) => format!("irq {irq} {name}"),
        (None, "") => "interrupt".to_owned(),
        (None, name) => format!("{name} interrupt"),
    }
}

/// `stress:812 (rt 99)`, `irq 16 eth0`, `softirq NET_RX`.
impl fmt::Display for Culprit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Culprit::Task { tid, comm, priority: Priority::UNKNOWN } => f.write_str(&thread_name(comm, *tid)),
            Culprit::Task { tid, comm, priority } => write!(f, "{} ({priority})", thread_name(comm, *tid)),
            Culprit::Irq { irq, name } => f.write_str(&irq_name(*irq, name.as_str())),
            Culprit::Softirq { vec } => write!(f, "softirq {}", softirq_name(*vec)),
        }
    }
}

/// What is one culprit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kin {
    /// Threads of one name and priority.
    Threads(Comm, Priority),
    /// An interrupt or a softirq.
    Handler(Culprit),
}

impl Kin {
    pub(crate) fn of(by: &Culprit) -> Kin {
        match *by {
            Culprit::Task { comm, priority, .. } => Kin::Threads(comm, priority),
            handler => Kin::Handler(handler),
        }
    }
}

impl Culprit {
    /// The same of a thread that ran with an inherited priority, where its own one is known: `logger:161 (nice 0, raised to rt 60)`.
    pub(crate) fn raised_from(&self, own: Option<Priority>) -> String {
        match (self, own) {
            (Culprit::Task { tid, comm, priority }, Some(own)) if own != Priority::UNKNOWN => {
                format!("{} ({own}, raised to {priority})", thread_name(comm, *tid))
            }
            _ => self.to_string(),
        }
    }

    /// The command that explains the activations of this thread; of anything else, the chains of all threads.
    pub(crate) fn command(&self) -> String {
        match self {
            Culprit::Task { tid, .. } => format!("whylate explain --task {tid}"),
            _ => "whylate explain --chains".to_owned(),
        }
    }

    /// What raises it, of a hard interrupt.
    pub(crate) fn irq_kind(&self) -> Option<IrqKind> {
        match self {
            Culprit::Irq { irq, name } => Some(IrqKind::of(*irq, name.as_str())),
            _ => None,
        }
    }

    /// The line and the action's name of an interrupt's thread, `irq/27-eth0`; a shared line's second
    /// handler has a thread of its own, `irq/27-s-eth0` (`kernel/irq/manage.c`).
    pub(crate) fn irq_thread(&self) -> Option<(u32, &str)> {
        let Culprit::Task { comm, .. } = self else { return None };
        irq_of_thread(comm.as_str())
    }

    /// True of the interrupt whose own thread is named `comm`: its handler wakes that thread.
    pub(crate) fn is_irq_of_thread(&self, comm: &str) -> bool {
        let Culprit::Irq { irq: Some(line), .. } = *self else { return false };
        irq_of_thread(comm).is_some_and(|(own, _)| own == line)
    }
}

/// The number and the action of the interrupt whose thread has this name (`setup_irq_thread()`, `kernel/irq/manage.c`).
pub(crate) fn irq_of_thread(comm: &str) -> Option<(u32, &str)> {
    let (irq, action) = comm.strip_prefix("irq/")?.split_once('-')?;
    Some((irq.parse().ok()?, action.strip_prefix("s-").unwrap_or(action)))
}

/// A softirq's name, or `unknown`.
pub fn softirq_name(vec: u32) -> &'static str {
    whylate_events::softirq_name(vec).unwrap_or("unknown")
}

/// True of an id that stands in for one that the file does not give.
pub fn is_stand_in(tid: Tid) -> bool {
    tid.0 < 0
}
