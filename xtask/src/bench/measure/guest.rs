//! Both programs in a guest of `whylate lab exec`, one after the other, where time is the emulator's own: what this
//! machine does meanwhile does not show, so two programs that measure the same thing must see the same.

use super::counts::{Counts, HISTOGRAM};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

const NAMES: [&str; 2] = ["cyclictest", "whylate measure"];
const FILES: [&str; 2] = ["theirs.json", "ours.cyclictest.json"];
/// The shares of the samples that are compared.
const SHARES: [f64; 5] = [0.01, 0.25, 0.5, 0.75, 0.99];

pub(super) fn compare(
    whylate: &Path,
    kernel: &str,
    seconds: u32,
    interval: u32,
    directory: &Path,
) -> Result<()> {
    let out = directory.join("guest");
    for file in FILES {
        let _ = std::fs::remove_file(out.join(file));
    }
    let [theirs, ours] = FILES;
    // Each in its turn, and cyclictest once more before it counts: the first program in a guest finds cold caches. With
    // whole intervals between the two.
    let script = format!(
        "cyclictest -q -m -p80 -t1 -a0 -i{interval} -D1 --laptop > /dev/null; \
         cyclictest -q -m -p80 -t1 -a0 -i{interval} -D{seconds} --laptop -h {} --json=/out/{theirs} > /dev/null; \
         /whylate measure --no-trace -p 80 -c 0 -i {interval}us -d {seconds}s --export /out/{ours} > /dev/null",
        HISTOGRAM
    );
    let cyclictest = std::env::var_os("PATH")
        .and_then(|path| {
            std::env::split_paths(&path).map(|dir| dir.join("cyclictest")).find(|path| path.is_file())
        })
        .context("there is no cyclictest in PATH")?;
    let status = Command::new(whylate)
        .args(["lab", "exec", "--kernel", kernel, "--no-record", "--limit", "300s", "--output"])
        .arg(&out)
        .arg("--file")
        .arg(format!("{}:/bin/cyclictest", cyclictest.display()))
        .args(["--", "sh", "-c", &script])
        .status()
        .context("whylate could not be started")?;
    if !status.success() {
        bail!("the guest did not run both programs: {status}; what they said is in {}", out.display());
    }
    println!("{kernel}, 1 CPU, virtual time; us that so many of the samples did not exceed");
    print!("{:<20}", "");
    SHARES.iter().for_each(|share| print!(" {:>6}", format!("{}%", share * 100.0)));
    println!(" {:>6} {:>8} {:>9}", "max", "samples", "mean");
    for (name, file) in NAMES.into_iter().zip(FILES) {
        let counts = Counts::read(&out.join(file))?;
        print!("{name:<20}");
        for share in SHARES {
            let latency = counts.quantile(share).with_context(|| format!("{name} measured nothing"))?;
            print!(" {latency:>6}");
        }
        println!(" {:>6} {:>8} {:>9.2}", counts.max, counts.samples, counts.mean().unwrap_or_default());
    }
    Ok(())
}
