//! `whylate measure`: files for other programs, Prometheus, and the live view.

use super::super::values::file_to_write;
use clap::Args;
use clap::builder::TypedValueParser;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use whylate_export::latencies::Form;

/// Where a measurement goes beside its report.
#[derive(Debug, Args)]
pub(crate) struct Exports {
    /// Also write the measurement to this file (repeatable); the suffix selects the format: .hist (as `cyclictest -h`
    /// prints), .cyclictest.json (its --json), .csv, .prom (for node_exporter), .json (whylate.measure/1)
    #[arg(long = "export", value_name = "FILE", value_parser = file_to_write().try_map(export))]
    pub(crate) files: Vec<Export>,
    /// Also add the measurement to the tables in this directory, as `whylate tables` does: under this machine's name and today,
    /// with the state of the machine
    #[arg(long, value_name = "DIR")]
    pub(crate) tables: Option<PathBuf>,
    /// Serve the current measurement as OpenMetrics at /metrics; without an address only to this machine
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = address)]
    pub(crate) serve: Option<SocketAddr>,
    /// Show the current measurement on the whole terminal
    #[arg(long)]
    pub(crate) live: bool,
}

/// A file for the measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Export {
    pub(crate) path: PathBuf,
    /// `None`: our own document.
    pub(crate) form: Option<Form>,
}

fn export(path: PathBuf) -> Result<Export, String> {
    let form = Form::of_file(&path);
    let own = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    match form.is_some() || own {
        true => Ok(Export { path, form }),
        false => {
            let endings: Vec<&str> = Form::ENDINGS.iter().map(|(ending, _)| *ending).collect();
            Err(format!("its name has no known ending; end it with one of {} .json", endings.join(" ")))
        }
    }
}

/// `9100`, `:9100`, `0.0.0.0:9100`, `[::1]:9100`.
pub(in crate::args) fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix(':').unwrap_or(text);
    if let Ok(port) = port.parse() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse().map_err(|_| {
        "give a port, or an address and a port: 9100, 0.0.0.0:9100, [::1]:9100 (no names of hosts)".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn without_an_address_it_is_this_machine_s() {
        let parsed = |text| address(text).map(|address| address.to_string()).ok();
        assert_eq!(parsed("9100").as_deref(), Some("127.0.0.1:9100"));
        assert_eq!(parsed(":0").as_deref(), Some("127.0.0.1:0"));
        assert_eq!(parsed("0.0.0.0:9100").as_deref(), Some("0.0.0.0:9100"));
        assert_eq!(parsed("[::1]:80").as_deref(), Some("[::1]:80"));
        for wrong in ["", ":", "99999", "host:80", "127.0.0.1", "::"] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_name_without_a_known_ending_is_refused() {
        let form = |name: &str| export(Path::new(name).to_owned()).map(|export| export.form).ok();
        assert_eq!(form("a.hist"), Some(Some(Form::Histogram)));
        assert_eq!(form("a.json"), Some(None));
        assert_eq!(form("a.cyclictest.json"), Some(Some(Form::Cyclictest)));
        assert_eq!(form("a.txt"), None);
        assert_eq!(form("json"), None);
    }
}
