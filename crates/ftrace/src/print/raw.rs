//! The fields of a record as they are, for events whose `print fmt` is not understood.

use super::Names;
use super::text::{hex_bytes, put};
use crate::bytes::{Endian, until_nul};
use crate::format::{EventFormat, Field, ValueAt};

/// Writes ` name=value` for each field of the event's own.
pub(super) fn write_fields(
    format: &EventFormat,
    endian: Endian,
    names: &Names,
    record: &[u8],
    out: &mut Vec<u8>,
) {
    for field in format.own_fields() {
        put!(out, " {}=", field.name);
        write_field(field, endian, names, record, out);
    }
}

fn write_field(field: &Field, endian: Endian, names: &Names, record: &[u8], out: &mut Vec<u8>) {
    if field.array || field.place != ValueAt::Here {
        let bytes = field.bytes(endian, record).unwrap_or_default();
        let is_string = ["char", "u8", "s8"].iter().any(|name| field.type_name.contains(name));
        let text = until_nul(bytes);
        if is_string && text.iter().all(|byte| matches!(byte, b' '..=b'~' | 9..=13)) {
            out.extend(text);
            return;
        }
        out.extend(b"ARRAY[");
        for (index, byte) in bytes.iter().enumerate() {
            if index > 0 {
                out.extend(b", ");
            }
            hex_bytes(&[*byte], None, out);
        }
        out.push(b']');
        return;
    }
    let long = field.type_name.contains("long");
    let unsigned = |signed| endian.int(record, field.offset, field.size, signed).unwrap_or(0) as u64;
    if field.type_name.contains('*') {
        put!(out, "0x{:x}", unsigned(false));
    } else if !field.signed {
        match long {
            true => put!(out, "0x{:x}", unsigned(false)),
            false => put!(out, "{}", unsigned(false)),
        }
    } else {
        let value = unsigned(true) as i64;
        match field.size {
            // A long of a 32-bit kernel mostly holds an address.
            4 if long && names.long_size == 4 => put!(out, "0x{:x}", value as u32),
            2 => put!(out, "{value:2}"),
            _ => put!(out, "{value}"),
        }
    }
}
