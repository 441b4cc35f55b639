//! Errors of the kernel in words.

use rustix::io::Errno;
use std::io;

/// An error's name and words: `EINVAL (Invalid argument)`.
pub(super) fn words(error: &io::Error) -> String {
    let Some(number) = error.raw_os_error() else { return error.to_string() };
    let name = match Errno::from_raw_os_error(number) {
        Errno::INVAL => "EINVAL",
        Errno::BUSY => "EBUSY",
        Errno::PERM => "EPERM",
        Errno::ACCESS => "EACCES",
        Errno::NOENT => "ENOENT",
        Errno::NODEV => "ENODEV",
        Errno::IO => "EIO",
        Errno::OPNOTSUPP => "EOPNOTSUPP",
        Errno::NOSPC => "ENOSPC",
        Errno::ROFS => "EROFS",
        Errno::RANGE => "ERANGE",
        Errno::NOTEMPTY => "ENOTEMPTY",
        Errno::SRCH => "ESRCH",
        Errno::NOTDIR => "ENOTDIR",
        Errno::ISDIR => "EISDIR",
        _ => return error.to_string(),
    };
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or_default();
    format!("{name} ({words})")
}
