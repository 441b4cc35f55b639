//! Damaged files, made from sound ones.

/// Numbers that do not change from run to run.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// A number below the limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    /// A number that programs trip over.
    fn awkward(&mut self) -> u64 {
        let edges =
            [0, 1, 7, 8, 0x7f, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, u64::MAX, 1 << 63, 1 << 27];
        let edge = edges[self.below(edges.len())];
        edge.wrapping_add(self.below(3) as u64).wrapping_sub(1)
    }
}

/// A file with one to three changes: flipped, cut, repeated or joined with another file.
pub fn mutate(bytes: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        match random.below(8) {
            0 => bytes.truncate(at),
            1 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
            2 => {
                let value = random.awkward().to_le_bytes();
                let width = [1, 2, 4, 8][random.below(4)];
                bytes.iter_mut().skip(at).take(width).zip(value).for_each(|(byte, value)| *byte = value);
            }
            3 => {
                let value = random.awkward().to_be_bytes();
                let width = [2, 4, 8][random.below(3)];
                bytes.iter_mut().skip(at).take(width).zip(&value[8 - width..]).for_each(|(b, v)| *b = *v);
            }
            4 => {
                let length = random.below(600);
                bytes.iter_mut().skip(at).take(length).for_each(|byte| *byte = 0);
            }
            5 => {
                let end = (at + random.below(300)).min(bytes.len());
                bytes.drain(at..end);
            }
            6 => {
                let end = (at + random.below(2000)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, part);
            }
            _ => {
                let from = random.below(other.len());
                bytes.truncate(at);
                bytes.extend(&other[from..]);
            }
        }
    }
    bytes
}
