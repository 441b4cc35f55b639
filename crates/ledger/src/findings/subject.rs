//! Everything a finding is made from.

use crate::engine::Engine;
use crate::model::Activation;
use crate::tracers::osnoise::Noises;
use whylate_events::TraceInfo;

pub(crate) struct Subject<'a> {
    pub(crate) engine: &'a Engine<'a>,
    pub(crate) trace: &'a TraceInfo,
    /// The worst activations of every selected thread.
    pub(crate) worst: &'a [Activation],
    /// What osnoise and hwlat measured.
    pub(crate) noises: &'a Noises,
}
