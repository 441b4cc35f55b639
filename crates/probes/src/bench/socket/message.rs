//! The form of a message, which both ends know.

/// Writes of a message.
pub(super) const WRITES: usize = 15;
/// Bytes of each.
pub(super) const PART: usize = 2;
/// Bytes of a message.
pub(super) const LENGTH: usize = WRITES * PART;
/// Bytes of a reply.
pub(super) const REPLY: usize = 2;
/// How long a busy-polling receiver polls: as net.core.busy_read's documentation recommends.
pub(super) const BUSY_POLL_US: u16 = 50;

/// What the server does on a connection: the first byte that a client sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    /// Replies.
    Plain,
    /// Sets TCP_QUICKACK after each reception.
    QuickAck,
    /// Sets SO_BUSY_POLL.
    BusyPoll,
}

impl Service {
    pub(super) fn byte(self) -> u8 {
        match self {
            Service::Plain => b'p',
            Service::QuickAck => b'q',
            Service::BusyPoll => b'b',
        }
    }

    /// `None` for a byte that no client of ours sends.
    pub(super) fn of_byte(byte: u8) -> Option<Service> {
        [Service::Plain, Service::QuickAck, Service::BusyPoll]
            .into_iter()
            .find(|service| service.byte() == byte)
    }
}
