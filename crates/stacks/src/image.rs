//! The bytes of a file with code: of a file that is held open, or of the vDSO in this process's memory.

use crate::cfi::{Entries, FrameSection, disarm};
use crate::elf::{ElfHeaders, FrameSections, Section};
use crate::maps::code_mappings;
use framehop::ExplicitModuleSectionInfo;
use gimli::BaseAddresses;
use object::ReadCache;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;

/// The largest section that is read: call frame information of a browser has some 20 MB.
const MOST_BYTES: u64 = 256 << 20;

/// Call frame information as framehop takes it, shared by the processes that mapped the file.
pub(crate) type Frames = ExplicitModuleSectionInfo<Arc<[u8]>>;

/// The same content: the number of a file that is open is not given to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl FileIdentity {
    pub(crate) fn of(file: &File) -> io::Result<FileIdentity> {
        let found = file.metadata()?;
        let modified = (found.mtime(), found.mtime_nsec());
        Ok(FileIdentity { device: found.dev(), inode: found.ino(), size: found.size(), modified })
    }
}

/// An ELF file that can be read at any time, also after it was replaced or deleted.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) headers: ElfHeaders,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    File(File, FileIdentity),
    /// The address at which this process has it, and a copy.
    Vdso(u64, Arc<[u8]>),
}

impl Image {
    /// Reads the headers of `file`.
    ///
    /// # Errors
    /// Why it is no ELF file, or cannot be read.
    pub(crate) fn of_file(file: File) -> Result<Image, String> {
        let identity = FileIdentity::of(&file).map_err(|error| error.to_string())?;
        let headers = ElfHeaders::read(&ReadCache::new(&file)).map_err(|error| error.to_string())?;
        Ok(Image { headers, bytes: Bytes::File(file, identity) })
    }

    /// The vDSO of this process. The kernel maps the same image into every process of the same word size
    /// (`vdso(7)`).
    pub(crate) fn of_vdso() -> Result<Image, String> {
        let text = fs::read("/proc/self/maps").map_err(|error| error.to_string())?;
        let mapping = code_mappings(&text).into_iter().find(|mapping| mapping.path == Path::new("[vdso]"));
        let mapping = mapping.ok_or("this process has none")?;
        let range = Section { address: 0, offset: mapping.start, size: mapping.length };
        let memory = File::open("/proc/self/mem").map_err(|error| error.to_string())?;
        let bytes = read(&memory, range).map_err(|error| error.to_string())?;
        let headers = ElfHeaders::read(&*bytes).map_err(|error| error.to_string())?;
        Ok(Image { headers, bytes: Bytes::Vdso(mapping.start, bytes) })
    }

    /// The open file, unless it is the vDSO.
    pub(crate) fn file(&self) -> Option<&File> {
        match &self.bytes {
            Bytes::File(file, _) => Some(file),
            Bytes::Vdso(..) => None,
        }
    }

    /// Whether the file is as it was when its headers were read: some tools write over programs in place.
    pub(crate) fn is_unchanged(&self) -> bool {
        match &self.bytes {
            Bytes::File(file, identity) => FileIdentity::of(file).is_ok_and(|now| now == *identity),
            Bytes::Vdso(..) => true,
        }
    }

    /// Where this process has the vDSO.
    pub(crate) fn vdso_start(&self) -> Option<u64> {
        match &self.bytes {
            Bytes::File(..) => None,
            Bytes::Vdso(start, _) => Some(*start),
        }
    }

    /// Its call frame information; a section that cannot be read is left out, and one that might not be executed to its end.
    pub(crate) fn frames(&self) -> Frames {
        let FrameSections { eh_frame, eh_frame_hdr, debug_frame, text, got } = self.headers.frames;
        let range = |section: Option<Section>| section.and_then(range);
        let start = |section: Option<Section>| section.map_or(0, |section| section.address);
        let bases = BaseAddresses::default()
            .set_eh_frame(start(eh_frame))
            .set_eh_frame_hdr(start(eh_frame_hdr))
            .set_text(start(text))
            .set_got(start(got));
        let disarmed = |section, kind| {
            let mut bytes = self.read(section)?;
            let entries = disarm(Arc::make_mut(&mut bytes), kind, &bases);
            Some((bytes, entries))
        };
        let (frames, entries) = disarmed(eh_frame, FrameSection::EhFrame).unzip();
        let header = self.read(eh_frame_hdr).filter(|header| {
            let all = eh_frame_hdr.map(|section| section.address).zip(range(eh_frame)).zip(entries.as_ref());
            all.is_some_and(|((address, frames), entries)| is_sound(header, address, &frames, entries))
        });
        // Without a search table framehop makes one of all entries.
        let is_usable = |entries: &Entries| entries.is_complete || header.is_some();
        let frames = frames.filter(|_| entries.as_ref().is_some_and(is_usable));
        Frames {
            base_svma: self.headers.base,
            text_svma: range(text),
            got_svma: range(got),
            eh_frame_svma: range(eh_frame),
            eh_frame: frames,
            eh_frame_hdr_svma: range(eh_frame_hdr),
            eh_frame_hdr: header,
            // Of use only where there is no `.eh_frame`.
            debug_frame: disarmed(debug_frame.filter(|_| eh_frame.is_none()), FrameSection::DebugFrame)
                .filter(|(_, entries)| entries.is_complete)
                .map(|(bytes, _)| bytes),
            ..Frames::default()
        }
    }

    fn read(&self, section: Option<Section>) -> Option<Arc<[u8]>> {
        let section = section?;
        match &self.bytes {
            Bytes::File(file, _) => read(file, section).ok(),
            Bytes::Vdso(_, bytes) => {
                let start = usize::try_from(section.offset).ok()?;
                let end = start.checked_add(usize::try_from(section.size).ok()?)?;
                bytes.get(start..end).map(Arc::from)
            }
        }
    }
}

fn range(section: Section) -> Option<Range<u64>> {
    Some(section.address..section.address.checked_add(section.size)?)
}

/// Reads a part of a file. Memory grows with what is there, not with what a header claims.
pub(crate) fn read(file: &File, section: Section) -> io::Result<Arc<[u8]>> {
    const STEP: usize = 1 << 20;
    if section.size > MOST_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let size = section.size as usize;
    let mut bytes = Vec::new();
    while bytes.len() < size {
        let from = bytes.len();
        bytes.resize(size.min(from + STEP), 0);
        let offset = section.offset.checked_add(from as u64).ok_or(io::ErrorKind::UnexpectedEof)?;
        file.read_exact_at(&mut bytes[from..], offset)?;
    }
    Ok(bytes.into())
}

/// Whether the search table of `.eh_frame_hdr` can be relied on; without it framehop makes its own. It has the encodings
/// that all linkers write, and each entry leads to one of `.eh_frame`, as the reader expects without a check of its own
/// ("Linux Standard Base Core Specification", 10.6.2).
fn is_sound(header: &[u8], address: u64, frames: &Range<u64>, entries: &Entries) -> bool {
    /// Version 1; `DW_EH_PE_pcrel | sdata4`, `udata4` and `datarel | sdata4`.
    const ENCODINGS: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
    let Some(rest) = header.strip_prefix(&ENCODINGS) else { return false };
    let mut words = rest.chunks_exact(4).filter_map(|word| word.try_into().ok()).map(i32::from_le_bytes);
    let relative = |base: u64, word: i32| base.wrapping_add_signed(word.into());
    let (Some(start), Some(count)) = (words.next(), words.next()) else { return false };
    let count = count.cast_unsigned() as usize;
    let is_entry = |frame: u64| {
        let offset = frame.checked_sub(frames.start).and_then(|offset| usize::try_from(offset).ok());
        offset.is_some_and(|offset| entries.contains(offset))
    };
    let (mut seen, mut last) = (0, 0);
    while let (true, Some(code), Some(frame)) = (seen < count, words.next(), words.next()) {
        let code = relative(address, code);
        if code < last || !is_entry(relative(address, frame)) {
            return false;
        }
        (seen, last) = (seen + 1, code);
    }
    relative(address.wrapping_add(4), start) == frames.start && seen == count && count > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vdso_is_read_with_its_call_frame_information() {
        let image = Image::of_vdso().expect("a vDSO");
        let frames = image.frames();
        assert!(image.headers.build_id.is_some() && !image.headers.executable, "{:?}", image.headers);
        assert!(frames.eh_frame.is_some() && frames.eh_frame_hdr.is_some());
        assert!(image.file().is_none() && image.vdso_start().is_some());
    }

    #[test]
    fn a_search_table_that_leads_elsewhere_is_not_used() {
        let words = |words: &[i32]| {
            let bytes = words.iter().flat_map(|word| word.to_le_bytes());
            [1, 0x1b, 0x03, 0x3b].into_iter().chain(bytes).collect::<Vec<u8>>()
        };
        // The header is at 0x1000, the frames are at 0x1100 up to 0x1200.
        let frames = 0x1100..0x1200;
        let entries = Entries { functions: vec![0, 0xff], is_complete: true };
        let good = words(&[0x1100 - 0x1004, 2, -0x800, 0x100, -0x700, 0x1ff]);
        assert!(is_sound(&good, 0x1000, &frames, &entries));
        for bad in [
            words(&[0x1100 - 0x1000, 2, -0x800, 0x100, -0x700, 0x1ff]),
            words(&[0x1100 - 0x1004, 2, -0x800, 0x100, -0x700, 0x200]),
            words(&[0x1100 - 0x1004, 2, -0x800, 0xff, -0x700, 0x1ff]),
            words(&[0x1100 - 0x1004, 2, -0x700, 0x100, -0x800, 0x1ff]),
            words(&[0x1100 - 0x1004, 3, -0x800, 0x100, -0x700, 0x1ff]),
            words(&[0x1100 - 0x1004, -1, -0x800, 0x100]),
            words(&[0x1100 - 0x1004, 0]),
            words(&[]),
            [&[1, 0x1b, 0xff, 0xff][..], &good[4..]].concat(),
        ] {
            assert!(!is_sound(&bad, 0x1000, &frames, &entries), "{bad:x?}");
        }
    }

    #[test]
    fn a_section_beyond_the_end_of_the_file_is_an_error() {
        let file = File::open("/proc/self/exe").expect("this program");
        for (offset, size) in [(u64::MAX, 10), (u64::MAX - 5, 10), (0, u64::MAX), (0, MOST_BYTES)] {
            assert!(read(&file, Section { address: 0, offset, size }).is_err(), "{offset} {size}");
        }
        assert_eq!(
            read(&file, Section { address: 0, offset: 0, size: 4 }).expect("readable")[..],
            *b"\x7fELF"
        );
        assert!(Image::of_file(File::open("/proc/self/maps").expect("readable")).is_err());
    }
}
