//! A POSIX message queue between threads of this process.

use crate::SysError;
use std::ffi::CString;
use std::sync::atomic::{AtomicU32, Ordering};

/// The length of a message.
const BYTES: usize = 8;

/// A queue of one message. Its name is removed once it is open: no other process can find it.
#[derive(Debug)]
pub struct MessageQueue(libc::mqd_t);

/// Makes each name unique.
static NEXT: AtomicU32 = AtomicU32::new(0);

impl MessageQueue {
    /// Creates an empty queue.
    ///
    /// # Errors
    /// `ENOSPC` or `EMFILE` when fs.mqueue.queues_max or RLIMIT_MSGQUEUE is reached; `ENOSYS` on a kernel without
    /// message queues.
    ///
    /// [`mq_overview(7)`](https://man7.org/linux/man-pages/man7/mq_overview.7.html)
    pub fn new() -> Result<MessageQueue, SysError> {
        let name = format!("/whylate-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let failed = |call, name: &str| SysError::last(call, format!("{name}, 1 message of {BYTES} bytes"));
        let c_name = CString::new(name.clone()).unwrap_or_default();
        // SAFETY: all-zero bytes are a valid `mq_attr` (integers only).
        let mut attributes: libc::mq_attr = unsafe { std::mem::zeroed() };
        attributes.mq_maxmsg = 1;
        attributes.mq_msgsize = BYTES as _;
        let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR | libc::O_CLOEXEC;
        let mode: libc::mode_t = 0o600;
        // SAFETY: the name is a C string and the attributes are filled in; both live through the call.
        let queue = unsafe { libc::mq_open(c_name.as_ptr(), flags, mode, &raw mut attributes) };
        if queue < 0 {
            return Err(failed("mq_open", &name));
        }
        let queue = MessageQueue(queue);
        // SAFETY: the name is a C string that lives through the call.
        if unsafe { libc::mq_unlink(c_name.as_ptr()) } < 0 {
            return Err(failed("mq_unlink", &name));
        }
        Ok(queue)
    }

    /// Sends a message; sleeps while the queue is full.
    ///
    /// # Errors
    /// None that `mq_send(3)` documents for this use.
    ///
    /// [`mq_send(3)`](https://man7.org/linux/man-pages/man3/mq_send.3.html)
    pub fn send(&self) -> Result<(), SysError> {
        let message = [0; BYTES];
        loop {
            // SAFETY: the call reads the given number of bytes from `message`.
            if unsafe { libc::mq_send(self.0, message.as_ptr(), BYTES, 0) } == 0 {
                return Ok(());
            }
            retry(SysError::last("mq_send", "a message"))?;
        }
    }

    /// Takes a message; sleeps while there is none.
    ///
    /// Allocates nothing unless it fails.
    ///
    /// # Errors
    /// None that `mq_receive(3)` documents for this use.
    ///
    /// [`mq_receive(3)`](https://man7.org/linux/man-pages/man3/mq_receive.3.html)
    pub fn receive(&self) -> Result<(), SysError> {
        let mut message = [0; BYTES];
        loop {
            // SAFETY: `message` has room for the number of bytes given, which is the queue's message size.
            let got = unsafe { libc::mq_receive(self.0, message.as_mut_ptr(), BYTES, std::ptr::null_mut()) };
            if got >= 0 {
                return Ok(());
            }
            retry(SysError::last("mq_receive", "a message"))?;
        }
    }
}

fn retry(error: SysError) -> Result<(), SysError> {
    if error.errno() == libc::EINTR { Ok(()) } else { Err(error) }
}

impl Drop for MessageQueue {
    fn drop(&mut self) {
        // SAFETY: the descriptor is this queue's own, and nothing uses it afterwards.
        unsafe { libc::mq_close(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_wakes_who_waits_for_it() {
        let queue = match MessageQueue::new() {
            Ok(queue) => queue,
            Err(error) => {
                assert!([libc::ENOSYS, libc::ENOSPC, libc::EMFILE].contains(&error.errno()), "{error}");
                whylate_testing::skip(whylate_testing::Need::Machine, error);
                return;
            }
        };
        std::thread::scope(|scope| {
            let receiver = scope.spawn(|| queue.receive());
            queue.send().expect("send");
            receiver.join().expect("thread").expect("receive");
        });
    }
}
