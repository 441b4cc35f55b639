//! Options of sockets that decide when small messages leave, and that the standard library lacks.

use crate::SysError;
use std::os::fd::{AsFd, AsRawFd};

/// Holds data back until the option is off again, or 200 ms are over (TCP_CORK).
///
/// # Errors
/// For a socket that is not TCP.
///
/// [`tcp(7)`](https://man7.org/linux/man-pages/man7/tcp.7.html)
pub fn set_cork(socket: impl AsFd, is_on: bool) -> Result<(), SysError> {
    set(socket, libc::IPPROTO_TCP, libc::TCP_CORK, i32::from(is_on), "TCP_CORK")
}

/// Acknowledges what was received at once (TCP_QUICKACK). The kernel turns it off again by itself, so it is set after each
/// reception.
///
/// # Errors
/// For a socket that is not TCP.
///
/// [`tcp(7)`](https://man7.org/linux/man-pages/man7/tcp.7.html)
pub fn set_quick_ack(socket: impl AsFd) -> Result<(), SysError> {
    set(socket, libc::IPPROTO_TCP, libc::TCP_QUICKACK, 1, "TCP_QUICKACK")
}

/// A receiver without data polls the device for so many microseconds before it sleeps (SO_BUSY_POLL).
///
/// # Errors
/// `EPERM` without CAP_NET_ADMIN for more than net.core.busy_read; `ENOPROTOOPT` without CONFIG_NET_RX_BUSY_POLL.
///
/// [`socket(7)`](https://man7.org/linux/man-pages/man7/socket.7.html)
pub fn set_busy_poll(socket: impl AsFd, microseconds: u16) -> Result<(), SysError> {
    set(socket, libc::SOL_SOCKET, libc::SO_BUSY_POLL, i32::from(microseconds), "SO_BUSY_POLL")
}

fn set(
    socket: impl AsFd,
    level: i32,
    option: i32,
    value: libc::c_int,
    name: &'static str,
) -> Result<(), SysError> {
    let fd = socket.as_fd().as_raw_fd();
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: `value` lives through the call, and `length` is its size.
    let result = unsafe { libc::setsockopt(fd, level, option, (&raw const value).cast(), length) };
    if result != 0 { Err(SysError::last("setsockopt", format!("{name} {value}"))) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;

    #[test]
    fn tcp_takes_the_options_and_a_unix_socket_does_not() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let client = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        for is_on in [true, false] {
            set_cork(&client, is_on).expect("TCP");
        }
        set_quick_ack(&client).expect("TCP");
        set_busy_poll(&client, 0).expect("no more than the default");
        let (unix, _other) = UnixStream::pair().expect("a pair");
        assert_eq!(set_quick_ack(&unix).expect_err("no TCP").call(), "setsockopt");
    }
}
