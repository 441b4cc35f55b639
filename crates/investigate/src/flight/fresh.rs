//! The pages of a stream that were not read yet, and the parts that they are read in.

use super::window::{Capture, CpuCapture};
use whylate_base::Ns;

/// The pages that have come since the last look, of all CPUs.
#[derive(Clone, Debug)]
pub struct FreshPages {
    pub(super) capture: Capture,
    /// By CPU as in the capture: pages before its first one are gone.
    pub(super) after_hole: Vec<bool>,
}

impl FreshPages {
    /// How many bytes they have.
    pub fn bytes(&self) -> usize {
        self.capture.cpus.iter().flat_map(CpuCapture::pages).map(|page| page.bytes().len()).sum()
    }
}

/// A part of fresh pages, to be read before the next part.
#[derive(Clone, Debug)]
pub struct FreshPart {
    /// Its pages.
    pub pages: FreshPages,
    /// No page of a later part begins earlier; [`Ns::MAX`] of the last part. Events of this part may be later.
    pub complete_until: Ns,
}

impl FreshPages {
    /// The same in parts of about so many bytes, in time order: what reads them holds one part in memory and not all.
    pub fn in_parts(self, bytes: usize) -> Vec<FreshPart> {
        let mut starts: Vec<(Ns, usize)> = (self.capture.cpus.iter())
            .flat_map(|cpu| cpu.pages().iter().map(|page| (page.start(), page.bytes().len())))
            .collect();
        starts.sort_unstable();
        let mut borders = Vec::new();
        let mut sum = 0;
        for &(start, length) in &starts {
            if sum >= bytes && borders.last().is_none_or(|&last| start > last) {
                borders.push(start);
                sum = 0;
            }
            sum += length;
        }
        borders.push(Ns::MAX);
        let mut taken = vec![0; self.capture.cpus.len()];
        let part = |complete_until: Ns| {
            let mut after_hole = Vec::with_capacity(taken.len());
            let cpus = self.capture.cpus.iter().zip(&mut taken).zip(&self.after_hole).map(
                |((cpu, taken), &hole)| {
                    let end = cpu.pages().partition_point(|page| page.start() < complete_until);
                    after_hole.push(hole && *taken == 0);
                    let pages = cpu.pages().get(*taken..end).unwrap_or_default().to_vec();
                    *taken = end.max(*taken);
                    CpuCapture::new(cpu.cpu, pages)
                },
            );
            let capture = Capture { from: self.capture.from, to: self.capture.to, cpus: cpus.collect() };
            FreshPart { pages: FreshPages { capture, after_hole }, complete_until }
        };
        borders.into_iter().map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::Window;
    use super::*;
    use whylate_base::Cpu;

    #[test]
    fn parts_have_each_page_once_in_time_order() {
        let cpu = |cpu: u32, starts: &[i64]| {
            let mut window = Window::new(1 << 20);
            for start in starts {
                let mut bytes = vec![0; 64];
                bytes[..8].copy_from_slice(&start.to_ne_bytes());
                window.push_bytes(&bytes);
            }
            window.since(Cpu(cpu), 0).0
        };
        let cpus = vec![cpu(0, &[10, 20, 30, 40, 50]), cpu(1, &[12, 45]), cpu(2, &[])];
        let fresh = |after_hole: [bool; 3]| FreshPages {
            capture: Capture { from: Ns::ZERO, to: Ns::MAX, cpus: cpus.clone() },
            after_hole: after_hole.to_vec(),
        };
        for bytes in [1, 64, 128, 200, 10_000] {
            let parts = fresh([true, false, false]).in_parts(bytes);
            let starts = |part: &FreshPart, cpu: usize| -> Vec<i64> {
                part.pages.capture.cpus[cpu].pages().iter().map(|page| page.start().0).collect()
            };
            for (at, all) in [vec![10, 20, 30, 40, 50], vec![12, 45], vec![]].into_iter().enumerate() {
                let joined: Vec<i64> = parts.iter().flat_map(|part| starts(part, at)).collect();
                assert_eq!(joined, all, "{bytes}");
            }
            let mut earlier = Ns::ZERO;
            for part in &parts {
                assert!(
                    part.pages
                        .capture
                        .cpus
                        .iter()
                        .filter_map(CpuCapture::begins)
                        .all(|start| start >= earlier)
                );
                earlier = part.complete_until;
            }
            assert_eq!(earlier, Ns::MAX);
            let holes: Vec<bool> = parts.iter().flat_map(|part| part.pages.after_hole.clone()).collect();
            assert_eq!(holes.iter().filter(|&&hole| hole).count(), 1, "{holes:?}");
            assert_eq!(parts.len() > 1, bytes < 10_000);
        }
        assert_eq!(
            FreshPages {
                capture: Capture { from: Ns::ZERO, to: Ns::MAX, cpus: Vec::new() },
                after_hole: Vec::new()
            }
            .in_parts(9)
            .len(),
            1
        );
    }
}
