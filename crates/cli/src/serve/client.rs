//! A client: its request as it comes, its answer as it is taken.

use super::respond::respond;
use rustix::event::PollFlags;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};
use whylate_metrics::Family;

/// Longer requests are none.
pub(super) const MOST_BYTES: usize = 8 << 10;
/// A client that takes longer to ask and to take the answer is disconnected.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is left to do for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Its request is not whole.
    Asks,
    /// It takes the answer.
    Takes,
    /// Nothing.
    Done,
}

/// A connection.
pub(super) struct Client {
    stream: TcpStream,
    until: Instant,
    request: Vec<u8>,
    answer: Vec<u8>,
    sent: usize,
    state: State,
}

impl Client {
    /// One that has just come; `None`: it is gone already.
    pub(super) fn new(stream: TcpStream) -> Option<Client> {
        stream.set_nonblocking(true).ok()?;
        let until = Instant::now() + PATIENCE;
        let (request, answer) = (Vec::new(), Vec::new());
        Some(Client { stream, until, request, answer, sent: 0, state: State::Asks })
    }

    /// What is to be waited for.
    pub(super) fn awaits(&self) -> PollFlags {
        if self.state == State::Asks { PollFlags::IN } else { PollFlags::OUT }
    }

    /// When it is disconnected.
    pub(super) fn until(&self) -> Instant {
        self.until
    }

    /// Does what can be done without waiting; `metrics` are those of now.
    pub(super) fn go_on(&mut self, metrics: &impl Fn() -> Arc<[Family]>) -> State {
        if Instant::now() >= self.until {
            self.state = State::Done;
        }
        if self.state == State::Asks {
            match self.read() {
                Ok(true) => {
                    self.answer = respond(&self.request, &metrics());
                    self.state = State::Takes;
                }
                Ok(false) => {}
                Err(_) => self.state = State::Done,
            }
        }
        if self.state == State::Takes && self.write().unwrap_or(true) {
            self.state = State::Done;
        }
        self.state
    }

    /// Reads what has come; true when it is a whole request, or no more comes.
    fn read(&mut self) -> io::Result<bool> {
        let mut piece = [0; 1024];
        loop {
            if self.request.len() >= MOST_BYTES || self.request.windows(4).any(|end| end == b"\r\n\r\n") {
                return Ok(true);
            }
            match self.stream.read(&mut piece) {
                Ok(0) => return Ok(true),
                Ok(read) => self.request.extend_from_slice(&piece[..read]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends what is taken; true when that was all.
    fn write(&mut self) -> io::Result<bool> {
        while let Some(rest) = self.answer.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match self.stream.write(rest) {
                Ok(sent) => self.sent += sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.stream.shutdown(Shutdown::Write)?;
        Ok(true)
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
