//! Rule: `python/Cargo.lock` has what our crates depend on. Otherwise the wheel does not build with `--locked`, and only a run
//! that builds it would show that.

use super::Violation;
use super::manifest::{dependencies, value};
use super::tree::Tree;

const LOCK: &str = "python/Cargo.lock";
const UPDATE: &str = "cargo update --workspace --manifest-path python/Cargo.toml";

/// Every crate in the lock has the dependencies of its manifest there.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let Some(lock) = tree.text(LOCK) else {
        let is_missing = tree.has("python/Cargo.toml");
        return is_missing.then(|| Violation::of(LOCK, "the file is missing", UPDATE)).into_iter().collect();
    };
    let mut violations = Vec::new();
    for (path, manifest) in tree.texts("/Cargo.toml") {
        let own = value(manifest, "package", "name").unwrap_or_default();
        // Another's package of that name has a source.
        let is_own = |package: &&str| named(package) == Some(own) && !package.contains("\nsource = ");
        let Some(locked) = lock.split("[[package]]").find(is_own) else { continue };
        // An optional one may not be asked for.
        let is_optional =
            |line: usize| manifest.lines().nth(line - 1).is_some_and(|line| line.contains("optional = true"));
        for dependency in dependencies(manifest).iter().filter(|one| !one.dev && !is_optional(one.line)) {
            if !lists(locked, dependency.package) {
                let wrong = format!("{LOCK} does not have {} among what {own} uses", dependency.package);
                violations.push(Violation::at(path, dependency.line, wrong, UPDATE));
            }
        }
    }
    violations
}

fn named(package: &str) -> Option<&str> {
    package.lines().find_map(|line| line.strip_prefix("name = ")).map(|name| name.trim_matches('"'))
}

/// Among its dependencies, as `"name"`, or as `"name version"` where there are several.
fn lists(package: &str, wanted: &str) -> bool {
    let name = |line: &'_ str| line.trim().trim_matches(['"', ',']).split(' ').next() == Some(wanted);
    package.lines().any(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_dependency_is_missed_until_the_lock_has_it() {
        let manifest = "[package]\nname = \"whylate-base\"\n[dependencies]\nlibc = \"0.2\"\nmemchr.workspace = true\nzstd = { version = \"1\", optional = true }\n\
                        [dev-dependencies]\nproptest = \"1\"\n";
        let lock = |list: &str| {
            format!(
                "[[package]]\nname = \"libc\"\nsource = \"x\"\n\n[[package]]\nname = \"whylate-base\"\ndependencies = [\n{list}]\n"
            )
        };
        let found = |list: &str| {
            check(&Tree::of(&[
                ("crates/base/Cargo.toml", manifest),
                ("python/Cargo.toml", "[package]\nname = \"whylate-python\"\n"),
                (LOCK, &lock(list)),
            ]))
        };
        assert_eq!(found(" \"libc\",\n \"memchr 2.7.1\",\n"), []);
        let missed = found(" \"libc\",\n");
        assert_eq!(missed.len(), 1);
        assert!(missed[0].wrong.contains("memchr"), "{missed:?}");
    }
}
