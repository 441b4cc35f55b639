//! The Common Trace Format, as LTTng and barectf write it: a directory with a file `metadata`, and streams of events. It is
//! recognized, and not read (<https://diamon.org/ctf/>, version 1.8).

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

pub(crate) const DIRECTORY: &str =
    "a trace in the Common Trace Format (LTTng), which whylate reads as text only";
pub(crate) const STREAM: &str =
    "one stream of a trace in the Common Trace Format (LTTng), which whylate reads as text only";
pub(crate) const METADATA: &str =
    "the description of a trace in the Common Trace Format (LTTng), which whylate reads as text only";
pub(crate) const ADVICE: &str = "convert its directory: babeltrace2 DIRECTORY > trace.txt; record it with the threads in \
                                 front of the events: lttng add-context -k -t procname -t tid";

/// How a stream of events begins, in either byte order.
pub(crate) const STREAM_BEGINS: [&[u8]; 2] = [b"\xc1\x1f\xfc\xc1", b"\xc1\xfc\x1f\xc1"];
/// How `metadata` begins: as text, or in packets of either byte order.
pub(crate) const METADATA_BEGINS: [&[u8]; 3] = [b"/* CTF 1.", b"\x57\x1d\xd1\x75", b"\x75\xd1\x1d\x57"];

/// LTTng's own directories are nested as `SESSION/ust/uid/1000/64-bit`.
const DEEPEST: u32 = 5;
/// So many entries of a directory are looked at.
const MOST_ENTRIES: usize = 64;

/// True where `metadata` in the directory, or in one below it, describes such a trace.
pub(crate) fn is_within(path: &Path) -> bool {
    is_below(path, 0)
}

fn is_below(path: &Path, depth: u32) -> bool {
    if is_metadata(&path.join("metadata")) {
        return true;
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten().take(MOST_ENTRIES);
    depth < DEEPEST
        && entries
            // A link may lead back.
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .any(|entry| is_below(&entry.path(), depth + 1))
}

fn is_metadata(path: &Path) -> bool {
    let mut start = Vec::new();
    let is_read =
        path.is_file() && File::open(path).is_ok_and(|file| file.take(16).read_to_end(&mut start).is_ok());
    is_read && METADATA_BEGINS.iter().any(|begin| start.starts_with(begin))
}
