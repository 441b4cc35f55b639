//! The licences of the crates that are compiled into a program: most of them ask that their text goes with it.

use super::program::Machine;
use super::sbom::{Package, used_by};
use crate::outcome::output_of;
use crate::root;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// How the files of a crate that hold licences and notices are called.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];

/// A text of a licence, and the crates that have it.
type Texts = BTreeMap<String, Vec<String>>;

/// The text for the program of a machine. Equal licences are there once, with the crates that have them.
pub(super) fn text(root: &Path, machine: &Machine) -> Result<Vec<u8>> {
    let used = used_by(root, machine)?;
    let metadata = output_of(root::cargo(root).args(["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: Value = serde_json::from_slice(&metadata).context("cargo metadata is not JSON")?;
    let mut texts = Texts::new();
    let mut crates = Vec::new();
    for of in metadata["packages"].as_array().into_iter().flatten() {
        let text = |key: &str| of[key].as_str().unwrap_or_default();
        let package: Package = (text("name").to_owned(), text("version").to_owned());
        // Our own licences are packaging/copyright.
        if of["source"].is_null() || !used.contains(&package) {
            continue;
        }
        let name = format!("{} {}", package.0, package.1);
        let Some(directory) = Path::new(text("manifest_path")).parent() else { continue };
        let found = licences(directory)?;
        if found.is_empty() && text("license").is_empty() {
            bail!(
                "{name} states no licence, neither in its manifest nor in a file of {}",
                directory.display()
            );
        }
        crates.push(format!(
            "{name}: {}",
            if text("license").is_empty() { "see below" } else { text("license") }
        ));
        found.into_iter().for_each(|own| texts.entry(own).or_default().push(name.clone()));
    }
    crates.sort();
    Ok(page(&crates, &texts).into_bytes())
}

/// The licences in a crate's directory.
fn licences(directory: &Path) -> Result<Vec<String>> {
    let listed = fs::read_dir(directory).with_context(|| format!("cannot list {}", directory.display()))?;
    let mut found = Vec::new();
    for entry in listed {
        let path = entry.with_context(|| format!("cannot list {}", directory.display()))?.path();
        if path.is_file() && is_licence(&path.file_name().unwrap_or_default().to_string_lossy()) {
            let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            found.push(normal(&bytes));
        }
    }
    found.sort();
    Ok(found)
}

fn is_licence(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    NAMES.iter().any(|start| name.starts_with(start))
}

/// Line breaks and blanks at ends differ between copies of the same text.
fn normal(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned()
}

fn page(crates: &[String], texts: &Texts) -> String {
    let rule = "-".repeat(80);
    let mut page = "Crates that are compiled into whylate, and their licences\n\n".to_owned();
    crates.iter().for_each(|line| page.push_str(&format!("{line}\n")));
    for (text, of) in texts {
        page.push_str(&format!("\n{rule}\n{}\n{rule}\n\n{text}\n", of.join(", ")));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_licences_are_there_once() {
        for (name, expected) in [
            ("LICENSE-MIT", true),
            ("license.txt", true),
            ("NOTICE", true),
            ("COPYING", true),
            ("README.md", false),
        ] {
            assert_eq!(is_licence(name), expected, "{name}");
        }
        let mut texts = Texts::new();
        let own = [
            ("one 1.0", "Permission\n is granted \n\n"),
            ("two 2.0", "Permission\r\n is granted\r\n"),
            ("two 2.0", "By two\n"),
        ];
        for (name, text) in own {
            texts.entry(normal(text.as_bytes())).or_default().push(name.to_owned());
        }
        let page = page(&["one 1.0: MIT".to_owned(), "two 2.0: MIT".to_owned()], &texts);
        assert_eq!(page.matches("Permission").count(), 1, "{page}");
        assert!(page.contains("one 1.0, two 2.0\n") && page.contains("By two"), "{page}");
    }

    /// Every crate of the program states its licence.
    #[test]
    fn the_programs_crates_have_licences() {
        let root = root::find().expect("the repository");
        let machine = super::super::program::native().expect("a machine");
        let text = text(&root, machine).expect("the licences");
        let text = String::from_utf8(text).expect("UTF-8");
        for part in ["clap ", "parquet ", "Apache License", "Permission is hereby granted"] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("whylate-base") && !text.contains(&*root.to_string_lossy()));
    }
}
