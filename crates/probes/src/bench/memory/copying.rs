//! Copying and filling memory that is there already.

use crate::bench::BenchError;
use crate::bench::case::{Case, timed};
use std::hint::black_box;

const GROUP: &str = "copying";
const LENGTH: usize = 1 << 20;

pub(super) fn cases<'a>() -> Vec<Case<'a>> {
    let (from, mut to) = (vec![1u8; LENGTH], vec![2u8; LENGTH]);
    let copy = move |times: u32| {
        timed(|| {
            for _ in 0..times {
                to.copy_from_slice(black_box(&from));
                black_box(&mut to);
            }
            Ok::<(), BenchError>(())
        })
    };
    let mut filled = vec![1u8; LENGTH];
    let fill = move |times: u32| {
        timed(|| {
            for _ in 0..times {
                filled.fill(black_box(0));
                black_box(&mut filled);
            }
            Ok::<(), BenchError>(())
        })
    };
    vec![Case::new(GROUP, "memcpy of 1 MiB", copy), Case::new(GROUP, "memset of 1 MiB", fill)]
}
