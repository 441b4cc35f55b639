//! The OCI image (opencontainers/image-spec, v1.1): a layout of one static layer for each machine, written without a daemon.

use super::archive::{StagedFile, gzip, tar};
use super::checksums::sha256;
use super::facts::ReleaseFacts;
use super::stage::Stage;
use super::work::write;
use anyhow::Result;
use serde_json::{Value, json};

/// The image's name.
pub(super) fn name(facts: &ReleaseFacts) -> String {
    format!("whylate-{}-oci.tar", facts.version)
}

/// A content-addressed part of the image.
struct Blob {
    descriptor: Value,
    content: Vec<u8>,
}

impl Blob {
    fn new(facts: &ReleaseFacts, media_type: &str, content: Vec<u8>) -> Result<Blob> {
        let digest = digest(facts, &content)?;
        let descriptor = json!({ "mediaType": media_type, "digest": digest, "size": content.len() });
        Ok(Blob { descriptor, content })
    }

    fn json(facts: &ReleaseFacts, media_type: &str, content: &Value) -> Result<Blob> {
        Blob::new(facts, media_type, serde_json::to_vec(content)?)
    }

    fn file(self) -> StagedFile {
        let digest = self.descriptor["digest"].as_str().unwrap_or_default().replace(':', "/");
        StagedFile { path: format!("blobs/{digest}"), mode: 0o644, content: self.content }
    }
}

/// Writes the image: an index of all machines.
pub(super) fn make(facts: &ReleaseFacts, stages: &[Stage]) -> Result<()> {
    let mut files = Vec::new();
    let mut manifests = Vec::new();
    for stage in stages {
        let tar = tar(&layer(stage), "", facts.instant.0)?;
        let diff_id = digest(facts, &tar)?;
        let layer = Blob::new(facts, "application/vnd.oci.image.layer.v1.tar+gzip", gzip(&tar)?)?;
        let created = facts.instant.rfc3339()?;
        let config = json!({
            "created": created,
            "architecture": stage.machine.debian,
            "os": "linux",
            "config": {
                "Entrypoint": ["/usr/bin/whylate"],
                "Cmd": ["--help"],
                "Labels": {
                    "org.opencontainers.image.title": "whylate",
                    "org.opencontainers.image.version": facts.version,
                    "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
                    "org.opencontainers.image.source": "https://github.com/whylate/whylate",
                },
            },
            "rootfs": { "type": "layers", "diff_ids": [diff_id] },
            "history": [{ "created": created, "created_by": "cargo xtask release" }],
        });
        let config = Blob::json(facts, "application/vnd.oci.image.config.v1+json", &config)?;
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": config.descriptor,
            "layers": [layer.descriptor],
        });
        let mut manifest = Blob::json(facts, "application/vnd.oci.image.manifest.v1+json", &manifest)?;
        manifest.descriptor["platform"] = json!({ "architecture": stage.machine.debian, "os": "linux" });
        manifests.push(manifest.descriptor.clone());
        files.extend([layer, config, manifest].map(Blob::file));
    }
    let index = |manifests: Vec<Value>| {
        json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.index.v1+json",
            "manifests": manifests,
        })
    };
    // One entry at the top, which is itself an index: so that a tool chooses the machine, and not the user.
    let mut all = Blob::json(facts, "application/vnd.oci.image.index.v1+json", &index(manifests))?;
    all.descriptor["annotations"] = json!({ "org.opencontainers.image.ref.name": facts.version });
    let top = index(vec![all.descriptor.clone()]);
    files.push(all.file());
    let mut add = |path: &str, content: Vec<u8>| {
        files.push(StagedFile { path: path.to_owned(), mode: 0o644, content });
    };
    add("index.json", serde_json::to_vec(&top)?);
    add("oci-layout", serde_json::to_vec(&json!({ "imageLayoutVersion": "1.0.0" }))?);
    write(&facts.output.join(name(facts)), &tar(&files, "", facts.instant.0)?)
}

/// The program and its licence: an image has no use for pages and units.
fn layer(stage: &Stage) -> Vec<StagedFile> {
    let kept = |file: &StagedFile| file.path == "usr/bin/whylate" || file.path.ends_with("/copyright");
    stage.for_others().into_iter().filter(kept).collect()
}

fn digest(facts: &ReleaseFacts, content: &[u8]) -> Result<String> {
    let path = facts.work.join("blob");
    write(&path, content)?;
    Ok(format!("sha256:{}", sha256(&path)?))
}
