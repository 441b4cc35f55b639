//! JSON documents of whylate as input, from a file or standard input.

use anyhow::{Context, Result, bail};
use std::io::Read;
use std::path::Path;

/// Documents of `whylate check` and plans have some 100 KiB.
const MOST_BYTES: u64 = 64 << 20;

/// The text of a JSON document of ours, and what to call it; `-` is standard input.
pub(crate) fn document(path: &Path) -> Result<(String, String)> {
    let is_input = path.as_os_str() == "-";
    let name = if is_input { "standard input".to_owned() } else { path.display().to_string() };
    let cannot = || format!("cannot read {name}");
    let file: Box<dyn Read> = match is_input {
        true => Box::new(std::io::stdin()),
        false => Box::new(std::fs::File::open(path).with_context(cannot)?),
    };
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text).with_context(cannot)?;
    match text.len() as u64 > MOST_BYTES {
        true => bail!("{name} is longer than {} MiB: it is not a document of whylate", MOST_BYTES >> 20),
        false => Ok((text, name)),
    }
}
