//! `cyclictest -h`: `000017 000004<TAB>000001`, the class in us and each thread's samples, then what is known of all
//! (rt-tests, `print_hist` in src/cyclictest/cyclictest.c). Comments above it, where cyclictest has its own, show whose
//! it is.

use super::classes::{Classes, us};
use std::io::{self, Write};
use whylate_base::Ns;
use whylate_stats::{Measured, Run};

pub(super) fn write(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let threads: Vec<Classes> = run.threads.iter().map(|thread| Classes::of(&thread.histogram)).collect();
    for (name, value) in [("tool", &run.tool), ("probe", &run.probe)] {
        if !value.is_empty() {
            writeln!(out, "# whylate: {name}={value}")?;
        }
    }
    writeln!(out, "# Histogram")?;
    for class in 0..threads.iter().map(Classes::end).max().unwrap_or(0) {
        let counts: Vec<String> =
            threads.iter().map(|thread| format!("{:06}", thread.count(class))).collect();
        writeln!(out, "{class:06} {}", counts.join("\t"))?;
    }
    let totals = threads.iter().map(|thread| format!(" {:09}", thread.total()));
    writeln!(out, "# Total:{}", totals.collect::<String>())?;
    for (name, of) in SUMS {
        let values = run.threads.iter().map(|thread| format!(" {:05}", us(of(thread).unwrap_or_default())));
        writeln!(out, "# {name} Latencies:{}", values.collect::<String>())?;
    }
    let overflows = threads.iter().map(|thread| format!(" {:05}", thread.overflow));
    writeln!(out, "# Histogram Overflows:{}", overflows.collect::<String>())?;
    writeln!(out, "# Histogram Overflow at cycle number:")?;
    for (at, thread) in threads.iter().enumerate() {
        write!(out, "# Thread {at}:")?;
        // As cyclictest prints of those whose number it did not keep.
        if thread.overflow > 0 {
            write!(out, " # {:05} others", thread.overflow)?;
        }
        writeln!(out)?;
    }
    writeln!(out)
}

type Sum = fn(&Measured) -> Option<Ns>;

const SUMS: [(&str, Sum); 3] = [
    ("Min", |thread| thread.histogram.min()),
    ("Avg", |thread| thread.histogram.mean()),
    ("Max", |thread| thread.histogram.max()),
];
