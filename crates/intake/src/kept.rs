//! A stream, read twice: what passes is copied to an unlinked temporary file.

use crate::error::OpenError;
use crate::open::from_reader;
use crate::unpack::spool::Spool;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};
use whylate_events::{EventSource, KindSet};

/// A longer stream is not kept: it may have no end.
const MOST: u64 = 256 << 20;

/// What was read of a stream so far; `None` where it is too long, or cannot be kept.
type Copied = Arc<Mutex<Option<Spool>>>;

/// A copy of a stream, complete once its source has been read to the end.
pub struct KeptInput {
    copied: Copied,
    name: String,
}

/// Reads a trace from `reader`, as [`from_reader`] does, and keeps a copy of it.
///
/// # Errors
/// [`OpenError`], as for [`open`](crate::open()).
pub fn from_reader_kept(
    reader: impl Read + Send + 'static,
    name: &str,
    wanted: KindSet,
) -> Result<(Box<dyn EventSource>, KeptInput), OpenError> {
    kept(reader, name, MOST, wanted)
}

fn kept(
    input: impl Read + Send + 'static,
    name: &str,
    most: u64,
    wanted: KindSet,
) -> Result<(Box<dyn EventSource>, KeptInput), OpenError> {
    let copied: Copied = Arc::new(Mutex::new(Spool::new(name).ok()));
    let reader = Copying { input, copied: Arc::clone(&copied), most };
    Ok((from_reader(reader, name, wanted)?, KeptInput { copied, name: name.to_owned() }))
}

impl KeptInput {
    /// The trace again; `None` where it was not kept.
    ///
    /// # Errors
    /// [`OpenError`], as for [`open`](crate::open()).
    pub fn again(self, wanted: KindSet) -> Result<Option<Box<dyn EventSource>>, OpenError> {
        let copied = self.copied.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(spool) = copied else { return Ok(None) };
        from_reader(spool.rewound()?, &self.name, wanted).map(Some)
    }
}

/// Copies what is read.
struct Copying<R> {
    input: R,
    copied: Copied,
    most: u64,
}

impl<R: Read> Read for Copying<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        let mut copied = self.copied.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(spool), Some(bytes)) = (copied.as_mut(), buffer.get(..count))
            && (spool.written + count as u64 > self.most || spool.write(bytes).is_err())
        {
            *copied = None;
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;
    use whylate_events::drain;

    fn text() -> Vec<u8> {
        let line = |n: u32| format!("  sh-7     [000] d..2. 1.{n:06}: tick_stop: success=1\n");
        (0..5_000).map(line).collect::<String>().into_bytes()
    }

    #[test]
    fn a_stream_is_read_twice() {
        let Ok((mut first, copy)) = kept(Cursor::new(text()), "here", MOST, KindSet::ALL) else {
            panic!("no events")
        };
        let events = drain(&mut *first).count();
        let Ok(Some(mut again)) = copy.again(KindSet::ALL) else { panic!("not kept") };
        assert_eq!((events, drain(&mut *again).count()), (5_000, 5_000));
    }

    #[test]
    fn a_long_stream_is_not_kept() {
        let Ok((mut first, copy)) = kept(Cursor::new(text()), "here", 100_000, KindSet::ALL) else {
            panic!("no events")
        };
        assert_eq!(drain(&mut *first).count(), 5_000);
        assert!(matches!(copy.again(KindSet::ALL), Ok(None)));
    }
}
