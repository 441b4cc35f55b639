//! A network namespace of one thread, and a pair of Ethernet devices between two of them. A namespace ends with its last
//! thread and socket, and its devices with it: nothing is left to remove.

use crate::SysError;
use crate::loopback::interface_up;
use std::fs::File;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// Moves the calling thread, and only it, into a new network namespace; gives a file that stands for it.
///
/// # Errors
/// `EPERM` without CAP_SYS_ADMIN; `EINVAL` on a kernel without CONFIG_NET_NS.
///
/// [`network_namespaces(7)`](https://man7.org/linux/man-pages/man7/network_namespaces.7.html)
pub fn enter_network_namespace() -> Result<OwnedFd, SysError> {
    // SAFETY: the call takes flags only. With this one it changes where the thread's later sockets belong, and shares or
    // separates no memory and no file descriptors.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
        return Err(SysError::last("unshare", "CLONE_NEWNET"));
    }
    File::open("/proc/thread-self/ns/net")
        .map(OwnedFd::from)
        .map_err(|error| SysError::of_io("open", "/proc/thread-self/ns/net", &error))
}

/// Creates a veth pair: `own` in the thread's namespace, `peer` in the other one.
///
/// # Errors
/// `EPERM` without CAP_NET_ADMIN, `EOPNOTSUPP` on a kernel without the device.
///
/// [`veth(4)`](https://man7.org/linux/man-pages/man4/veth.4.html),
/// [`rtnetlink(7)`](https://man7.org/linux/man-pages/man7/rtnetlink.7.html)
pub fn create_veth(own: &str, peer: &str, peer_namespace: impl AsFd) -> Result<(), SysError> {
    /// `include/uapi/linux/veth.h`
    const VETH_INFO_PEER: u16 = 1;
    let tried = || format!("a veth pair {own} and {peer}");
    let namespace = peer_namespace.as_fd().as_raw_fd().to_ne_bytes();
    let mut other = ifinfomsg();
    attribute(&mut other, libc::IFLA_IFNAME, &name(peer));
    attribute(&mut other, libc::IFLA_NET_NS_FD, &namespace);
    let mut data = Vec::new();
    attribute(&mut data, VETH_INFO_PEER, &other);
    let mut info = Vec::new();
    attribute(&mut info, libc::IFLA_INFO_KIND, b"veth");
    attribute(&mut info, libc::IFLA_INFO_DATA, &data);
    let mut body = ifinfomsg();
    attribute(&mut body, libc::IFLA_IFNAME, &name(own));
    attribute(&mut body, libc::IFLA_LINKINFO, &info);
    request(libc::RTM_NEWLINK, &body).map_err(|errno| SysError::new("netlink RTM_NEWLINK", tried(), errno))
}

/// Gives a device of the thread's namespace an address of a network of 4 (/30), and brings it up.
///
/// # Errors
/// `EPERM` without CAP_NET_ADMIN, `ENODEV` for a device that is not there.
///
/// [`netdevice(7)`](https://man7.org/linux/man-pages/man7/netdevice.7.html)
pub fn set_address(device: &str, address: Ipv4Addr) -> Result<(), SysError> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))
        .map_err(|error| SysError::of_io("socket", "AF_INET", &error))?;
    let set = |call: libc::c_ulong, what: &str, address: Ipv4Addr| {
        // SAFETY: all-zero bytes are a valid `ifreq` (integers, and a union of them).
        let mut ifreq: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in ifreq.ifr_name.iter_mut().zip(device.as_bytes()).take(libc::IFNAMSIZ - 1) {
            *to = *from as libc::c_char;
        }
        let bytes = address.octets().map(|byte| byte as libc::c_char);
        let data = &mut [0; 14];
        // struct sockaddr_in (ip(7)): two bytes of port, then the address.
        data[2..6].copy_from_slice(&bytes);
        ifreq.ifr_ifru.ifru_addr =
            libc::sockaddr { sa_family: libc::AF_INET as libc::sa_family_t, sa_data: *data };
        // SAFETY: the call reads name and address of a request that lives through it.
        match unsafe { libc::ioctl(socket.as_raw_fd(), call as _, &raw const ifreq) } {
            0 => Ok(()),
            _ => Err(SysError::last("ioctl", format!("{what} {address} of {device}"))),
        }
    };
    set(libc::SIOCSIFADDR, "SIOCSIFADDR", address)?;
    set(libc::SIOCSIFNETMASK, "SIOCSIFNETMASK", Ipv4Addr::new(255, 255, 255, 252))?;
    interface_up(device)
}

/// `struct ifinfomsg` of rtnetlink(7), all zero: any device.
fn ifinfomsg() -> Vec<u8> {
    vec![0; 16]
}

fn name(device: &str) -> Vec<u8> {
    [device.as_bytes(), &[0]].concat()
}

/// Adds an attribute: its length, its type and its value, filled up to a multiple of four bytes.
fn attribute(to: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = (4 + value.len()) as u16;
    to.extend_from_slice(&length.to_ne_bytes());
    to.extend_from_slice(&kind.to_ne_bytes());
    to.extend_from_slice(value);
    to.resize(to.len().next_multiple_of(4), 0);
}

/// Sends a request that creates something, and waits for the kernel's answer: an errno, or done.
fn request(kind: u16, body: &[u8]) -> Result<(), i32> {
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_EXCL) as u16;
    // struct nlmsghdr (netlink(7)): length, type, flags, sequence, port.
    let mut message = ((16 + body.len()) as u32).to_ne_bytes().to_vec();
    message.extend_from_slice(&kind.to_ne_bytes());
    message.extend_from_slice(&flags.to_ne_bytes());
    message.extend_from_slice(&[1u32.to_ne_bytes(), 0u32.to_ne_bytes()].concat());
    message.extend_from_slice(body);
    let last = || std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    // SAFETY: the call takes numbers only.
    let fd =
        unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_ROUTE) };
    if fd < 0 {
        return Err(last());
    }
    // SAFETY: the call has just given this descriptor, and nothing else has it.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: the message lives through the call. Without an address it goes to the kernel.
    let sent = unsafe { libc::send(socket.as_raw_fd(), message.as_ptr().cast(), message.len(), 0) };
    if sent < 0 {
        return Err(last());
    }
    let mut answer = [0u8; 512];
    // SAFETY: the buffer lives through the call, which writes at most its length.
    let length = unsafe { libc::recv(socket.as_raw_fd(), answer.as_mut_ptr().cast(), answer.len(), 0) };
    if length < 0 {
        return Err(last());
    }
    // struct nlmsgerr behind the header: zero is done, otherwise the negative errno.
    let code =
        answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map_or(-libc::EIO, i32::from_ne_bytes);
    if code == 0 { Ok(()) } else { Err(-code) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::mpsc::channel;

    #[test]
    fn two_threads_reach_each_other_through_a_pair_and_the_others_do_not_see_it() {
        let (to_client, from_server) = channel();
        let (to_server, from_client) = channel::<()>();
        let server = std::thread::spawn(move || {
            let Ok(namespace) = enter_network_namespace() else { return false };
            to_client.send(namespace).expect("a client");
            if from_client.recv().is_err() {
                return false;
            }
            set_address("bench1", Ipv4Addr::new(192, 0, 2, 2)).expect("an address");
            let listener = TcpListener::bind("192.0.2.2:7777").expect("a port");
            to_client_ready(&to_client);
            let (mut stream, _) = listener.accept().expect("a client");
            stream.write_all(b"x").expect("sent");
            true
        });
        let client = std::thread::spawn(move || {
            let Ok(namespace) = from_server.recv() else { return false };
            enter_network_namespace().expect("as the server did");
            if let Err(error) = create_veth("bench0", "bench1", &namespace) {
                whylate_testing::skip(whylate_testing::Need::Machine, error);
                return false;
            }
            set_address("bench0", Ipv4Addr::new(192, 0, 2, 1)).expect("an address");
            to_server.send(()).expect("a server");
            from_server.recv().expect("it listens");
            let mut stream = TcpStream::connect("192.0.2.2:7777").expect("the server");
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("received");
            byte == *b"x"
        });
        let (client, server) = (client.join().expect("client"), server.join().expect("server"));
        assert_eq!(client, server);
        if !client {
            whylate_testing::skip(whylate_testing::Need::Root, "a network namespace with a veth pair");
        }
        let devices = std::fs::read_to_string("/proc/net/dev").expect("devices");
        assert!(!devices.contains("bench0") && !devices.contains("bench1"), "{devices}");
    }

    /// Any descriptor stands for "it listens".
    fn to_client_ready(to_client: &std::sync::mpsc::Sender<OwnedFd>) {
        to_client.send(File::open("/dev/null").expect("a file").into()).expect("a client");
    }
}
