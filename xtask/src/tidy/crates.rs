//! The workspace's crates, as their manifests describe them.

use super::manifest::{self, Dependency};
use super::tree::Tree;

/// A crate of ours.
pub(super) struct Crate<'a> {
    /// The directory, such as `crates/base`.
    pub(super) dir: &'a str,
    /// The path of its Cargo.toml.
    pub(super) path: &'a str,
    /// The text of its Cargo.toml.
    pub(super) manifest: &'a str,
    /// The package's name.
    pub(super) name: &'a str,
    pub(super) dependencies: Vec<Dependency<'a>>,
}

/// Every package below the root, the root itself apart.
pub(super) fn all(tree: &Tree) -> Vec<Crate<'_>> {
    tree.texts("/Cargo.toml")
        .filter_map(|(path, manifest)| {
            let name = manifest::value(manifest, "package", "name")?;
            let dir = path.strip_suffix("/Cargo.toml")?;
            Some(Crate { dir, path, manifest, name, dependencies: manifest::dependencies(manifest) })
        })
        .collect()
}
