//! `whylate lab kernels`

use crate::args::KernelsArgs;
use crate::exit_status::ExitStatus;
use crate::output;
use crate::output::message;
use anyhow::Result;
use serde_json::{Value, json};
use whylate_lab::kernels::{SERIES, Series};
use whylate_lab::{Arch, Store};

pub(crate) fn run(args: &KernelsArgs) -> Result<ExitStatus> {
    let store = Store::open_default().of(args.arch.unwrap_or(Arch::native()));
    for name in names(&args.remove) {
        match store.remove(name)? {
            true => message!("{name}: removed"),
            false => message!("{name}: was not cached"),
        }
    }
    for name in names(&args.fetch) {
        if Series::find(name).is_some() {
            message!("{name}: fetching ...");
        }
        let kernel = store.fetch(name)?;
        message!("{name}: {}, {} MB", kernel.release, store.size(&kernel) / 1_000_000);
    }
    if args.json {
        output::print_json(&document(&store))?;
    } else {
        output::print(&table(&store))?;
    }
    Ok(ExitStatus::Done)
}

/// The kernels that a list names, `all` being every one.
fn names(list: &[String]) -> Vec<&str> {
    match list.iter().any(|name| name == "all") {
        true => SERIES.iter().map(|series| series.name).collect(),
        false => list.iter().map(String::as_str).collect(),
    }
}

fn table(store: &Store) -> String {
    let cached = store.cached();
    let row = |series: &Series| {
        let kernel = cached.iter().find(|kernel| kernel.name == series.name);
        let release = kernel.map_or("not cached", |kernel| &kernel.release);
        let size = kernel.map_or(String::new(), |kernel| format!("{} MB", store.size(kernel) / 1_000_000));
        let preemption = if series.preempt_rt { "PREEMPT_RT; " } else { "" };
        format!("{:<8} {release:<24} {size:>7}  {preemption}{}\n", series.name, series.good_for)
    };
    let rows: String = SERIES.iter().map(row).collect();
    format!("{rows}\nCache: {}, for {}\n", store.root().display(), store.arch())
}

fn document(store: &Store) -> Value {
    let cached = store.cached();
    let entry = |series: &Series| {
        let kernel = cached.iter().find(|kernel| kernel.name == series.name);
        json!({
            "name": series.name,
            "cached": kernel.is_some(),
            "release": kernel.map(|kernel| &kernel.release),
            "bytes": kernel.map(|kernel| store.size(kernel)),
            "preempt_rt": series.preempt_rt,
            "good_for": series.good_for,
        })
    };
    let kernels: Vec<Value> = SERIES.iter().map(entry).collect();
    json!({"schema": "whylate.lab-kernels/1", "cache": store.root(), "arch": store.arch().name(), "kernels": kernels})
}
