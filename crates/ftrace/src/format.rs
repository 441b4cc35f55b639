//! Event format files: which fields an event has and where they lie in its bytes.
//!
//! The kernel writes one per event, `events/<system>/<event>/format` in tracefs, and
//! `events/header_page` for the page header; a trace.dat carries copies of them. Offsets
//! count from the start of the event's own bytes, the common fields first.

use crate::bytes::{Endian, until_nul};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One event's format file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFormat {
    /// The directory it is in: `sched`, `irq` ...
    pub system: String,
    /// Its name: `sched_switch`.
    pub name: String,
    /// The number that stands in `common_type` of its records.
    pub id: u16,
    /// Common fields and its own, in the file's order.
    pub fields: Vec<Field>,
    /// The `print fmt:` line: a C format string and its arguments.
    pub print_fmt: String,
}

/// A field of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, without array brackets.
    pub name: String,
    /// Type, name and brackets as the kernel wrote them: `char prev_comm[16]`.
    pub declaration: String,
    /// Its C type as the kernel wrote it: `char[16]` is `char` with `array`.
    pub type_name: String,
    /// Where it begins.
    pub offset: usize,
    /// Bytes it takes in the record; 0 for an array that fills the rest of it (`char buf[]`).
    pub size: usize,
    /// True for a signed integer.
    pub signed: bool,
    /// True for an array or string.
    pub array: bool,
    /// Where the value itself is.
    pub place: ValueAt,
}

/// Where a field's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueAt {
    /// At the field's offset.
    Here,
    /// `__data_loc`: the field holds length and offset from the start of the record.
    DataLoc,
    /// `__rel_loc`: the field holds length and offset from the field's own end.
    RelLoc,
}

impl EventFormat {
    /// Reads a format file. `None` when it lacks its name, id or fields: it then is not one.
    pub fn parse(system: &str, text: &str) -> Option<EventFormat> {
        let (mut name, mut id, mut fields, mut print_fmt) = (None, None, Vec::new(), String::new());
        // It is the last, and its strings may hold newlines.
        let (head, print) = text.split_once("print fmt:").unwrap_or((text, ""));
        print_fmt.push_str(print.trim());
        for line in head.lines() {
            let line = line.trim_start();
            if let Some(value) = line.strip_prefix("name:") {
                name = Some(value.trim().to_owned());
            } else if let Some(value) = line.strip_prefix("ID:") {
                id = value.trim().parse::<u16>().ok();
            } else if let Some(field) = Field::parse(line) {
                fields.push(field);
            }
        }
        Some(EventFormat { system: system.to_owned(), name: name?, id: id?, fields, print_fmt })
            .filter(|format| !format.fields.is_empty())
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The fields that only this event has.
    pub fn own_fields(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| !field.is_common())
    }
}

impl Field {
    /// Reads `field:char prev_comm[16]; offset:8; size:16; signed:0;`.
    fn parse(line: &str) -> Option<Field> {
        let declaration = line.strip_prefix("field:").or_else(|| line.strip_prefix("field special:"))?;
        let mut parts = declaration.split(';');
        let declaration = parts.next()?.trim();
        let whole = declaration.to_owned();
        let (mut offset, mut size, mut signed) = (None, None, None);
        for part in parts {
            match part.trim().split_once(':') {
                Some(("offset", value)) => offset = value.trim().parse().ok(),
                Some(("size", value)) => size = value.trim().parse().ok(),
                Some(("signed", value)) => signed = Some(value.trim() != "0"),
                _ => {}
            }
        }
        let (place, declaration) = if let Some(rest) = declaration.strip_prefix("__data_loc ") {
            (ValueAt::DataLoc, rest)
        } else if let Some(rest) = declaration.strip_prefix("__rel_loc ") {
            (ValueAt::RelLoc, rest)
        } else {
            (ValueAt::Here, declaration)
        };
        let (declaration, brackets) =
            match declaration.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
                Some((rest, _)) => (rest.trim_end(), true),
                None => (declaration, false),
            };
        let name_at = declaration
            .char_indices()
            .rev()
            .find(|(_, c)| !(c.is_alphanumeric() || *c == '_'))
            .map_or(0, |(at, c)| at + c.len_utf8());
        let (type_name, name) = declaration.split_at(name_at);
        // `__data_loc char[] name` has its brackets in the type.
        let array = brackets || type_name.contains('[');
        Some(Field {
            name: name.to_owned(),
            declaration: whole,
            type_name: type_name.trim().to_owned(),
            offset: offset?,
            size: size?,
            // 2.6 kernels did not print it.
            signed: signed.unwrap_or_else(|| !type_name.contains("unsigned")),
            array,
            place,
        })
        .filter(|field| !field.name.is_empty())
    }

    /// True for the fields every event begins with.
    pub fn is_common(&self) -> bool {
        self.name.starts_with("common_")
    }

    /// The value as an integer, widened with its sign; `None` for an array, or where the
    /// record is too short.
    pub fn int(&self, endian: Endian, record: &[u8]) -> Option<i64> {
        if self.array || self.place != ValueAt::Here {
            return None;
        }
        endian.int(record, self.offset, self.size, self.signed)
    }

    /// The value's bytes, wherever they are; `None` where the record is too short.
    pub fn bytes<'r>(&self, endian: Endian, record: &'r [u8]) -> Option<&'r [u8]> {
        match self.place {
            ValueAt::Here if self.size == 0 => record.get(self.offset..),
            ValueAt::Here => record.get(self.offset..self.offset.checked_add(self.size)?),
            ValueAt::DataLoc => located(endian, record, self.offset, 0),
            ValueAt::RelLoc => located(endian, record, self.offset, self.offset.checked_add(4)?),
        }
    }

    /// The value as text: the bytes up to the first NUL.
    pub fn text<'r>(&self, endian: Endian, record: &'r [u8]) -> Option<&'r [u8]> {
        self.bytes(endian, record).map(until_nul)
    }
}

/// Follows a data location: length in the upper, offset in the lower 16 bits.
#[inline]
pub(crate) fn located(endian: Endian, record: &[u8], at: usize, base: usize) -> Option<&[u8]> {
    let location = endian.u32(record, at)?;
    let start = base.checked_add((location & 0xffff) as usize)?;
    record.get(start..start.checked_add((location >> 16) as usize)?)
}

/// All event formats of a recording, by id.
#[derive(Clone, Debug, Default)]
pub struct EventFormats {
    by_id: BTreeMap<u16, Arc<EventFormat>>,
}

impl EventFormats {
    /// Adds a format; a later one of the same id takes the place of an earlier.
    pub fn insert(&mut self, format: EventFormat) {
        self.by_id.insert(format.id, Arc::new(format));
    }

    /// The format of the events with that `common_type`.
    pub fn get(&self, id: u16) -> Option<&Arc<EventFormat>> {
        self.by_id.get(&id)
    }

    /// The format of an event by name.
    pub fn find(&self, system: &str, name: &str) -> Option<&Arc<EventFormat>> {
        self.iter().find(|format| format.system == system && format.name == name)
    }

    /// In the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<EventFormat>> {
        self.by_id.values()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }
}

/// The header of a ring-buffer page, as `events/header_page` describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderPage {
    /// Bytes of the `commit` word: the traced kernel's `long`.
    pub commit_size: usize,
    /// Where the events begin.
    pub data_offset: usize,
    /// Bytes of events a page holds: with `data_offset`, the sub-buffer's size.
    pub data_size: usize,
}

impl HeaderPage {
    /// Reads `events/header_page`; `None` when it does not show where things are.
    pub fn parse(text: &str) -> Option<HeaderPage> {
        let field = |name: &str| {
            text.lines().filter_map(|line| Field::parse(line.trim_start())).find(|field| field.name == name)
        };
        let (commit, data) = (field("commit")?, field("data")?);
        let plausible = matches!(commit.size, 4 | 8) && data.offset == 8 + commit.size;
        plausible.then_some(HeaderPage {
            commit_size: commit.size,
            data_offset: data.offset,
            data_size: data.size,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAKING: &str = "name: made_up\nID: 372\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
        \tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n\
        \tfield:__rel_loc char[] other;\toffset:28;\tsize:4;\tsigned:0;\n\
        \tfield:const char * ptr;\toffset:32;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned long args[6];\toffset:40;\tsize:48;\tsigned:0;\n\
        \tfield:char buf[];\toffset:88;\tsize:0;\tsigned:0;\n\nprint fmt: \"x=%d\", REC->x\n";

    #[test]
    fn fields_of_every_shape() {
        let format = EventFormat::parse("sys", WAKING).expect("a format");
        assert_eq!((format.id, format.name.as_str()), (372, "made_up"));
        assert_eq!(format.print_fmt, "\"x=%d\", REC->x");
        let shapes: Vec<_> =
            format.own_fields().map(|f| (f.name.as_str(), f.type_name.as_str(), f.array, f.place)).collect();
        assert_eq!(
            shapes,
            [
                ("comm", "char", true, ValueAt::Here),
                ("name", "char[]", true, ValueAt::DataLoc),
                ("other", "char[]", true, ValueAt::RelLoc),
                ("ptr", "const char *", false, ValueAt::Here),
                ("args", "unsigned long", true, ValueAt::Here),
                ("buf", "char", true, ValueAt::Here),
            ]
        );
        assert!(format.field("common_pid").is_some_and(|field| field.signed && field.is_common()));
    }

    #[test]
    fn values_are_found_and_never_past_the_end() {
        let format = EventFormat::parse("sys", WAKING).expect("a format");
        let mut record = vec![0u8; 96];
        record[4..8].copy_from_slice(&(-7i32).to_le_bytes());
        record[8..12].copy_from_slice(b"comm");
        record[24..28].copy_from_slice(&(5u32 << 16 | 88).to_le_bytes());
        record[28..32].copy_from_slice(&(3u32 << 16 | 61).to_le_bytes());
        record[88..96].copy_from_slice(b"abcd\0xyz");
        let text = |name: &str, record: &[u8]| {
            let field = format.field(name).expect(name);
            field.text(Endian::Little, record).map(|text| String::from_utf8_lossy(text).into_owned())
        };
        assert_eq!(format.field("common_pid").expect("pid").int(Endian::Little, &record), Some(-7));
        assert_eq!(text("comm", &record).as_deref(), Some("comm"));
        assert_eq!(text("name", &record).as_deref(), Some("abcd"));
        assert_eq!(text("other", &record).as_deref(), Some("xyz"));
        assert_eq!(text("buf", &record).as_deref(), Some("abcd"));
        assert_eq!(text("name", &record[..90]), None);
        assert_eq!(text("comm", &record[..20]), None);
    }

    #[test]
    fn header_page_of_both_word_sizes() {
        let text = |long: usize| {
            format!(
                "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
                 \tfield: local_t commit;\toffset:8;\tsize:{long};\tsigned:1;\n\
                 \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
                 \tfield: char data;\toffset:{};\tsize:{};\tsigned:0;\n",
                8 + long,
                4088 - long
            )
        };
        for long in [4, 8] {
            let header = HeaderPage { commit_size: long, data_offset: 8 + long, data_size: 4088 - long };
            assert_eq!(HeaderPage::parse(&text(long)), Some(header));
        }
        assert_eq!(HeaderPage::parse("\tfield: u64 timestamp;\toffset:0;\tsize:8;\n"), None);
        assert_eq!(HeaderPage::parse(&text(3)), None);
    }
}
