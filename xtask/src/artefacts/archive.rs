//! Archives whose bytes depend on their content alone.

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeSet;
use std::io::Write;

/// A file of a package.
#[derive(Clone, Debug)]
pub(super) struct StagedFile {
    /// From the root, without a slash before it.
    pub(super) path: String,
    pub(super) mode: u32,
    pub(super) content: Vec<u8>,
}

/// A tar of files, sorted, owned by root, each with this time, and with the directories above them.
pub(super) fn tar(files: &[StagedFile], prefix: &str, seconds: u64) -> Result<Vec<u8>> {
    let mut out = tar::Builder::new(Vec::new());
    let mut directories = BTreeSet::new();
    let mut sorted: Vec<&StagedFile> = files.iter().collect();
    sorted.sort_by_key(|file| &file.path);
    for file in sorted {
        let path = format!("{prefix}{}", file.path);
        for (at, _) in path.match_indices('/') {
            let directory = &path[..=at];
            if directories.insert(directory.to_owned()) {
                let mut header = header(tar::EntryType::Directory, 0o755, 0, seconds);
                out.append_data(&mut header, directory, &[][..]).context("tar")?;
            }
        }
        let mut header = header(tar::EntryType::Regular, file.mode, file.content.len(), seconds);
        out.append_data(&mut header, &path, file.content.as_slice()).context("tar")?;
    }
    out.into_inner().context("tar")
}

fn header(kind: tar::EntryType, mode: u32, size: usize, seconds: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size as u64);
    header.set_mtime(seconds);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// gzip without a name and a time.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    out.write_all(bytes).context("gzip")?;
    out.finish().context("gzip")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_files_does_not_show_and_directories_come_first() {
        let file = |path: &str, mode| StagedFile { path: path.to_owned(), mode, content: b"x".to_vec() };
        let (a, b) = (file("usr/bin/whylate", 0o755), file("usr/share/doc/x", 0o644));
        let one = tar(&[a.clone(), b.clone()], "", 7).expect("a tar");
        assert_eq!(one, tar(&[b, a], "", 7).expect("a tar"));
        let mut archive = tar::Archive::new(one.as_slice());
        let entries = archive.entries().expect("entries").map(|entry| {
            let entry = entry.expect("an entry");
            let header = entry.header();
            assert_eq!((header.uid().ok(), header.mtime().ok()), (Some(0), Some(7)));
            (entry.path().expect("a path").display().to_string(), header.mode().expect("a mode"))
        });
        let expected = [
            ("usr/", 0o755),
            ("usr/bin/", 0o755),
            ("usr/bin/whylate", 0o755),
            ("usr/share/", 0o755),
            ("usr/share/doc/", 0o755),
            ("usr/share/doc/x", 0o644),
        ];
        let entries: Vec<(String, u32)> = entries.collect();
        let entries: Vec<(&str, u32)> = entries.iter().map(|(path, mode)| (path.as_str(), *mode)).collect();
        assert_eq!(entries, expected);
    }
}
