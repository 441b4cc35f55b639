//! The report of a job, among the resulting files.

use crate::job::{GuestStepReport, JobReport, REPORT_NAME};
use rustix::system::uname;
use std::path::Path;

/// Writes the report into the directory `out`.
pub(super) fn write_report(
    out: &Path,
    problems: Vec<String>,
    steps: Vec<GuestStepReport>,
) -> Result<(), String> {
    let about = uname();
    let kernel = format!("{} {}", about.release().to_string_lossy(), about.version().to_string_lossy());
    let report =
        serde_json::to_vec(&JobReport { kernel, problems, steps }).map_err(|error| error.to_string())?;
    std::fs::write(out.join(REPORT_NAME), report).map_err(|error| format!("{}: {error}", out.display()))
}
