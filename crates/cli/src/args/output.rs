//! Where a report goes, and in which format: the same for each verb that reports.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args};
use std::path::{Path, PathBuf};
use whylate_report::{Format, Render};

/// The output of a report.
#[derive(Clone, Debug, Args)]
pub(crate) struct OutputArgs {
    /// The format of the report on standard output
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = names(ALL))]
    format: Format,
    /// Same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Also write the report to this file; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const ALL: &[Format] =
    &[Format::Text, Format::Json, Format::Html, Format::Markdown, Format::Svg, Format::Sarif, Format::Junit];

impl OutputArgs {
    /// The options of a verb that has names of its own for some of them.
    pub(crate) fn new(format: Format, output: Option<PathBuf>) -> OutputArgs {
        OutputArgs { format, json: false, output }
    }

    /// The format of standard output.
    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }

    /// The file beside it.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| path.as_os_str() != "-")
    }
}

/// `--format` with the formats of one report alone.
pub(super) fn format_of<R: Render>(arg: Arg) -> Arg {
    arg.value_parser(names(R::FORMATS))
}

/// `--output` with the endings of one report alone.
pub(super) fn file_of<R: Render>(arg: Arg) -> Arg {
    let endings: Vec<&str> = R::FORMATS.iter().map(|format| format.ending()).collect();
    let without = match R::FORMATS.contains(&Format::Html) {
        true => "; without a suffix: .html",
        false => "",
    };
    let help = "Also write the report to this file; the suffix of its name selects the format";
    arg.help(format!("{help}: {}{without} (`-`: standard output)", endings.join(", ")))
}

/// The names of formats.
pub(super) fn names(formats: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    let values = formats.iter().map(|format| PossibleValue::new(format.name()).help(format.about()));
    PossibleValuesParser::new(values).map(move |name| {
        // The parser lets no other name through.
        formats.iter().copied().find(|format| format.name() == name).unwrap_or(Format::Text)
    })
}
