//! A perf.data's description of itself: its header, the recorded events, the features behind the data.
//!
//! ```text
//! "PERFILE2" | size 16                          pipe mode: everything else comes as records
//! "PERFILE2" | size | attr size | attrs | data | event types | 256 feature bits
//!                                                file mode: a place for each feature behind the data
//! ```
//! Source: `tools/perf/Documentation/perf.data-file-format.txt`.

use super::attr::Attr;
use crate::seekable::{ReadAt, read_full};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use whylate_base::{Comm, Tid};
use whylate_events::Damage;
use whylate_ftrace::bytes::Endian;
use whylate_ftrace::dat::TracingData;
use whylate_ftrace::format::EventFormats;

/// How a perf.data begins: the writer's byte order is that of this number.
pub(crate) const MAGIC: &[u8] = b"PERFILE2";
/// The same, by a big-endian machine.
pub(crate) const MAGIC_BIG: &[u8] = b"2ELIFREP";

/// The size of pipe mode's header.
const PIPE_HEADER: u64 = 16;
/// Sizes that no attr, list of ids or feature reaches; what claims more is damaged.
const LARGEST_ATTR: u64 = 4096;
const LARGEST_SECTION: u64 = 256 << 20;
/// Events and their ids: a tracepoint each, on each CPU.
const MOST_ATTRS: u64 = 65_536;

/// Features (`tools/perf/util/header.h`).
const TRACING_DATA: u64 = 1;
const HOSTNAME: u64 = 3;
const OSRELEASE: u64 = 4;
const ARCH: u64 = 6;
const NRCPUS: u64 = 7;

/// All that describes the records.
pub(super) struct Header {
    pub(super) endian: Endian,
    pub(super) pipe: bool,
    /// Where the records are.
    pub(super) data: Range<u64>,
    pub(super) attrs: Vec<Attr>,
    /// Which attr the samples of an id belong to.
    pub(super) ids: BTreeMap<u64, usize>,
    pub(super) formats: EventFormats,
    pub(super) kallsyms: Vec<u8>,
    pub(super) comms: Vec<(Tid, Comm)>,
    pub(super) release: Option<String>,
    pub(super) host: Option<String>,
    pub(super) machine: Option<String>,
    pub(super) cpus: u32,
    pub(super) damage: Vec<Damage>,
    /// True when the file claims to have event formats, also where they are gone.
    pub(super) promised_formats: bool,
    /// perf fills its header in when it ends: a size of 0 is that of a recording that was killed.
    pub(super) unfinished: bool,
}

/// What of a header makes no sense, in words.
pub(super) struct Bad(pub(super) String);

impl Header {
    /// Reads the header and, in file mode, all that it points at.
    pub(super) fn read(source: &dyn ReadAt, path: &Path) -> Result<Header, Bad> {
        let mut bytes = [0; 104];
        let got =
            read_full(source, &mut bytes, 0).map_err(|error| Bad(format!("cannot be read: {error}")))?;
        let bytes = bytes.get(..got).unwrap_or_default();
        let endian = if bytes.starts_with(MAGIC_BIG) { Endian::Big } else { Endian::Little };
        let number = |at: usize| endian.u64(bytes, at).ok_or_else(|| Bad("ends inside its header".into()));
        let size = number(8)?;
        let mut header = Header {
            endian,
            pipe: size == PIPE_HEADER,
            data: PIPE_HEADER..source.size(),
            attrs: Vec::new(),
            ids: BTreeMap::new(),
            formats: EventFormats::default(),
            kallsyms: Vec::new(),
            comms: Vec::new(),
            release: None,
            host: None,
            machine: None,
            cpus: 0,
            damage: Vec::new(),
            promised_formats: false,
            unfinished: false,
        };
        if header.pipe {
            return Ok(header);
        }
        let (attr_size, attrs) = (number(16)?, (number(24)?, number(32)?));
        let (data_at, data_size) = (number(40)?, number(48)?);
        header.read_attrs(source, attr_size, attrs)?;
        header.unfinished = data_size == 0;
        let data_end = match header.unfinished {
            true => source.size(),
            false => data_at.saturating_add(data_size),
        };
        header.data = data_at..data_end.min(source.size());
        if header.unfinished {
            return Ok(header);
        }
        if data_end > source.size() {
            let missing = data_end - source.size();
            header.damage.push(Damage::at(
                source.size(),
                format!("the file ends {missing} bytes before its records do: their descriptions are gone"),
            ));
        }
        let features: Vec<u64> = (0..256)
            .filter(|bit| number(72 + bit / 64 * 8).is_ok_and(|word| word >> (bit % 64) & 1 == 1))
            .map(|bit| bit as u64)
            .collect();
        header.promised_formats = features.contains(&TRACING_DATA);
        for (index, &feature) in features.iter().enumerate() {
            let place = data_end.saturating_add(16 * index as u64);
            let bytes = section(source, endian, place).filter(|_| data_end <= source.size());
            if let Some(bytes) = bytes {
                header.feature(feature, bytes, path);
            }
        }
        Ok(header)
    }

    fn read_attrs(&mut self, source: &dyn ReadAt, attr_size: u64, attrs: (u64, u64)) -> Result<(), Bad> {
        let (at, size) = attrs;
        if !(64 + 16..=LARGEST_ATTR).contains(&attr_size) {
            return Err(Bad(format!(
                "is damaged: by its header, an event's description has {attr_size} bytes"
            )));
        }
        for index in 0..(size / attr_size).min(MOST_ATTRS) {
            let place = at.saturating_add(index * attr_size);
            let mut bytes = vec![0; attr_size as usize];
            let whole = read_full(source, &mut bytes, place).is_ok_and(|got| got == bytes.len());
            let ids_at = attr_size as usize - 16;
            let attr =
                bytes.get(..ids_at).filter(|_| whole).and_then(|bytes| Attr::parse(self.endian, bytes));
            let Some((attr, _)) = attr else {
                self.damage.push(Damage::at(place, "the description of an event makes no sense: skipped"));
                continue;
            };
            let ids = section_at(self.endian, &bytes, ids_at).and_then(|(at, size)| take(source, at, size));
            if ids.is_none() {
                self.damage.push(Damage::at(place, "the ids of an event cannot be read"));
            }
            self.add(attr, &ids.unwrap_or_default());
        }
        Ok(())
    }

    /// Adds an event and the ids of its samples.
    fn add(&mut self, attr: Attr, ids: &[u8]) {
        let index = self.attrs.len();
        self.attrs.push(attr);
        for at in (0..ids.len()).step_by(8) {
            self.ids.extend(self.endian.u64(ids, at).map(|id| (id, index)));
        }
    }

    /// The event of a `HEADER_ATTR` record. False where it makes no sense.
    pub(super) fn attr_record(&mut self, body: &[u8]) -> bool {
        let Some((attr, size)) = Attr::parse(self.endian, body) else { return false };
        if (self.attrs.len() as u64) < MOST_ATTRS {
            self.add(attr, body.get(size..).unwrap_or_default());
        }
        true
    }

    /// A feature's bytes, from behind the data or from a `HEADER_FEATURE` record.
    pub(super) fn feature(&mut self, feature: u64, bytes: Vec<u8>, path: &Path) {
        let endian = self.endian;
        let text = || {
            let size = endian.u32(&bytes, 0)? as usize;
            let text = bytes.get(4..4usize.checked_add(size)?)?;
            let text = String::from_utf8_lossy(text.split(|&byte| byte == 0).next()?).into_owned();
            (!text.is_empty()).then_some(text)
        };
        match feature {
            TRACING_DATA => self.tracing_data(bytes, path),
            HOSTNAME => self.host = text(),
            OSRELEASE => self.release = text(),
            ARCH => self.machine = text(),
            NRCPUS => self.cpus = endian.u32(&bytes, 0).unwrap_or(0),
            _ => {}
        }
    }

    /// The event formats.
    pub(super) fn tracing_data(&mut self, bytes: Vec<u8>, path: &Path) {
        self.promised_formats = true;
        match TracingData::read(bytes, path) {
            Ok(data) => {
                let part = |damage: &Damage| Damage::whole(format!("the event formats: {damage}"));
                self.damage.extend(data.damage.iter().map(part));
                (self.formats, self.kallsyms, self.comms) = (data.formats, data.kallsyms, data.comms);
            }
            Err(error) => self.damage.push(Damage::whole(format!("the event formats: {error}"))),
        }
    }
}

/// Offset and size, as they stand at `at`.
fn section_at(endian: Endian, bytes: &[u8], at: usize) -> Option<(u64, u64)> {
    Some((endian.u64(bytes, at)?, endian.u64(bytes, at + 8)?))
}

/// The bytes of a section whose place stands in the file at `place`.
fn section(source: &dyn ReadAt, endian: Endian, place: u64) -> Option<Vec<u8>> {
    let mut bytes = [0; 16];
    read_full(source, &mut bytes, place).ok().filter(|&got| got == 16)?;
    let (at, size) = section_at(endian, &bytes, 0)?;
    take(source, at, size)
}

/// As many of those bytes as are there.
fn take(source: &dyn ReadAt, at: u64, size: u64) -> Option<Vec<u8>> {
    let size = size.min(source.size().saturating_sub(at));
    if size > LARGEST_SECTION {
        return None;
    }
    let mut bytes = vec![0; size as usize];
    let got = read_full(source, &mut bytes, at).ok()?;
    bytes.truncate(got);
    Some(bytes)
}
