//! Measurements in files, of any program.

use anyhow::{Context, Result, anyhow, bail};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use whylate_base::Ns;
use whylate_intake::bundle;
use whylate_intake::latencies::{self, Beginning, LatenciesError};
use whylate_investigate::compare::Prepared;
use whylate_investigate::watch::WATCH_FILE;
use whylate_report::{compare, measure, watch};
use whylate_stats::Run;

/// A document of a week has some 100 MB; what is longer is none.
const MOST_BYTES: u64 = 512 << 20;

/// The measurements in some files, each with a label of its own.
pub(crate) fn read(files: &[PathBuf]) -> Result<Vec<Prepared>> {
    let labelled = |(file, label): (&PathBuf, String)| prepared(file, Run { label, ..one(file)? });
    files.iter().zip(labels(files)).map(labelled).collect()
}

/// The measurements of each of some files: one of each kind that it holds.
pub(super) fn read_each(files: &[PathBuf]) -> Result<Vec<Vec<Prepared>>> {
    let of = |(file, label): (&PathBuf, String)| {
        let runs = each(file)?;
        let kinds = kinds(&runs);
        let labelled = |(run, kind): (Run, String)| {
            let label = if kind.is_empty() { label.clone() } else { format!("{label}: {kind}") };
            prepared(file, Run { label, ..run })
        };
        runs.into_iter().zip(kinds).map(labelled).collect()
    };
    files.iter().zip(labels(files)).map(of).collect()
}

/// What tells the measurements of a file apart, as shortly as it can: `take_it` of `take_it: function time`; nothing of a single one.
fn kinds(runs: &[Run]) -> Vec<String> {
    let beginning: fn(&Run) -> String = |run| run.probe.split(": ").next().unwrap_or_default().to_owned();
    let with_tool: fn(&Run) -> String = |run| format!("{} {}", run.tool, run.probe);
    let forms: [fn(&Run) -> String; 3] = [|_| String::new(), beginning, |run| run.probe.clone()];
    let each = |form: fn(&Run) -> String| runs.iter().map(form).collect::<Vec<String>>();
    let mut forms = forms.into_iter().map(each);
    forms.find(|names| is_unique(names)).unwrap_or_else(|| each(with_tool))
}

fn is_unique(names: &[String]) -> bool {
    names.iter().collect::<BTreeSet<_>>().len() == names.len()
}

fn prepared(file: &Path, run: Run) -> Result<Prepared> {
    let run = Prepared::of(run);
    if run.all.histogram.count() == 0 {
        bail!("{}: nothing was measured: there is no sample in it", file.display());
    }
    Ok(run)
}

/// The files with the bundles among them replaced by their measurements: of one bundle alone all of them, of several files
/// each bundle's own.
pub(super) fn expanded(files: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    let is_alone = files.len() == 1;
    let mut expanded = Vec::new();
    for file in files {
        let inside =
            bundle::measurements(&file).with_context(|| format!("cannot read {}", file.display()))?;
        match inside {
            None => expanded.push(file),
            Some(measurements) if is_alone && !measurements.is_empty() => expanded.extend(measurements),
            Some(mut measurements) => match measurements.pop() {
                Some(own) => expanded.push(own),
                None => bail!("{}: there is no measurement in this bundle", file.display()),
            },
        }
    }
    Ok(expanded)
}

/// The only measurement of a file.
fn one(path: &Path) -> Result<Run> {
    Ok(latencies::only(path, each(path)?)?)
}

/// The measurements of a file, one of each kind.
fn each(path: &Path) -> Result<Vec<Run>> {
    let journal = path.join(WATCH_FILE);
    if path.is_dir() && journal.is_file() {
        return each(&journal);
    }
    let inside = bundle::measurement(path).with_context(|| format!("cannot read {}", path.display()))?;
    let bytes = match inside {
        Some(bytes) => bytes,
        None => latencies::contents(path)?,
    };
    // No document of ours is longer; other tools' text may be.
    if is_object(&bytes) && bytes.len() as u64 <= MOST_BYTES {
        match measure::json::run(&bytes) {
            Ok(Some(run)) => {
                return run.map(|run| vec![run]).with_context(|| {
                    format!(
                        "{}: its schema is {}, but it cannot be read as such",
                        path.display(),
                        measure::json::document::SCHEMA
                    )
                });
            }
            Ok(None) => {
                if let Some(run) = watch::json::run(&bytes) {
                    return Ok(vec![run]);
                }
            }
            // Several documents may follow each other.
            Err(error) if error.is_eof() => {
                return Err(error)
                    .with_context(|| format!("{}: it begins as JSON, and is broken", path.display()));
            }
            Err(_) => {}
        }
    }
    latencies::read_each(path, &bytes).map_err(|error| match error {
        LatenciesError::Unknown { .. } => {
            is_trace(path).map_or_else(|| error.into(), |what| anyhow!("{what}"))
        }
        error => error.into(),
    })
}

/// True of bytes that begin as a JSON object.
fn is_object(bytes: &[u8]) -> bool {
    bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
}

/// That a file is a trace, in a sentence with the verb that reads it; `None`: it is none.
fn is_trace(path: &Path) -> Option<String> {
    let source = whylate_intake::open(path, whylate_ledger::WANTED).ok()?;
    let (name, format) = (path.display(), &source.info().format);
    Some(format!("{name}: it is a trace ({format}), not a measurement: run whylate explain {name}"))
}

/// That a file is a measurement, in a sentence with the verbs that read it; `None`: it is none.
pub(super) fn is_measurement(path: &Path) -> Option<String> {
    let Beginning { bytes, goes_on } = latencies::beginning(path).ok()?;
    let is_json = is_object(&bytes);
    if goes_on && !is_json {
        return begins_as_measurement(path, &bytes);
    }
    match each(path).map(|runs| latencies::only(path, runs)) {
        Ok(Ok(run)) => Some(as_measurement(path, &run)),
        Ok(Err(several)) => (!is_json).then(|| format!("{several}. It is a measurement, not a trace")),
        // The words of its tool show what it is, also where they are not whole; a bracket alone does not.
        Err(error) => {
            let is_broken = matches!(error.downcast_ref(), Some(LatenciesError::Broken { .. }));
            (is_broken && !is_json).then(|| {
                format!("{error}. It is a measurement, not a trace: whylate compare reads whole ones")
            })
        }
    }
}

/// The same, of whole measurements only.
pub(super) fn is_whole_measurement(path: &Path) -> Option<String> {
    let Beginning { bytes, goes_on } = latencies::beginning(path).ok()?;
    match goes_on && !is_object(&bytes) {
        true => begins_as_measurement(path, &bytes),
        false => one(path).ok().map(|run| as_measurement(path, &run)),
    }
}

/// The same of a long text, by its beginning: to read all of it takes far more memory than a trace does.
fn begins_as_measurement(path: &Path, beginning: &[u8]) -> Option<String> {
    let is_one = match latencies::read_each(path, beginning) {
        Ok(_) | Err(LatenciesError::Broken { .. }) => true,
        Err(_) => false,
    };
    let name = path.display();
    is_one.then(|| {
        format!("{name}: by its beginning it is a measurement, not a trace: run whylate compare {name} --gate \"max<100us\" to check it")
    })
}

fn as_measurement(path: &Path, run: &Run) -> String {
    let name = path.display();
    // A histogram without a title may be of anything.
    let shows = match run.probe.as_str() {
        "histogram" => "how long something took",
        _ if run.measures_time() => "how long each took",
        "osnoise" => "how much time was taken from each CPU",
        _ => "how late threads were",
    };
    // A table of sums is not drawn; its notes have the largest delay with its thread and its instant.
    let (known, plot) = match run.probe.as_str() {
        "scheduling delay" => (run.notes.join("; "), String::new()),
        _ => (compare::known(run), format!(" to draw it, whylate plot {name} -o FILE.svg;")),
    };
    // The longest time on a CPU is no lateness, for which there is a limit.
    let check = match run.measures_time() {
        true => format!("To compare it with another one, run whylate compare {name} OTHER;"),
        false => format!("To check it, run whylate compare {name} --gate \"max<{}\";", limit(run)),
    };
    format!(
        "{name}: it is a measurement ({}, {}), not a trace: it shows {shows}, not why. Known of it: {}. {check}{plot} for the \
         causes, record a trace, or measure with whylate measure",
        run.tool, run.probe, known
    )
}

/// A limit for an example of a gate, above the least latency: under a lower one every run of this program fails, as its classes may
/// begin there.
fn limit(run: &Run) -> &'static str {
    const LIMITS: [(&str, Ns); 6] = [
        ("100us", Ns(100_000)),
        ("1ms", Ns(1_000_000)),
        ("10ms", Ns(10_000_000)),
        ("100ms", Ns(100_000_000)),
        ("1s", Ns(1_000_000_000)),
        ("10s", Ns(10_000_000_000)),
    ];
    let least = run.all().min().unwrap_or_default();
    LIMITS.iter().find(|(_, limit)| *limit > least).map_or("100s", |(limit, _)| limit)
}

/// The names of files, with as much of their directories as tells them apart, and a number where nothing does.
fn labels(files: &[PathBuf]) -> Vec<String> {
    let ending = |path: &Path, parts: usize| {
        let all: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        all[all.len().saturating_sub(parts)..].join("/")
    };
    let deepest = files.iter().map(|file| file.components().count()).max().unwrap_or(1);
    let labels = |parts: usize| files.iter().map(|file| ending(file, parts)).collect::<Vec<String>>();
    let mut found = (1..=deepest).map(labels).find(|labels| is_unique(labels)).unwrap_or_else(|| {
        let mut numbered = labels(1);
        for (at, label) in numbered.iter_mut().enumerate() {
            label.push_str(&format!(" ({})", at + 1));
        }
        numbered
    });
    found.iter_mut().filter(|label| label.is_empty()).for_each(|label| *label = "-".to_owned());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_tell_files_apart() {
        let of = |files: &[&str]| labels(&files.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(of(&["a/x.json", "b/y.json"]), ["x.json", "y.json"]);
        assert_eq!(of(&["a/x.json", "b/x.json"]), ["a/x.json", "b/x.json"]);
        assert_eq!(of(&["x.json", "x.json"]), ["x.json (1)", "x.json (2)"]);
        assert_eq!(of(&["/x.json"]), ["x.json"]);
    }
}
