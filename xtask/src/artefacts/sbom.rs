//! The bill of materials (CycloneDX 1.5, JSON): what cargo compiles into the programs, and how it depends on each other.

mod locked;

use super::facts::ReleaseFacts;
use super::program::Machine;
use super::work::write;
use crate::cross;
use crate::outcome::output_of;
use crate::root;
use anyhow::{Context, Result};
pub(in crate::artefacts) use locked::Package;
use locked::checksums;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The file's name.
pub(super) fn name(facts: &ReleaseFacts) -> String {
    format!("whylate-{}.cdx.json", facts.version)
}

/// Writes the bill of the programs for these machines together.
pub(super) fn make(root: &Path, facts: &ReleaseFacts, machines: &[&Machine]) -> Result<()> {
    let mut used = BTreeSet::new();
    for machine in machines {
        used.extend(used_by(root, machine)?);
    }
    let metadata = output_of(root::cargo(root).args(["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: Value = serde_json::from_slice(&metadata).context("cargo metadata is not JSON")?;
    let lock = fs::read_to_string(root.join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let bill = bill(&metadata, &used, &checksums(&lock), &facts.version, &facts.instant.rfc3339()?);
    let mut text = serde_json::to_vec_pretty(&bill)?;
    text.push(b'\n');
    write(&facts.output.join(name(facts)), &text)
}

/// What cargo compiles for the program of a machine.
pub(super) fn used_by(root: &Path, machine: &Machine) -> Result<BTreeSet<Package>> {
    let target = cross::find(machine.name).context("the target is missing in xtask/src/cross.rs")?;
    let arguments = ["tree", "--locked", "--package", "whylate", "--edges", "normal,build", "--prefix"];
    let tree = output_of(root::cargo(root).args(arguments).args([
        "none",
        "--format",
        "{p}",
        "--target",
        target.triple,
    ]))?;
    Ok(String::from_utf8_lossy(&tree).lines().filter_map(package).collect())
}

/// `serde v1.0.2 (proc-macro)`
fn package(line: &str) -> Option<Package> {
    let mut words = line.split_whitespace();
    Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned()))
}

fn bill(
    metadata: &Value,
    used: &BTreeSet<Package>,
    checksums: &BTreeMap<Package, String>,
    version: &str,
    time: &str,
) -> Value {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    // By id, since the graph is of ids.
    let mut by_id = BTreeMap::new();
    let mut components = BTreeMap::new();
    for of in list(&metadata["packages"]) {
        let package = (text(&of["name"]), text(&of["version"]));
        if !used.contains(&package) {
            continue;
        }
        by_id.insert(text(&of["id"]), package.clone());
        let mut component = json!({
            "type": "library",
            "bom-ref": reference(&package),
            "name": package.0,
            "version": package.1,
            "purl": reference(&package),
        });
        if let Some(license) = of["license"].as_str() {
            component["licenses"] = json!([{ "expression": license.replace('/', " OR ") }]);
        }
        if let Some(sum) = checksums.get(&package) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
        }
        if let Some(repository) = of["repository"].as_str() {
            component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
        }
        components.insert(package, component);
    }
    let mut dependencies = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        let Some(package) = by_id.get(&text(&node["id"])) else { continue };
        let wanted = list(&node["deps"]).into_iter().filter(|of| {
            let kinds = list(&of["dep_kinds"]);
            kinds.iter().any(|kind| kind["kind"] != "dev")
        });
        let wanted = wanted.filter_map(|of| by_id.get(&text(&of["pkg"])).map(reference));
        let wanted: BTreeSet<String> = wanted.collect();
        dependencies.insert(reference(package), wanted);
    }
    let mut program = components.remove(&("whylate".to_owned(), version.to_owned())).unwrap_or_default();
    program["type"] = json!("application");
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "timestamp": time, "component": program },
        "components": components.into_values().collect::<Vec<_>>(),
        "dependencies": dependencies
            .into_iter()
            .map(|(of, on)| json!({ "ref": of, "dependsOn": on }))
            .collect::<Vec<_>>(),
    })
}

/// The package's URL (package-url/purl-spec).
fn reference((name, version): &Package) -> String {
    format!("pkg:cargo/{name}@{version}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_is_listed_with_what_it_needs() {
        let of = |name: &str, license: &str| json!({ "id": format!("path+{name}"), "name": name, "version": "1.0.0", "license": license });
        let metadata = json!({
            "packages": [of("whylate", "MIT"), of("used", "MIT/Apache-2.0"), of("tests-only", "MIT")],
            "resolve": { "nodes": [{ "id": "path+whylate", "deps": [
                { "pkg": "path+used", "dep_kinds": [{ "kind": null }] },
                { "pkg": "path+tests-only", "dep_kinds": [{ "kind": "dev" }] },
            ] }] },
        });
        let used = ["whylate v1.0.0 (/somewhere)", "used v1.0.0 (proc-macro)", "used v1.0.0 (*)", ""];
        let used: BTreeSet<Package> = used.into_iter().filter_map(package).collect();
        let sums = BTreeMap::from([(("used".to_owned(), "1.0.0".to_owned()), "ab".to_owned())]);
        let bill = bill(&metadata, &used, &sums, "1.0.0", "2026-11-24T00:00:00Z");
        assert_eq!(bill["metadata"]["component"]["name"], "whylate");
        let components = bill["components"].as_array().expect("a list");
        assert_eq!(components.len(), 1);
        assert_eq!(components[0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(components[0]["hashes"][0]["content"], "ab");
        let needs = json!([{ "ref": "pkg:cargo/whylate@1.0.0", "dependsOn": ["pkg:cargo/used@1.0.0"] }]);
        assert_eq!(bill["dependencies"], needs);
        assert!(!bill.to_string().contains("/somewhere"));
    }
}
