//! One CPU's pages, a block of them at a time: straight from the file, or chunk by chunk
//! out of the compressed form. Memory stays bounded whatever the file's size.
//!
//! ```text
//! compressed = number of chunks u32 | chunk ...
//! chunk      = packed size u32 | unpacked size u32 | bytes
//! ```

use super::buffer::CpuData;
use super::compress::Unpacker;
use super::read_at::{ReadAt, read_full};
use crate::bytes::Endian;
use std::sync::Arc;
use whylate_events::Damage;

/// Hands out the pages of one CPU.
pub(super) struct Blocks {
    source: Arc<dyn ReadAt>,
    endian: Endian,
    at: u64,
    form: Form,
    /// Whether the file ends before this CPU's data does.
    cut: bool,
}

enum Form {
    Plain { end: u64, block_size: usize },
    Chunks { left: Option<u32>, end: u64, packed: Vec<u8>, unpacker: Unpacker },
}

/// What a block is, besides its bytes.
pub(super) struct Block {
    /// Where in the file it begins; of a chunk, where its packed bytes do.
    pub(super) offset: u64,
    /// The first 8 bytes of the page that follows it, where that is already at hand.
    pub(super) next: Option<[u8; 8]>,
}

impl Blocks {
    /// Pages that lie in the file as they are, read `block_size` bytes at a time: a
    /// multiple of the page size.
    pub(super) fn plain(source: Arc<dyn ReadAt>, endian: Endian, data: CpuData, block_size: usize) -> Blocks {
        let declared = data.offset.saturating_add(data.size);
        let end = declared.min(source.size());
        let cut = data.size > 0 && declared > end;
        Blocks { source, endian, at: data.offset, form: Form::Plain { end, block_size }, cut }
    }

    /// Pages in compressed chunks. The number of chunks determines where they end, rather than the
    /// recorded size: trace-cmd has written that 4 bytes short. Yet no chunk begins behind it.
    pub(super) fn chunks(
        source: Arc<dyn ReadAt>,
        endian: Endian,
        data: CpuData,
        unpacker: Unpacker,
    ) -> Blocks {
        let left = if data.size == 0 { Some(0) } else { None };
        let end = data.offset.saturating_add(data.size).saturating_add(4);
        let form = Form::Chunks { left, end, packed: Vec::new(), unpacker };
        Blocks { source, endian, at: data.offset, form, cut: false }
    }

    /// Whether this CPU's data goes on where the file ends; known at the end.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Reads the next block into `block`; `None` at the end of this CPU's data. After
    /// damage, what could be read is in `block` all the same.
    pub(super) fn next(&mut self, block: &mut Vec<u8>, damage: &mut Vec<Damage>) -> Option<Block> {
        match &mut self.form {
            Form::Plain { end, block_size } => {
                let offset = self.at;
                let size =
                    usize::try_from(end.saturating_sub(offset)).unwrap_or(*block_size).min(*block_size);
                if size == 0 {
                    return None;
                }
                block.resize(size, 0);
                match read_full(&*self.source, block, offset) {
                    Ok(count) if count < size => {
                        // The file became shorter since it was opened.
                        damage
                            .push(Damage::at(offset + count as u64, "the file ends inside this CPU's data"));
                        block.truncate(count);
                        *end = 0;
                        self.cut = true;
                    }
                    Ok(_) => {}
                    Err(error) => {
                        damage.push(Damage::at(offset, format!("failed to read: {error}: the rest is lost")));
                        *end = 0;
                        self.cut = true;
                        return None;
                    }
                }
                self.at += size as u64;
                let mut next = [0; 8];
                let more = self.at + 8 <= *end
                    && read_full(&*self.source, &mut next, self.at).is_ok_and(|count| count == 8);
                Some(Block { offset, next: more.then_some(next) })
            }
            Form::Chunks { left, end, packed, unpacker } => {
                let number = |at: u64| {
                    let mut word = [0; 4];
                    read_full(&*self.source, &mut word, at)
                        .ok()
                        .filter(|&count| count == 4)
                        .and_then(|_| self.endian.u32(&word, 0))
                };
                let count = match *left {
                    Some(count) => count,
                    None => {
                        let Some(count) = number(self.at) else {
                            damage.push(Damage::at(self.at, "the file ends before this CPU's data"));
                            *left = Some(0);
                            self.cut = true;
                            return None;
                        };
                        self.at += 4;
                        count
                    }
                };
                *left = Some(count.checked_sub(1)?);
                let offset = self.at;
                if offset >= *end {
                    let what = format!("{count} compressed chunks more than this CPU's data has room for");
                    damage.push(Damage::at(offset, what));
                    *left = Some(0);
                    self.cut = true;
                    return None;
                }
                let sizes = number(offset).zip(number(offset + 4));
                let there = self.source.size().saturating_sub(offset + 8);
                let (packed_size, size) = match sizes {
                    Some((packed, size)) if u64::from(packed) <= there => (packed, size),
                    _ => {
                        damage.push(Damage::at(
                            offset,
                            format!("the file ends {count} compressed chunks before this CPU's data does"),
                        ));
                        *left = Some(0);
                        self.cut = true;
                        let (_, size) = sizes.filter(|_| there > 0)?;
                        packed.resize(usize::try_from(there).unwrap_or(usize::MAX), 0);
                        let count = read_full(&*self.source, packed, offset + 8).unwrap_or(0);
                        unpacker.unpack_beginning(packed.get(..count).unwrap_or_default(), size, block);
                        return (!block.is_empty()).then_some(Block { offset, next: None });
                    }
                };
                if packed_size == 0 || size == 0 {
                    let what =
                        "a compressed chunk's sizes make no sense: the rest of this CPU's data is lost";
                    damage.push(Damage::at(offset, what));
                    *left = Some(0);
                    self.cut = true;
                    return None;
                }
                packed.resize(packed_size as usize, 0);
                block.clear();
                let what = match read_full(&*self.source, packed, offset + 8) {
                    Ok(_) => unpacker.unpack(packed, size, block).err(),
                    Err(error) => Some(format!("failed to read: {error}")),
                };
                if let Some(what) = what {
                    damage
                        .push(Damage::at(offset, format!("a compressed chunk is damaged: {what}: skipped")));
                }
                self.at = offset + 8 + u64::from(packed_size);
                Some(Block { offset, next: None })
            }
        }
    }
}
