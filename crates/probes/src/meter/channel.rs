//! What one thread wakes another by.

use crate::Ipc;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Release},
};
use whylate_sys::{Condition, EventFd, MessageQueue, PiLock, SysError, ThreadSignal, futex_wait, futex_wake};

/// Two threads' means: one is woken, the other wakes it. Both count the turns, from 0.
pub(crate) enum Channel {
    Pipe(io::PipeReader, io::PipeWriter),
    Eventfd(EventFd),
    /// How many turns there were.
    Futex(AtomicU32),
    /// The waker has that of the turn, and takes the other before it gives it back.
    PiMutex([PiLock; 2]),
    Condvar(Condition),
    Mq(MessageQueue),
    Socket(UnixStream, UnixStream),
    /// Known once the thread that is woken has begun.
    Signal(OnceLock<ThreadSignal>),
}

impl Channel {
    pub(crate) fn open(by: Ipc) -> Result<Channel, SysError> {
        Ok(match by {
            Ipc::Pipe => io::pipe()
                .map(|(reader, writer)| Channel::Pipe(reader, writer))
                .map_err(|error| SysError::of_io("pipe2", "two ends", &error))?,
            Ipc::Eventfd => Channel::Eventfd(EventFd::new()?),
            Ipc::Futex => Channel::Futex(AtomicU32::new(0)),
            Ipc::PiMutex => Channel::PiMutex(Default::default()),
            Ipc::Condvar => Channel::Condvar(Condition::default()),
            Ipc::Mq => Channel::Mq(MessageQueue::new()?),
            Ipc::Socket => UnixStream::pair()
                .map(|(one, other)| Channel::Socket(one, other))
                .map_err(|error| SysError::of_io("socketpair", "AF_UNIX, SOCK_STREAM", &error))?,
            Ipc::Signal => Channel::Signal(OnceLock::new()),
        })
    }

    /// The waker's part before all turns.
    pub(crate) fn prepare_waker(&self) -> Result<(), SysError> {
        match self {
            Channel::PiMutex([first, _]) => first.lock(),
            _ => Ok(()),
        }
    }

    /// The woken thread's part before all turns.
    pub(crate) fn prepare_woken(&self) -> Result<(), SysError> {
        if let Channel::Signal(signal) = self {
            let own = ThreadSignal::block()?;
            signal.get_or_init(|| own);
        }
        Ok(())
    }

    /// What the waker does before its call, and what does not wake.
    #[inline]
    pub(crate) fn before_wake(&self, turn: u32) -> Result<(), SysError> {
        match self {
            Channel::PiMutex(locks) => of_turn(locks, turn.wrapping_add(1)).lock(),
            Channel::Condvar(condition) => condition.advance(),
            _ => Ok(()),
        }
    }

    /// The call that wakes.
    #[inline]
    pub(crate) fn wake(&self, turn: u32) -> Result<(), SysError> {
        match self {
            Channel::Pipe(_, writer) => write(&mut { writer }),
            Channel::Eventfd(event) => event.raise(),
            Channel::Futex(word) => {
                word.store(turn.wrapping_add(1), Release);
                futex_wake(word).map(drop)
            }
            Channel::PiMutex(locks) => of_turn(locks, turn).unlock(),
            Channel::Condvar(condition) => condition.signal(),
            Channel::Mq(queue) => queue.send(),
            Channel::Socket(_, other) => write(&mut { other }),
            // Both threads were ready before the first turn.
            Channel::Signal(signal) => signal.get().map_or(Ok(()), |signal| signal.send()),
        }
    }

    /// Sleeps until it is woken.
    #[inline]
    pub(crate) fn wait(&self, turn: u32) -> Result<(), SysError> {
        match self {
            Channel::Pipe(reader, _) => read(&mut { reader }),
            Channel::Eventfd(event) => event.wait().map(drop),
            Channel::Futex(word) => {
                while word.load(Acquire) == turn {
                    futex_wait(word, turn)?;
                }
                Ok(())
            }
            Channel::PiMutex(locks) => of_turn(locks, turn).lock(),
            Channel::Condvar(condition) => condition.wait_beyond(turn).map(drop),
            Channel::Mq(queue) => queue.receive(),
            Channel::Socket(one, _) => read(&mut { one }),
            Channel::Signal(signal) => signal.get().map_or(Ok(()), |signal| signal.wait()),
        }
    }

    /// What the woken thread does when it has been.
    #[inline]
    pub(crate) fn after_wait(&self, turn: u32) -> Result<(), SysError> {
        match self {
            Channel::PiMutex(locks) => of_turn(locks, turn).unlock(),
            _ => Ok(()),
        }
    }
}

fn of_turn(locks: &[PiLock; 2], turn: u32) -> &PiLock {
    &locks[(turn % 2) as usize]
}

fn write(to: &mut impl Write) -> Result<(), SysError> {
    to.write_all(&[1]).map_err(|error| SysError::of_io("write", "a byte that wakes", &error))
}

fn read(from: &mut impl Read) -> Result<(), SysError> {
    from.read_exact(&mut [0]).map_err(|error| SysError::of_io("read", "a byte that wakes", &error))
}
