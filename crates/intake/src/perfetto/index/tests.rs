//! Where bundles lie in a trace, also in a damaged one.

use super::*;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the bytes that are read of it.
struct Counted {
    bytes: Vec<u8>,
    read: AtomicU64,
}

impl ReadAt for Counted {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let count = self.bytes.read_at(buffer, offset)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }
}

#[test]
fn what_looks_like_packets_everywhere_is_not_read_over_and_over() {
    // At every fourth byte a packet of about 70 KiB, behind which there is none.
    let guess = [PACKET, 0xf1, 0xaf, 0x04];
    let bytes: Vec<u8> = [0xff].into_iter().chain(guess.into_iter().cycle().take(1 << 20)).collect();
    let source = Arc::new(Counted { bytes, read: AtomicU64::new(0) });
    let found = index(source.clone(), "guesses").expect("an index");
    assert!(found.bundles.is_empty() && !found.damage.is_empty());
    let read = source.read.load(Ordering::Relaxed);
    assert!(read < 64 * source.size(), "{read} bytes of {} were read", source.size());
}

#[test]
fn sequences_beyond_reason_are_left_out_and_reported() {
    // Packets of a bundle of CPU 0 and the number of a sequence.
    let packet = |sequence: u32| {
        [
            PACKET,
            8,
            10,
            2,
            8,
            0,
            80,
            0x80 | sequence as u8,
            0x80 | (sequence >> 7) as u8,
            (sequence >> 14) as u8,
        ]
    };
    let bytes: Vec<u8> = (0..MOST_STREAMS as u32 + 5).flat_map(packet).collect();
    let found = index(Arc::new(bytes), "sequences").expect("an index");
    assert_eq!(found.bundles.len(), MOST_STREAMS);
    assert_eq!(found.left_out, 5);
    assert!(found.damage.iter().any(|damage| damage.what.starts_with("5 bundles")));
}
