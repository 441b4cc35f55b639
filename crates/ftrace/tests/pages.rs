//! Ring-buffer pages: what is put in comes out, and nothing makes the reader panic or hang.

mod common;

use common::Machine;
use proptest::prelude::*;
use whylate_ftrace::page::{LostBefore, PageLayout};

/// Times and bytes.
type Records = Vec<(u64, Vec<u8>)>;

/// Records, losses before them, and whether the page ended in damage.
type Read = (Records, Option<LostBefore>, bool);

/// The records of a page, as time and bytes, and whether it ended in damage.
fn read(machine: Machine, page: &[u8]) -> Read {
    let layout = PageLayout::of_long_size(machine.endian, machine.long);
    let Some(mut cursor) = layout.open(page) else { return (Vec::new(), None, true) };
    let lost = cursor.lost();
    let mut records = Vec::new();
    while let Some(record) = cursor.next(page) {
        records.push((record.timestamp, page[record.bytes].to_vec()));
    }
    (records, lost, cursor.damage().is_some())
}

/// Something that stands in a page.
#[derive(Clone, Debug)]
enum Item {
    Data { delta: u64, payload: Vec<u8> },
    Discarded { delta: u32, length: usize },
    Absolute { later: u64 },
}

fn item() -> impl Strategy<Value = Item> {
    let delta = prop_oneof![0u64..1000, 0u64..1 << 27, 0u64..1 << 40];
    prop_oneof![
        4 => (delta, prop::collection::vec(any::<u8>(), 4..160))
            .prop_map(|(delta, payload)| Item::Data { delta, payload }),
        1 => (1u32..1 << 27, 1usize..20).prop_map(|(delta, words)| Item::Discarded { delta, length: words * 4 }),
        1 => (0u64..1 << 40).prop_map(|later| Item::Absolute { later }),
    ]
}

fn machine() -> impl Strategy<Value = Machine> {
    prop::sample::select(Machine::ALL.to_vec())
}

proptest! {
    #![proptest_config(common::cases(256))]

    #[test]
    fn what_is_put_in_comes_out(
        machine in machine(),
        items in prop::collection::vec(item(), 0..40),
        first in prop_oneof![0u64..1 << 58, 0u64..1 << 62],
        lost in prop::option::of(prop::option::of(1u64..1 << 31)),
        end_padding in any::<bool>(),
    ) {
        let (mut time, mut data, mut expected) = (first, Vec::new(), Vec::new());
        for item in items {
            match item {
                Item::Data { delta, mut payload } => {
                    time += delta;
                    data.extend(machine.event(delta, &payload));
                    payload.resize(payload.len().next_multiple_of(4), 0);
                    expected.push((time, payload));
                }
                Item::Discarded { delta, length } => {
                    time += u64::from(delta);
                    data.extend(machine.word(29, delta));
                    data.extend(machine.number(length as u64, 4));
                    data.resize(data.len() + length - 4, 0xee);
                }
                Item::Absolute { later } => {
                    time += later;
                    data.extend(machine.word(31, (time & ((1 << 27) - 1)) as u32));
                    data.extend(machine.number(time >> 27 & 0xffff_ffff, 4));
                }
            }
        }
        if end_padding {
            data.extend(machine.word(29, 0));
            data.extend([0xff; 40]);
        }
        let page = machine.page(16384, first, &data, lost);
        let (records, missed, damaged) = read(machine, &page);
        prop_assert_eq!(records, expected);
        prop_assert_eq!(missed, lost.map(|count| LostBefore { count }));
        prop_assert!(!damaged);
    }

    #[test]
    fn random_bytes_are_survived(machine in machine(), page in prop::collection::vec(any::<u8>(), 0..600)) {
        let (records, _, _) = read(machine, &page);
        prop_assert!(records.len() <= page.len() / 4);
    }

    #[test]
    fn random_events_behind_a_good_header_are_survived(
        machine in machine(),
        data in prop::collection::vec(prop_oneof![any::<u8>(), Just(0u8), 26u8..32], 0..500),
    ) {
        let page = machine.page(600, 1000, &data, None);
        let (records, _, _) = read(machine, &page);
        prop_assert!(records.len() <= data.len() / 4);
    }

    #[test]
    fn a_cut_page_gives_its_first_events(machine in machine(), cut in 0usize..400) {
        let data: Vec<u8> = (0..20u8).flat_map(|n| machine.event(5, &[n; 12])).collect();
        let page = machine.page(400, 1000, &data, None);
        let (whole, _, damaged) = read(machine, &page);
        prop_assert_eq!((whole.len(), damaged), (20, false));
        let (some, _, damaged) = read(machine, &page[..cut]);
        let fit = cut.saturating_sub(8 + machine.long) / 16;
        prop_assert_eq!(&some[..], &whole[..fit.min(20)]);
        prop_assert_eq!(damaged, fit < 20);
    }
}

#[test]
fn damage_is_named_with_its_place() {
    let machine = Machine::PC;
    let layout = PageLayout::of_long_size(machine.endian, machine.long);
    let good = machine.event(1, &[1; 8]);
    for (bad, what) in [
        (machine.word(28, 0), "longer than the page"),
        ([machine.word(0, 0), machine.number(3, 4)].concat(), "shorter than its own word"),
        ([machine.word(29, 7), machine.number(4000, 4)].concat(), "discarded event"),
        (vec![1, 2], "longer than the page"),
    ] {
        let page = machine.page(256, 5, &[good.clone(), bad].concat(), None);
        let mut cursor = layout.open(&page).expect("a header");
        assert!(cursor.next(&page).is_some());
        assert!(cursor.next(&page).is_none());
        let damage = cursor.damage().expect(what);
        assert_eq!(damage.at, 16 + good.len(), "{what}");
        assert!(damage.what.contains(what), "{}", damage.what);
        assert!(cursor.next(&page).is_none());
    }
}
