//! Charges every nanosecond of every late activation to a named cause.
//!
//! ```text
//! events ──> timeline (which thread had each CPU, what each thread waited for)
//!        ──> activations (due, woken, running, done)
//!        ──> ledger (segments that tile due..done)
//!        ──> verdicts, findings
//! ```
//!
//! Pure: no I/O. A recorded trace and a live one are the same call.

mod assemble;
mod candidates;
mod causes;
mod chains;
mod charge;
mod costs;
mod engine;
mod explain;
mod findings;
mod gaps;
mod growth;
mod host_side;
mod identities;
mod late_judge;
mod live;
mod model;
mod mutexes;
mod options;
mod peer_side;
mod places;
mod profiles;
mod scope;
mod spread;
mod stats;
mod timeline;
mod tracers;
mod verdict;

pub use causes::{Cause, CauseGroup};
pub use chains::{ChainOptions, ChainPattern, ChainPatternError, ChainsAcross};
pub use engine::WANTED;
pub use explain::{explain, explain_any, explain_each};
pub use findings::{finding_codes, finding_page};
pub use host_side::add_host;
pub use late_judge::{EndedTimes, LateJudge};
pub use live::LiveLedger;
pub use model::{
    Activation, Candidate, CandidateKind, Candidates, Chain, ChainElement, ChainInstance, ChainVerdict,
    Chains, ClockJoin, CpuContext, CpuProfile, CpuTrack, CriticalSection, Culprit, Explanation, FunctionTime,
    FunctionTimes, Gap, GrownLine, Hop, HostDelay, HostPart, HostRecording, HostState, HostStay, HostVcpu,
    Missing, OnCpu, PacketJoin, PeerHop, PeerPlace, PeerRecording, Place, PlaceRole, RoundTrip, SampleCounts,
    Segment, Slice, Spread, TaskSummary, Trigger, TripVerdict, UnknownHop, Verdict, irq_name, is_stand_in,
    softirq_name, thread_name,
};
pub use options::{Judge, Markers, Options, Select};
pub use peer_side::{add_peer, add_peer_chains};
pub use scope::{AppliedScope, Instant, InstantError, OutsideTrace, Scope};
pub use timeline::housekeeping::is_housekeeping;
pub use verdict::confidence_of;
