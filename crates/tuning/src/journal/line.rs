//! A record as a line of JSON whose last field is a checksum of what is before it.
//!
//! ```text
//! {"record":"done","step":0,"after":null,"crc32":"5d1f02aa"}
//! ```
//!
//! A bit that flips in a saved value leaves valid JSON, and would be written to the machine by a rollback. Lines without
//! a checksum are of an earlier version, which reads these as well: it ignores the field.

use super::JournalRecord;

const FIELD: &[u8] = b",\"crc32\":\"";
const END: &[u8] = b"\"}";
const DIGITS: usize = 8;

/// The line, with its end.
pub(super) fn encode(record: &JournalRecord) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(record)?;
    // A record is an object with at least the field that has its kind.
    line.pop();
    let checksum = crc32fast::hash(&line);
    line.extend_from_slice(FIELD);
    line.extend_from_slice(format!("{checksum:08x}").as_bytes());
    line.extend_from_slice(END);
    line.push(b'\n');
    Ok(line)
}

/// The record of a line with its end; why there is none.
pub(super) fn decode(line: &[u8]) -> Result<JournalRecord, String> {
    let line = line.strip_suffix(b"\n").ok_or("its end is missing")?;
    if let Some((content, checksum)) = split(line)
        && checksum != format!("{:08x}", crc32fast::hash(content)).as_bytes()
    {
        return Err("its checksum is wrong".to_owned());
    }
    serde_json::from_slice(line).map_err(|error| error.to_string())
}

/// What the checksum is of, and the checksum.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.strip_suffix(END)?;
    let (line, checksum) = line.split_at_checked(line.len().checked_sub(DIGITS)?)?;
    Some((line.strip_suffix(FIELD)?, checksum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SessionKind, Timestamp};

    fn session() -> JournalRecord {
        JournalRecord::Session {
            kind: SessionKind::Apply,
            boot_id: Some("8f2a".to_owned()),
            at: Timestamp(7),
            version: "1".to_owned(),
            steps: Vec::new(),
        }
    }

    #[test]
    fn no_flipped_bit_changes_a_record_unseen() {
        for record in [session(), JournalRecord::Done { step: 0, after: None }] {
            let line = encode(&record).expect("JSON");
            assert_eq!(decode(&line), Ok(record.clone()));
            for (at, bit) in (0..line.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
                let mut flipped = line.clone();
                flipped[at] ^= 1 << bit;
                if let Ok(read) = decode(&flipped) {
                    assert_eq!(read, record, "byte {at}, bit {bit}");
                }
            }
        }
    }

    #[test]
    fn a_line_of_an_earlier_version_has_no_checksum() {
        let mut line = serde_json::to_vec(&session()).expect("JSON");
        assert_eq!(decode(&line), Err("its end is missing".to_owned()));
        line.push(b'\n');
        assert_eq!(decode(&line), Ok(session()));
    }
}
