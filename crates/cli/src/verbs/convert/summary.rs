//! What a conversion wrote and left out, on standard error: standard output is for the trace.

use super::input::Input;
use crate::args::{ConvertArgs, ConvertFormat};
use crate::output::message;
use whylate_events::TraceInfo;
use whylate_export::Written;
use whylate_ledger::Instant;

/// More damage than this is counted, not listed.
const SHOWN_DAMAGE: usize = 5;

/// What was done, on standard error: standard output is for answers.
pub(super) fn summarize(
    name: &str,
    bytes: Option<u64>,
    args: &ConvertArgs,
    format: ConvertFormat,
    written: &Written,
    input: &Input,
) {
    // Behind --to nothing is read, and so not counted.
    let mut parts = vec![match written.events == written.read || args.scope.to.is_some() {
        true => format!("{} events", written.events),
        false => format!("{} of {} events", written.events, written.read),
    }];
    if written.activations > 0 {
        parts.push(format!("{} activations explained", written.activations));
    }
    if written.of_other > 0 {
        parts.push(format!("{} events of the peer", written.of_other));
    }
    if written.samples > 0 {
        parts.push(format!("{} sampled call stacks", written.samples));
    }
    if let Some(bytes) = bytes {
        parts.push(format!("{:.1} MB", bytes as f64 / 1e6));
    }
    message!("{name}: {}", parts.join(", "));
    if written.no_form > 0 {
        message!("note: {} events of no known type were left out", written.no_form);
    }
    if written.bare > 0 {
        message!("note: of {} events of no known type only time, CPU and thread are kept", written.bare);
    }
    if written.events == 0 {
        message!("note: {}", nothing(args, written, input.info()));
    }
    for choice in &written.unmet {
        message!("note: the trace has no event {choice}, as far as it was read");
    }
    let info = input.info();
    // Text has a latency tracer's own lines.
    let is_left_out = info.latency.is_some() && format != ConvertFormat::Text;
    if is_left_out || !info.breakdowns.is_empty() {
        message!(
            "note: what the {} measured is no event, and so not in the output: explain it as it is",
            info.format
        );
    }
    if info.stacks.is_some() && !matches!(format, ConvertFormat::Perfetto | ConvertFormat::Dat) {
        message!(
            "note: the sampled call stacks are not in the output: only trace.dat and Perfetto hold them"
        );
    }
    let damage = &info.damage;
    for damage in damage.iter().take(SHOWN_DAMAGE) {
        message!("note: damage {damage}");
    }
    if damage.len() > SHOWN_DAMAGE {
        message!("note: {} more damaged places", damage.len() - SHOWN_DAMAGE);
    }
}

/// Why the output has no event.
fn nothing(args: &ConvertArgs, written: &Written, info: &TraceInfo) -> String {
    let Some((first, last)) = written.span else {
        return format!("this has no events: {}", info.format);
    };
    if written.no_form > 0 {
        return "the output has no event: this format has no form for those of the trace".to_owned();
    }
    // Where reading ended with the cut, the rest is not known.
    let end = if args.scope.to.is_some() { String::new() } else { format!(" to {}", Instant::Clock(last)) };
    let begin = Instant::Clock(first);
    format!(
        "the output has no event: none of the trace is what was asked for; it goes from {begin}{end}, {} CPUs",
        info.cpus
    )
}
