//! The wheel for another machine: built here, imported there, by qemu-user in a clean Debian root.

use super::wheel::{Amount, built, passed, place, wheel, wheels};
use crate::cross;
use crate::debian_root::{Architecture, DebianRoot};
use crate::environment::Environment;
use crate::outcome::StepOutcome;
use std::fs;
use std::path::Path;

const ARM64: Architecture = Architecture { uname: "aarch64", debian: "arm64" };

/// A recording of the repository, and what its explanation has to show.
const RECORDING: &str = "crates/cli/tests/fixtures/6.1-higher.dat";
const SCRIPT: &str = "import platform, whylate\n\
    report = whylate.explain('/trial/trace.dat')\n\
    document = report.document()\n\
    causes = {activation['verdict']['cause'] for activation in document['activations']}\n\
    assert 'higher-priority-task' in causes, causes\n\
    assert report.table('segments').num_rows > 0\n\
    print(platform.machine(), len(document['activations']), sorted(causes))\n";

pub(super) fn built_and_tried(
    root: &Path,
    environment: &Environment,
    notes: &mut Vec<String>,
) -> Result<(), StepOutcome> {
    let target = cross::find("arm64-gnu")
        .ok_or_else(|| StepOutcome::Failed("the target is missing in xtask/src/cross.rs".to_owned()))?;
    let mut build = wheel(root, environment, Amount::ForeignWheel);
    build.args(["--target", target.triple]).envs(target.environment().map_err(StepOutcome::Skipped)?);
    passed(build)?;
    let failed = |error: String| StepOutcome::Failed(error);
    let debian = match DebianRoot::make(&place(root).join("root-arm64"), ARM64, &["python3"]) {
        Ok(debian) => debian,
        Err(why) => {
            notes.push(format!("skipped: python: the trial of the wheel: {why}"));
            return Ok(());
        }
    };
    let trial = debian.path().join("trial");
    fs::create_dir(&trial).map_err(|error| failed(format!("{}: {error}", trial.display())))?;
    for wheel in built(&wheels(root, Amount::ForeignWheel))? {
        // A wheel is a zip archive of what is installed (PEP 427).
        passed(environment.python().args(["-m", "zipfile", "-e"]).arg(wheel).arg(&trial))?;
    }
    fs::copy(root.join(RECORDING), trial.join("trace.dat")).map_err(|error| failed(error.to_string()))?;
    fs::write(trial.join("trial.py"), SCRIPT).map_err(|error| failed(error.to_string()))?;
    match debian.run("cd /trial && python3 trial.py") {
        Ok(Some(0)) => Ok(()),
        Ok(code) => Err(failed(format!("the wheel's trial ended with {code:?}"))),
        Err(error) => Err(failed(format!("{error:#}"))),
    }
}
