//! A trace among other files in a tar.

use std::io::{self, Read};
use whylate_base::bundle::TRACE;

/// Where the magic of a tar is, and what it is (tar(5)): POSIX and GNU go on in different ways.
const MAGIC: (usize, &[u8]) = (257, b"ustar");

/// True of the first bytes of a tar.
pub(crate) fn begins(start: &[u8]) -> bool {
    start.get(MAGIC.0..).is_some_and(|rest| rest.starts_with(MAGIC.1))
}

/// The first file of that name in any directory, as a stream.
///
/// # Errors
/// If there is none, or the archive is damaged before it.
pub(super) fn trace<R: Read>(packed: R) -> io::Result<io::Take<R>> {
    let mut archive = tar::Archive::new(packed);
    // Raw: the library would read extended headers whole, however long they claim to be.
    for entry in archive.entries()?.raw(true) {
        let entry = entry?;
        let path = entry.path_bytes();
        let name = path.rsplit(|&byte| byte == b'/').next();
        if entry.header().entry_type().is_file() && name == Some(TRACE.as_bytes()) {
            let size = entry.size();
            // Its bytes are the next ones: nothing reads ahead.
            return Ok(archive.into_inner().take(size));
        }
    }
    Err(io::Error::other(format!(
        "it is an archive (tar) without a {TRACE}: unpack it, and give the trace in it"
    )))
}
