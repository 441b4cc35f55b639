//! `whylate plot`

use super::{parts, runs};
use crate::args::{PlotArgs, PlotKind};
use crate::atomic_file;
use crate::exit_status::ExitStatus;
use crate::output;
use anyhow::{Context, Result, bail};
use std::path::Path;
use whylate_investigate::compare::compare_pairs;
use whylate_report::plot::{self, Kind};

/// What a file is to be, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Svg,
    Png,
}

pub(crate) fn run(args: &PlotArgs) -> Result<ExitStatus> {
    let format = format(&args.output)?;
    args.files.iter().try_for_each(|file| output::spare(file, &args.output))?;
    let files = runs::expanded(args.files.clone())?;
    let runs = parts::of_cpus(runs::read(&files)?, &args.cpus)?;
    let (drawing, nothing) = match args.kind {
        PlotKind::Histogram => (plot::plotted(&runs, Kind::Histogram, args.per_cpu), "there are no samples"),
        PlotKind::Ccdf => (plot::plotted(&runs, Kind::Ccdf, args.per_cpu), "there are no samples"),
        PlotKind::Time => (
            plot::plotted(&runs, Kind::Time, args.per_cpu),
            "none of the files has the times of its samples; documents of `whylate measure --json` do",
        ),
        PlotKind::Shift if runs.len() < 2 => {
            bail!("--kind shift needs two measurements at least, or one and --cpus twice")
        }
        PlotKind::Shift => {
            let sides: Vec<(usize, usize)> = (1..files.len()).map(|after| (0, after)).collect();
            let pairs = parts::pairs(files.len(), &sides, args.cpus.len());
            (plot::shifted(&compare_pairs(runs, &pairs), args.per_cpu), "there are too few samples")
        }
    };
    let drawing = drawing.with_context(|| format!("there is nothing to plot: {nothing}"))?;
    let bytes = match format {
        Format::Svg => drawing.into_bytes(),
        Format::Png => png(&drawing)?,
    };
    atomic_file::write(&args.output, |out| Ok(out.write_all(&bytes)?))?;
    output::message!("plot: {}", args.output.display());
    Ok(ExitStatus::Done)
}

fn format(path: &Path) -> Result<Format> {
    let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
    match extension.as_ref().and_then(|extension| extension.to_str()) {
        Some("svg") => Ok(Format::Svg),
        Some("png") if cfg!(feature = "png") => Ok(Format::Png),
        Some("png") => bail!(
            "cannot write {}: this whylate was built without the feature `png` (cargo install whylate --features png); \
             write an .svg",
            path.display()
        ),
        _ => bail!("cannot write {}: name a file that ends with .svg or .png", path.display()),
    }
}

#[cfg(feature = "png")]
fn png(drawing: &str) -> Result<Vec<u8>> {
    crate::raster::png(&plot::plain(drawing))
}

#[cfg(not(feature = "png"))]
fn png(_drawing: &str) -> Result<Vec<u8>> {
    bail!("this whylate was built without the feature `png`")
}
