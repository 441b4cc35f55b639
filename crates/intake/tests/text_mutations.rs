//! Damaged text: whatever is cut, doubled or flipped, it is read to its end and in order.

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::RngSeed;
use std::io::Cursor;
use std::path::Path;
use whylate_events::KindSet;
use whylate_intake::{OpenError, from_reader};

fn fixtures() -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).expect("fixtures").flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a fixture")).collect()
}

/// What may happen to a text.
#[derive(Clone, Debug)]
enum Harm {
    Cut(Index),
    Flip(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    DoubleLine(Index),
    MoveLine(Index, Index),
    JoinLines(Index),
}

fn harm() -> impl Strategy<Value = Harm> {
    let at = any::<Index>;
    prop_oneof![
        1 => at().prop_map(Harm::Cut),
        6 => (at(), any::<u8>()).prop_map(|(at, byte)| Harm::Flip(at, byte)),
        3 => (at(), prop::sample::select(b" :|#>()[]-0\n\t\0".to_vec()), 1usize..12)
            .prop_map(|(at, byte, count)| Harm::Insert(at, vec![byte; count])),
        3 => (at(), 1usize..40).prop_map(|(at, count)| Harm::Remove(at, count)),
        3 => at().prop_map(Harm::DoubleLine),
        3 => (at(), at()).prop_map(|(from, to)| Harm::MoveLine(from, to)),
        2 => at().prop_map(Harm::JoinLines),
    ]
}

fn apply(text: &mut Vec<u8>, harm: &Harm) {
    if text.is_empty() {
        return;
    }
    let lines = |text: &[u8]| text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    match harm {
        Harm::Cut(at) => text.truncate(at.index(text.len())),
        Harm::Flip(at, byte) => {
            let at = at.index(text.len());
            text[at] = *byte;
        }
        Harm::Insert(at, bytes) => {
            let at = at.index(text.len());
            text.splice(at..at, bytes.iter().copied());
        }
        Harm::Remove(at, count) => {
            let at = at.index(text.len());
            text.drain(at..(at + count).min(text.len()));
        }
        Harm::DoubleLine(at) => {
            let mut all = lines(text);
            let at = at.index(all.len());
            all.insert(at, all[at].clone());
            *text = all.join(&b'\n');
        }
        Harm::MoveLine(from, to) => {
            let mut all = lines(text);
            let line = all.remove(from.index(all.len()));
            all.insert(to.index(all.len() + 1), line);
            *text = all.join(&b'\n');
        }
        Harm::JoinLines(at) => {
            let ends: Vec<_> = (0..text.len()).filter(|&at| text[at] == b'\n').collect();
            if !ends.is_empty() {
                text.remove(ends[at.index(ends.len())]);
            }
        }
    }
}

proptest! {
    // The same cases in every run.
    #![proptest_config(ProptestConfig { cases: 300, rng_seed: RngSeed::Fixed(0x7761_6b65), ..ProptestConfig::default() })]

    #[test]
    fn damaged_text_is_read_in_order(
        fixture in prop::sample::select(fixtures()),
        harms in prop::collection::vec(harm(), 1..30),
    ) {
        let mut text = fixture;
        harms.iter().for_each(|harm| apply(&mut text, harm));
        let lines = text.split(|&byte| byte == b'\n').count();
        match from_reader(Cursor::new(text), "text", KindSet::ALL) {
            Ok(mut source) => {
                let (mut last, mut count) = (None, 0);
                while let Some(event) = source.next_event() {
                    prop_assert!(last.is_none_or(|last| last <= event.ts), "{:?} after {:?}", event, last);
                    (last, count) = (Some(event.ts), count + 1);
                }
                let info = source.info();
                prop_assert!(info.cpus <= 8192);
                // A line is two events at most, besides what its header has and what was lost.
                prop_assert!(count <= 3 * lines && info.events <= 2 * lines as u64);
                prop_assert!(info.breakdowns.len() <= lines);
            }
            Err(OpenError::NoEvents { .. } | OpenError::HeaderOnly { .. } | OpenError::Binary { .. } | OpenError::Empty { .. }) => {}
            // Of a table the head may be all that is left whole.
            Err(OpenError::NotRead { .. } | OpenError::LooksLike { .. }) => {}
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}
