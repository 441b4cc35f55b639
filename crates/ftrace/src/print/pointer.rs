//! What `%p` and the letters behind it show.

use super::eval::Record;
use super::expr::Expr;
use super::printf::{Pointer, Room};
use super::text::{hex_bytes, mask_hex, mask_list, put};
use super::{Mode, Names};
use std::net::{Ipv4Addr, Ipv6Addr};

/// `AF_INET` and `AF_INET6` of Linux.
const INET: u16 = 2;
const INET6: u16 = 10;

impl Record<'_> {
    /// Writes an argument of `%p`; `length` is the value of a `*` before it.
    pub(super) fn write_pointer(
        &self,
        pointer: Pointer,
        expression: &Expr,
        room: Room,
        length: Option<i64>,
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        let bytes = || self.at(expression).unwrap_or_default();
        let length = || length.and_then(|length| usize::try_from(length).ok());
        match pointer {
            Pointer::Plain => self.names.write_address(self.value(expression).bits, out),
            Pointer::Symbol { distance } => {
                self.names.write_symbol(self.value(expression).bits, distance, out);
            }
            Pointer::Mac { between, reversed } => match bytes().first_chunk::<6>() {
                Some(&mac) if reversed => {
                    hex_bytes(&[mac[5], mac[4], mac[3], mac[2], mac[1], mac[0]], between, out);
                }
                Some(mac) => hex_bytes(mac, between, out),
                None => out.extend(b"INVALIDMAC"),
            },
            Pointer::Ip4 { leading_zeros, host_order } => match bytes().first_chunk::<4>() {
                Some(&address) => write_ip4(address, leading_zeros, host_order.is_some(), out),
                None => out.extend(b"INVALIDIPv4"),
            },
            Pointer::Ip6 { short, colons } => match bytes().first_chunk::<16>() {
                Some(&address) => write_ip6(address, short, colons, out),
                None => out.extend(b"INVALIDIPv6"),
            },
            Pointer::SocketAddress { port, colons, short } => {
                self.write_socket_address(bytes(), port, colons, short, out);
            }
            Pointer::Uuid { upper, little } => match bytes().first_chunk::<16>() {
                Some(uuid) => write_uuid(uuid, upper, little, out),
                None => out.extend(b"INVALIDUUID"),
            },
            Pointer::Bytes { between } => {
                let bytes = bytes();
                // Without a length the kernel shows one byte; it shows 64 at most.
                let length = length().unwrap_or(1).min(64).min(bytes.len());
                hex_bytes(&bytes[..length], between, out);
                return;
            }
            Pointer::Bitmap { list } => {
                let bytes = bytes();
                let bits = length().unwrap_or(bytes.len() * 8);
                match list {
                    true => mask_list(self.endian, bytes, bits, out),
                    false => mask_hex(self.endian, bytes, bits, out),
                }
                return;
            }
        }
        room.pad(out, start);
    }

    fn write_socket_address(&self, address: &[u8], port: bool, colons: bool, short: bool, out: &mut Vec<u8>) {
        let number = match address.get(2..4) {
            Some(&[high, low]) => u16::from_be_bytes([high, low]),
            _ => 0,
        };
        match self.endian.u16(address, 0) {
            Some(INET) => match address.get(4..).and_then(|rest| rest.first_chunk::<4>()) {
                Some(&ip) => {
                    write_ip4(ip, !colons, false, out);
                    if port {
                        put!(out, ":{number}");
                    }
                }
                None => out.extend(b"INVALIDIPv4"),
            },
            Some(INET6) => match address.get(8..).and_then(|rest| rest.first_chunk::<16>()) {
                Some(&ip) => {
                    if port {
                        out.push(b'[');
                    }
                    write_ip6(ip, short, colons, out);
                    if port {
                        put!(out, "]:{number}");
                    }
                }
                None => out.extend(b"INVALIDIPv6"),
            },
            _ => out.extend(b"INVALIDSOCKADDR"),
        }
    }
}

impl Names {
    /// An address that leads nowhere that is known.
    pub(super) fn write_address(&self, address: u64, out: &mut Vec<u8>) {
        match self.mode {
            // As C libraries print it.
            Mode::TraceCmd if address == 0 => out.extend(b"(nil)"),
            Mode::TraceCmd => put!(out, "0x{address:x}"),
            // As the kernel prints it where it does not hash addresses.
            Mode::Kernel => put!(out, "{address:0width$x}", width = self.long_size * 2),
        }
    }

    /// The function at an address.
    pub(super) fn write_symbol(&self, address: u64, distance: bool, out: &mut Vec<u8>) {
        match self.symbols.find(address) {
            Some((start, name)) => {
                out.extend(name);
                if distance {
                    put!(out, "+0x{:x}", address - start);
                    if self.mode == Mode::Kernel {
                        put!(out, "/0x{:x}", self.symbols.size(start).unwrap_or(0));
                    }
                }
            }
            None => put!(out, "0x{address:x}"),
        }
    }
}

fn write_ip4(mut address: [u8; 4], leading_zeros: bool, host_order: bool, out: &mut Vec<u8>) {
    if host_order {
        address.reverse();
    }
    match leading_zeros {
        false => put!(out, "{}", Ipv4Addr::from(address)),
        true => {
            let [a, b, c, d] = address;
            put!(out, "{a:03}.{b:03}.{c:03}.{d:03}");
        }
    }
}

fn write_ip6(address: [u8; 16], short: bool, colons: bool, out: &mut Vec<u8>) {
    if short {
        put!(out, "{}", Ipv6Addr::from(address));
        return;
    }
    for (index, pair) in address.chunks_exact(2).enumerate() {
        if index > 0 && colons {
            out.push(b':');
        }
        hex_bytes(pair, None, out);
    }
}

fn write_uuid(uuid: &[u8; 16], upper: bool, little: bool, out: &mut Vec<u8>) {
    const BIG: [usize; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    const LITTLE: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    let order = if little { LITTLE } else { BIG };
    for (index, at) in order.into_iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        match upper {
            true => put!(out, "{:02X}", uuid[at]),
            false => put!(out, "{:02x}", uuid[at]),
        }
    }
}
