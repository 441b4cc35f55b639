//! A counter that one thread increments and another waits for.

use crate::SysError;
use rustix::event::EventfdFlags;
use rustix::fd::{AsFd, OwnedFd};

/// A counter in the kernel.
#[derive(Debug)]
pub struct EventFd(OwnedFd);

impl EventFd {
    /// Creates a counter at zero.
    ///
    /// # Errors
    /// `EMFILE` or `ENFILE` when no descriptor is left.
    ///
    /// [`eventfd(2)`](https://man7.org/linux/man-pages/man2/eventfd.2.html)
    pub fn new() -> Result<EventFd, SysError> {
        rustix::event::eventfd(0, EventfdFlags::CLOEXEC)
            .map(EventFd)
            .map_err(|errno| SysError::new("eventfd", "at 0", errno.raw_os_error()))
    }

    /// Adds one, and wakes the waiting thread.
    ///
    /// # Errors
    /// None that `eventfd(2)` documents for a blocking write.
    pub fn raise(&self) -> Result<(), SysError> {
        loop {
            match rustix::io::write(&self.0, &1u64.to_ne_bytes()) {
                Ok(_) => return Ok(()),
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(SysError::new("write", "1 to an eventfd", errno.raw_os_error())),
            }
        }
    }

    /// Sleeps while the counter is zero; takes the whole count.
    ///
    /// Allocates nothing unless it fails.
    ///
    /// # Errors
    /// None that `eventfd(2)` documents for a blocking read.
    pub fn wait(&self) -> Result<u64, SysError> {
        read_count(&self.0, "an eventfd")
    }
}

/// The eight bytes that an eventfd and a timerfd are read in.
pub(crate) fn read_count(file: &impl AsFd, what: &'static str) -> Result<u64, SysError> {
    let mut count = [0; 8];
    loop {
        match rustix::io::read(file, &mut count) {
            Ok(_) => return Ok(u64::from_ne_bytes(count)),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(SysError::new("read", what, errno.raw_os_error())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_raised_is_taken() {
        let event = EventFd::new().expect("eventfd");
        event.raise().expect("raise");
        event.raise().expect("raise");
        assert_eq!(event.wait().expect("wait"), 2);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| event.wait().expect("wait"));
            event.raise().expect("raise");
            assert_eq!(waiter.join().expect("thread"), 1);
        });
    }
}
