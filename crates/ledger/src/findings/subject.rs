//! Everything a finding is made from.

use crate::model::Activation;
use crate::options::Options;
use crate::stats::StatsByThread;
use crate::timeline::Timeline;
use crate::tracers::osnoise::Noises;
use whylate_events::TraceInfo;

pub(crate) struct Subject<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) stats: &'a StatsByThread,
    pub(crate) options: &'a Options,
    pub(crate) trace: &'a TraceInfo,
    /// The worst activations of every selected thread.
    pub(crate) worst: &'a [Activation],
    /// What osnoise and hwlat measured.
    pub(crate) noises: &'a Noises,
}
