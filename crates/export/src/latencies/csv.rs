//! CSV (RFC 4180): `thread,from_ns,upto_ns,count`, a line for each bucket that has a sample.
//!
//! Both ends belong to the bucket. Samples in no bucket have a line of their own: nothing but their largest is known,
//! so `from_ns` is empty.

use std::io::{self, Write};
use whylate_stats::Run;

pub(super) fn write(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "thread,from_ns,upto_ns,count")?;
    for thread in &run.threads {
        let name = quoted(&thread.name);
        for bucket in thread.histogram.buckets() {
            writeln!(out, "{name},{},{},{}", bucket.from.0, bucket.upto.0, bucket.count)?;
        }
        if let (1.., Some(max)) = (thread.histogram.overflow(), thread.histogram.max()) {
            writeln!(out, "{name},,{},{}", max.0, thread.histogram.overflow())?;
        }
    }
    Ok(())
}

fn quoted(field: &str) -> String {
    match field.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_name_may_hold_anything() {
        assert_eq!(quoted("CPU 3"), "CPU 3");
        assert_eq!(quoted("CPU 0, \"irq\""), "\"CPU 0, \"\"irq\"\"\"");
    }
}
