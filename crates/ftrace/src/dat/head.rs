//! The first bytes of a trace.dat: what it is, and which version's container follows.

use super::compress::Compression;
use super::container::Container;
use super::error::{DatError, Trouble};
use super::input::Input;
use super::read_at::ReadAt;
use super::{v6, v7};
use crate::bytes::Endian;
use std::path::Path;

/// What every trace.dat begins with, before its version.
pub(super) const MAGIC: &[u8; 10] = b"\x17\x08\x44tracing";

/// Reads the initial format and the container that follows.
pub(super) fn read_container(source: &dyn ReadAt, path: &Path) -> Result<Container, DatError> {
    if source.size() == 0 {
        return Err(DatError::Empty { path: path.to_owned() });
    }
    let mut input = Input::new(source, 0, Endian::Little);
    match input.take(MAGIC.len() as u64, "the magic bytes") {
        Ok(magic) if magic == MAGIC => {}
        Err(trouble @ Trouble::Io { .. }) => return Err(trouble.at_path(path)),
        _ => return Err(DatError::NotTraceDat { path: path.to_owned() }),
    }
    let version = input.string(16, "the version").map_err(|trouble| trouble.at_path(path))?;
    let number = match version.as_str() {
        "6" => 6,
        "7" => 7,
        _ => return Err(DatError::Version { path: path.to_owned(), version }),
    };
    read_versioned(source, &mut input, number).map_err(|trouble| trouble.at_path(path))
}

fn read_versioned(source: &dyn ReadAt, input: &mut Input<'_>, version: u8) -> Result<Container, Trouble> {
    input.endian = match input.u8("the initial format")? {
        0 => Endian::Little,
        1 => Endian::Big,
        other => return Err(Trouble::bad(input.at - 1, format!("byte order {other} is not known"))),
    };
    let long_size = match input.u8("the initial format")? {
        4 => 4,
        _ => 8,
    };
    let mut container = Container::new(version, input.endian, long_size);
    let page_size = input.u32("the initial format")?;
    if version == 6 {
        v6::read(&mut container, input, page_size)?;
    } else {
        let algorithm = input.string(256, "the compression's name")?;
        input.string(256, "the compression's version")?;
        container.compression = Compression::of_name(&algorithm).ok_or(Trouble::Algorithm(algorithm))?;
        let options = input.u64("the initial format")?;
        v7::read(&mut container, source, &v7::Start { options, sections: input.at, page_size })?;
    }
    Ok(container)
}
