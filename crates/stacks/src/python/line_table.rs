//! The table of a code object's lines (`Objects/locations.md` in CPython's source, since 3.11): entries of a kind, of how many
//! units of code they are for, and of how far the line moves.

/// Bytes of a unit of code.
const UNIT: u64 = 2;

/// The line of the code at `offset`, in bytes; `None` where it has none, or the table makes no sense.
pub(super) fn line(table: &[u8], first_line: u32, offset: u64) -> Option<u32> {
    let mut rest = table;
    let mut line = i64::from(first_line);
    let mut end = 0;
    while let Some((&head, after)) = rest.split_first() {
        rest = after;
        let kind = head >> 3 & 15;
        let has_line = match kind {
            // No location.
            15 => false,
            // The line, its last line, and two columns.
            14 => {
                line = line.saturating_add(signed(&mut rest)?);
                for _ in 0..3 {
                    unsigned(&mut rest)?;
                }
                true
            }
            // No columns.
            13 => {
                line = line.saturating_add(signed(&mut rest)?);
                true
            }
            // One of three lines, and two columns.
            10..=12 => {
                line = line.saturating_add(i64::from(kind - 10));
                rest = rest.get(2..)?;
                true
            }
            // The same line, and a byte of columns.
            _ => {
                rest = rest.get(1..)?;
                true
            }
        };
        end += u64::from((head & 7) + 1) * UNIT;
        if offset < end {
            return has_line.then(|| u32::try_from(line).ok()).flatten();
        }
    }
    None
}

/// Six bits a byte, the lowest first.
fn unsigned(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..60).step_by(6) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 63) << shift;
        if byte & 64 == 0 {
            return Some(value);
        }
    }
    None
}

/// The sign is the lowest bit.
fn signed(rest: &mut &[u8]) -> Option<i64> {
    let value = unsigned(rest)?;
    let size = i64::try_from(value >> 1).ok()?;
    Some(if value & 1 == 0 { size } else { -size })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_read_to_an_end(table: Vec<u8>, first_line: u32, offset in 0..10_000u64) {
            line(&table, first_line, offset);
        }

        #[test]
        fn a_large_step_is_no_line(steps in 1..100usize) {
            let step = [0xe8, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7e, 0x1f];
            prop_assert_eq!(line(&step.repeat(steps), 10, 2 * steps as u64 - 1), None);
        }
    }

    #[test]
    fn each_kind_of_entry_moves_the_line() {
        // 3 units at line 10; 1 unit without a line; 2 units two lines on; 1 unit at line 7; 8 units at line 107.
        let table = [
            0x80 | 3 << 3 | 2,
            0x45,
            0x80 | 15 << 3,
            0x80 | 12 << 3 | 1,
            4,
            9,
            0x80 | 13 << 3,
            5 << 1 | 1,
            0x80 | 14 << 3 | 7,
            64 | 8,
            3,
            0,
            1,
            1,
        ];
        for (offset, expected) in [
            (0, Some(10)),
            (5, Some(10)),
            (6, None),
            (8, Some(12)),
            (11, Some(12)),
            (12, Some(7)),
            (14, Some(107)),
            (29, Some(107)),
            (30, None),
        ] {
            assert_eq!(line(&table, 10, offset), expected, "at {offset}");
        }
    }

    #[test]
    fn a_table_that_makes_no_sense_has_no_lines() {
        for table in [&[0xf0][..], &[0xf0, 0xff, 0xff], &[0xd1], &[0xe8, 0x7f, 0x7f]] {
            assert_eq!(line(table, 10, 0), None, "{table:?}");
        }
        assert_eq!(line(&[0xe8, 41], 10, 0), None, "a line below the first one of all");
    }
}
