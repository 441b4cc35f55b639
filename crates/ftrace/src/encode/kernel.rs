//! The texts by which a recording describes itself, in the form of tracefs.

use crate::format::EventFormat;
use std::fmt::Write;

/// `events/header_event`, the same on every kernel (`ring_buffer_print_entry_header`,
/// `kernel/trace/ring_buffer.c`).
pub const HEADER_EVENT: &str = "# compressed entry header\n\
    \ttype_len    :    5 bits\n\
    \ttime_delta  :   27 bits\n\
    \tarray       :   32 bits\n\
    \n\
    \tpadding     : type == 29\n\
    \ttime_extend : type == 30\n\
    \ttime_stamp : type == 31\n\
    \tdata max type_len  == 28\n";

/// `events/header_page` of a 64-bit kernel whose ring-buffer pages have `page_size` bytes.
pub fn header_page(page_size: usize) -> String {
    format!(
        "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
         \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
         \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
         \tfield: char data;\toffset:16;\tsize:{};\tsigned:1;\n",
        page_size.saturating_sub(16)
    )
}

/// An event's `format` file, as it was before it was read.
pub fn format_text(format: &EventFormat) -> String {
    let mut text = format!("name: {}\nID: {}\nformat:\n", format.name, format.id);
    let mut common = true;
    for field in &format.fields {
        if common && !field.is_common() {
            // A blank line parts the fields all events have from its own.
            text.push('\n');
            common = false;
        }
        let signed = u8::from(field.signed);
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "\tfield:{};\toffset:{};\tsize:{};\tsigned:{signed};",
            field.declaration, field.offset, field.size
        );
    }
    if common {
        text.push('\n');
    }
    let _ = write!(text, "\nprint fmt: {}\n", format.print_fmt);
    text
}
