//! The rows of a measurement: latencies and histograms.

use super::Rows;
use crate::batch::Cell;
use std::io;
use whylate_base::{Cpu, Ns};
use whylate_stats::Run;

impl Rows<'_> {
    pub(crate) fn measurement(&mut self, run: &Run) -> io::Result<()> {
        for thread in &run.threads {
            let histogram = &thread.histogram;
            let ns = |value: Option<Ns>| Cell::from(value.map(|value| value.0));
            let cpu = || Cell::from(thread.cpu.and_then(Cpu::known));
            self.push(
                "latencies",
                [
                    Cell::from(&thread.name),
                    cpu(),
                    thread.is_stage.into(),
                    histogram.count().into(),
                    ns(histogram.min()),
                    ns(histogram.mean()),
                    ns(histogram.median()),
                    ns(histogram.tail(0.99)),
                    ns(histogram.tail(0.999)),
                    ns(histogram.tail(0.9999)),
                    ns(histogram.tail(0.99999)),
                    ns(histogram.max()),
                    histogram.overflow().into(),
                    histogram.limit().0.into(),
                    thread.missed.into(),
                    ns(run.interval),
                ],
            );
            for bucket in histogram.buckets() {
                self.push(
                    "histograms",
                    [
                        Cell::from(&thread.name),
                        cpu(),
                        thread.is_stage.into(),
                        bucket.from.0.into(),
                        bucket.upto.0.into(),
                        bucket.count.into(),
                    ],
                );
                self.relieve()?;
            }
        }
        Ok(())
    }
}
