//! A line's event: from its printed fields to an [`EventKind`].

use super::fields::{
    address, field, first_word, nanoseconds, number, split, symbol, tail, tid, trim, trim_start,
};
use super::graph::{self, Call};
use super::line::Head;
use super::syscalls::{self, Numbers};
use super::{carriers, sched, tracers};
use whylate_base::Comm;
use whylate_events::{
    ContentionFlags, EventKind, HrtimerExpiry, HrtimerStart, Kind, Marker, Name, NoiseSource, PageFault,
    Preemptirq, Signal, Symbol, Syscall, SyscallReturn,
};

/// What a line's body was.
#[derive(Debug, PartialEq)]
pub(crate) enum Body {
    /// An event with all of its fields.
    Event(EventKind),
    /// A call, or its return, of the function_graph tracer.
    Call(Call),
    /// The head of a stack trace: frames follow, of the kernel or of a program.
    Stack(Stack),
    /// A statistic of the scheduler: a thread was put on a runqueue, now or before.
    Queued(sched::Queued),
    /// Another one: for how long the running thread has had its CPU.
    RanFor(sched::RanFor),
    /// Events were lost here.
    Lost(Option<u64>),
    /// An event this project has no type for.
    Unknown,
    /// An event that has a type, with fields that make no sense.
    Damaged,
}

impl Body {
    /// The kind of its event.
    pub(super) fn kind(&self) -> Kind {
        match self {
            Body::Event(kind) => kind.kind(),
            _ => Kind::Other,
        }
    }

    /// True of an event that lacks fields or its name, and of a tracer's own line in no known form; `text` is what was read.
    pub(super) fn ends_early(&self, text: &str) -> bool {
        if text.trim().is_empty() {
            return true;
        }
        match self {
            Body::Damaged => true,
            // Its caller may be in the next line.
            Body::Event(EventKind::Function { name, caller }) => {
                caller.is_empty() && !name.is_empty() && !text.contains("<-")
            }
            Body::Unknown => {
                text.starts_with(|first: char| first.is_ascii_digit())
                    || text.contains("inner/outer(us):")
                    || text.ends_with('>') && text.contains(" <")
            }
            _ => false,
        }
    }
}

/// Whose frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stack {
    Kernel,
    User,
}

/// Reads what stands behind the timestamp, of a machine whose system calls have these `numbers`.
pub(crate) fn parse(head: &Head<'_>, body: &str, numbers: Numbers) -> Body {
    let body = without_place(without_difference(body));
    if let Some((name, text)) = named(body) {
        return event(head, name, text, numbers);
    }
    match body.bytes().next() {
        // Only the lines of tracers begin with a number.
        Some(b'#' | b'0'..=b'9') => sched::latency_line(head, body)
            .or_else(|| tracers::unnamed(body))
            .or_else(|| function(body).filter(|_| body.contains(" <-")))
            .map_or(Body::Unknown, Body::Event),
        // A call of which the duration was left out.
        Some(b':') => Body::Unknown,
        Some(b'<') => stack(body).map_or(Body::Unknown, Body::Stack),
        Some(b'P') if body.starts_with("PERF_RECORD_LOST") => {
            Body::Lost(body.split_once(" lost ").and_then(|(_, count)| number(count)))
        }
        Some(b's') if is_syscall(body) => syscalls::unnamed(body, numbers).map_or(Body::Unknown, Body::Event),
        _ => match sched::old_line(head, body).or_else(|| function(body)) {
            Some(kind) => Body::Event(kind),
            None => {
                without_colon(body).map_or(Body::Unknown, |(name, text)| event(head, name, text, numbers))
            }
        },
    }
}

/// `sys_name(` or `sys_name ->`; a function's line has its name alone, or `<-` behind it.
fn is_syscall(body: &str) -> bool {
    body.starts_with("sys_") && (body.contains('(') || body.contains(" -> "))
}

/// `trace-cmd report --ts-diff` puts the time since the last event before each: `(+2138)`.
fn without_difference(body: &str) -> &str {
    match body.strip_prefix("(+").and_then(|rest| rest.split_once(')')) {
        Some((difference, rest)) if super::fields::digits(difference).is_some() => trim_start(rest),
        _ => body,
    }
}

/// `trace-cmd report --debug` puts behind each event the time since the last record, the record's place in its page and its length:
/// `[12770284:0x2e8:64]`.
fn without_place(body: &str) -> &str {
    let place = || {
        let (event, place) = body.strip_suffix(']')?.rsplit_once(" [")?;
        let (difference, rest) = place.split_once(':')?;
        let (offset, length) = rest.strip_prefix("0x")?.split_once(':')?;
        let is_hexadecimal = !offset.is_empty() && offset.bytes().all(|byte| byte.is_ascii_hexdigit());
        super::fields::digits(difference).and(super::fields::digits(length)).filter(|_| is_hexadecimal)?;
        Some(super::fields::trim_end(event))
    };
    place().unwrap_or(body)
}

/// `name: fields`, or `group:name: fields` of perf.
fn named(body: &str) -> Option<(&str, &str)> {
    let (mut name, mut text) = name_before_colon(body)?;
    if text.bytes().next().is_some_and(|byte| !byte.is_ascii_whitespace())
        && let Some((second, rest)) = name_before_colon(text)
    {
        (name, text) = (second, rest);
    }
    let text = trim(text);
    Some((name, text.strip_prefix("[FAILED TO PARSE]").map_or(text, trim_start)))
}

/// `name key=value`, as phones' tools print it.
fn without_colon(body: &str) -> Option<(&str, &str)> {
    let (name, text) = body.split_once([' ', '\t'])?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let text = trim(text);
    (is_name && name.contains('_') && first_word(text).contains('=')).then_some((name, text))
}

/// Splits `name:rest`, where the name is one that an event may have.
fn name_before_colon(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_alphanumeric() && byte != b'_')?;
    let (name, rest) = text.split_at_checked(end)?;
    let is_name = name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    Some((name, rest.strip_prefix(':').filter(|_| is_name)?))
}

/// `<stack trace>`; a page may have put a blank behind the `<`.
pub(super) fn stack(text: &str) -> Option<Stack> {
    let title = text.strip_prefix('<')?.trim_start();
    if title.starts_with("stack trace") {
        Some(Stack::Kernel)
    } else if title.starts_with("user stack trace") {
        Some(Stack::User)
    } else {
        None
    }
}

/// `function <-parent`, of kernels before 2.6.29 `function (parent)`; a kernel that does not know the parent prints the
/// function alone.
fn function(body: &str) -> Option<EventKind> {
    let is_name = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.')
    };
    let old = || body.strip_suffix(')').and_then(|body| body.split_once(" ("));
    let is_function = body.contains(" <-")
        || is_name(body)
        || old().is_some_and(|(function, parent)| is_name(function) && is_name(parent));
    let caller = body.split_once(" <-").or_else(old).map_or("", |(_, caller)| caller);
    is_function.then(|| EventKind::Function { name: symbol(body), caller: symbol(caller) })
}

/// True of what a dynamic probe prints, which may have an event's name: `(__probestub_sched_switch+0x4/0x10) prev=0xff`
/// (`print_probe_args`, kernel/trace/trace_probe_tmpl.h).
fn is_probe(text: &str) -> bool {
    text.strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .is_some_and(|(place, _)| place.contains("+0x") && !place.contains(' '))
}

fn event(head: &Head<'_>, name: &str, text: &str, numbers: Numbers) -> Body {
    if is_probe(text) {
        return Body::Unknown;
    }
    let call = |call: Option<Call>| call.map_or(Body::Damaged, Body::Call);
    let kind = match name {
        "sched_switch" => sched::switch(text),
        "sched_waking" => sched::wake(text).map(EventKind::Waking),
        "sched_wakeup" => sched::wake(text).map(|wake| EventKind::Wakeup { wake, new: false }),
        "sched_wakeup_new" => sched::wake(text).map(|wake| EventKind::Wakeup { wake, new: true }),
        "context_switch" | "wakeup" => sched::numbers_line(head, text),
        "sched_migrate_task" => sched::migrate(text),
        "sched_process_fork" => sched::fork(text),
        "sched_process_exec" => sched::exec(text),
        "sched_process_exit" => sched::exit(text),
        "sched_pi_setprio" => sched::pi_setprio(text),
        "sched_blocked_reason" => sched::blocked_reason(text),
        "irq_handler_entry" => irq_entry(text),
        "irq_handler_exit" => value(text, "irq").map(|irq| EventKind::IrqExit { irq }),
        "softirq_raise" => value(text, "vec").map(|vec| EventKind::SoftirqRaise { vec }),
        "softirq_entry" => value(text, "vec").map(|vec| EventKind::SoftirqEntry { vec }),
        "softirq_exit" => value(text, "vec").map(|vec| EventKind::SoftirqExit { vec }),
        "hrtimer_start" => hrtimer_start(text),
        "hrtimer_cancel" => pointer(text, "hrtimer").map(|hrtimer| EventKind::HrtimerCancel { hrtimer }),
        "hrtimer_expire_entry" => hrtimer_expire(text),
        "hrtimer_expire_exit" => {
            pointer(text, "hrtimer").map(|hrtimer| EventKind::HrtimerExpireExit { hrtimer })
        }
        "timer_expire_entry" => {
            pointer(text, "timer").map(|timer| EventKind::TimerExpire { timer, function: function_of(text) })
        }
        "timer_expire_exit" => pointer(text, "timer").map(|timer| EventKind::TimerExpireExit { timer }),
        "sys_enter" => sys_enter(text),
        "sys_exit" => sys_exit(text),
        "page_fault_user" | "page_fault_kernel" => page_fault(text, name == "page_fault_user"),
        "contention_begin" => contention_begin(text),
        "contention_end" => contention_end(text),
        "cpu_idle" => cpu_idle(text),
        "nmi_handler" => nmi(text),
        "signal_generate" => signal(text),
        "tracing_mark_write" => Some(EventKind::Marker(Marker::from(text))),
        "print" => Some(EventKind::Marker(Marker::from(printed(text)))),
        "function" => Some(traced_function(text)),
        "funcgraph_entry" | "funcgraph_exit" => return call(graph::reported(text)),
        "sched_stat_wait" | "sched_stat_sleep" | "sched_stat_blocked" | "sched_stat_iowait" => {
            return sched::queued(text, name == "sched_stat_wait").map_or(Body::Damaged, Body::Queued);
        }
        // Where it is printed otherwise, it is nothing that is needed.
        "sched_stat_runtime" => return sched::ran_for(text).map_or(Body::Unknown, Body::RanFor),
        // Raw, they are addresses in the same line.
        "kernel_stack" | "user_stack" => return stack(text).map_or(Body::Unknown, Body::Stack),
        "timerlat" | "timerlat_sample" => tracers::timerlat(text),
        "osnoise" | "osnoise_sample" => tracers::osnoise(text),
        "hwlat" => tracers::hwlat(text),
        "sample_threshold" => tracers::threshold(text),
        "irq_disable" => tracers::preemptirq(Preemptirq::Interrupts, true, text),
        "irq_enable" => tracers::preemptirq(Preemptirq::Interrupts, false, text),
        "preempt_disable" => tracers::preemptirq(Preemptirq::Preemption, true, text),
        "preempt_enable" => tracers::preemptirq(Preemptirq::Preemption, false, text),
        "nmi_noise" => tracers::noise(NoiseSource::Nmi, text),
        "irq_noise" => tracers::noise(NoiseSource::Irq, text),
        "softirq_noise" => tracers::noise(NoiseSource::Softirq, text),
        "thread_noise" => tracers::noise(NoiseSource::Thread, text),
        _ => match carriers::event(name, text) {
            Some(carrier) => Some(carrier),
            None => return named_by_pattern(name, text, numbers),
        },
    };
    kind.map_or(Body::Damaged, Body::Event)
}

/// Events whose names are made from another name: `local_timer_entry`, `sys_enter_futex`.
fn named_by_pattern(name: &str, text: &str, numbers: Numbers) -> Body {
    let vector = || value::<u32>(text, "vector").filter(|_| text.starts_with("vector="));
    let kind = if let Some(vector_name) = name.strip_suffix("_entry").filter(|_| vector().is_some()) {
        Some(EventKind::VectorEntry { name: Name::from(vector_name) })
    } else if let Some(vector_name) = name.strip_suffix("_exit").filter(|_| vector().is_some()) {
        Some(EventKind::VectorExit { name: Name::from(vector_name) })
    } else if let Some(call) = name.strip_prefix("sys_enter_") {
        // Only raw printing has the number; elsewhere it goes by the name.
        match value(text, "__syscall_nr") {
            Some(nr) => Some(EventKind::SyscallEnter(Syscall { nr, args: raw_arguments(text) })),
            None => syscalls::enter(call, text, numbers),
        }
    } else if let Some(call) = name.strip_prefix("sys_exit_") {
        match value(text, "__syscall_nr").zip(field(text, "ret").and_then(signed)) {
            Some((nr, ret)) => Some(EventKind::SyscallExit(SyscallReturn { nr, ret })),
            None => syscalls::exit_named(call, text, numbers),
        }
    } else {
        None
    };
    kind.map_or(Body::Unknown, Body::Event)
}

fn value<T: TryFrom<i128>>(text: &str, key: &str) -> Option<T> {
    number(field(text, key)?)
}

fn pointer(text: &str, key: &str) -> Option<u64> {
    address(field(text, key)?)
}

fn function_of(text: &str) -> Symbol {
    field(text, "function").map(symbol).unwrap_or_default()
}

fn irq_entry(text: &str) -> Option<EventKind> {
    let name = tail(text, "name").unwrap_or("");
    Some(EventKind::IrqEntry { irq: value(text, "irq")?, name: Name::from(name) })
}

fn hrtimer_start(text: &str) -> Option<EventKind> {
    let expires = nanoseconds(field(text, "expires")?)?;
    Some(EventKind::HrtimerStart(HrtimerStart {
        hrtimer: pointer(text, "hrtimer")?,
        function: function_of(text),
        expires,
        softexpires: field(text, "softexpires").and_then(nanoseconds).unwrap_or(expires),
    }))
}

fn hrtimer_expire(text: &str) -> Option<EventKind> {
    Some(EventKind::HrtimerExpire(HrtimerExpiry {
        hrtimer: pointer(text, "hrtimer")?,
        function: function_of(text),
        now: nanoseconds(field(text, "now")?)?,
    }))
}

/// `NR 33 (b, 1, 560e9cba49bc, 0, 7, b)`, or raw `id=33 args=ARRAY[..]`.
fn sys_enter(text: &str) -> Option<EventKind> {
    let mut args = [0; 6];
    let nr = match text.strip_prefix("NR ") {
        Some(rest) => {
            let (nr, mut list) = split(rest, b'(')?;
            for arg in &mut args {
                let (value, rest) = split(list, b',').unwrap_or((list, ""));
                *arg = address(value)?;
                list = rest;
                if list.is_empty() {
                    break;
                }
            }
            number(nr)?
        }
        None => {
            args = tail(text, "args").and_then(array).unwrap_or_default();
            value(text, "id")?
        }
    };
    Some(EventKind::SyscallEnter(Syscall { nr, args }))
}

/// `ARRAY[01, 00, ..]` of trace-cmd: bytes in the order of the traced machine's memory,
/// which the text does not show; little-endian is taken for granted.
fn array(text: &str) -> Option<[u64; 6]> {
    let list = text.strip_prefix("ARRAY[")?.split_once(']')?.0;
    let bytes: Vec<u8> = list.split(',').map(|byte| address(byte)?.try_into().ok()).collect::<Option<_>>()?;
    let width = bytes.len().checked_div(6).filter(|width| [4, 8].contains(width))?;
    let mut args = [0; 6];
    for (arg, word) in args.iter_mut().zip(bytes.chunks_exact(width)) {
        *arg = word.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
    }
    Some(args)
}

/// The arguments behind `__syscall_nr=`, in order.
fn raw_arguments(text: &str) -> [u64; 6] {
    let mut args = [0; 6];
    let values = text.split_whitespace().filter_map(|word| word.split_once('=')).skip(1);
    for (arg, (_, value)) in args.iter_mut().zip(values) {
        // A negative argument is printed signed: an fd of -1, a timeout.
        *arg = number::<i64>(value).map(|v| v as u64).or_else(|| number(value)).unwrap_or(0);
    }
    args
}

/// `NR 1 = 2`, or raw `id=1 ret=2`.
fn sys_exit(text: &str) -> Option<EventKind> {
    let (nr, ret) = match text.strip_prefix("NR ") {
        Some(rest) => split(rest, b'=')?,
        None => (field(text, "id")?, field(text, "ret")?),
    };
    Some(EventKind::SyscallExit(SyscallReturn { nr: number(nr)?, ret: signed(ret)? }))
}

/// A signed value that raw printing may show as its unsigned bits.
fn signed(text: &str) -> Option<i64> {
    number::<i64>(text).or_else(|| number::<u64>(text).map(|bits| bits as i64))
}

fn page_fault(text: &str, user: bool) -> Option<EventKind> {
    let ip = field(text, "ip").and_then(address).unwrap_or(0);
    let error_code = field(text, "error_code").and_then(address).unwrap_or(0);
    Some(EventKind::PageFault(PageFault { address: pointer(text, "address")?, ip, user, error_code }))
}

/// `0000000073b18ad9 (flags=SPIN|READ)`, or raw `lock_addr=0x.. flags=0x1`.
fn contention_begin(text: &str) -> Option<EventKind> {
    let flags = field(text, "flags")?.trim_end_matches(')');
    let flags =
        number(flags).unwrap_or_else(|| flags.split('|').map(contention_flag).fold(0, |all, one| all | one));
    Some(EventKind::ContentionBegin { lock: lock_address(text)?, flags: ContentionFlags(flags) })
}

fn contention_flag(name: &str) -> u32 {
    match name {
        "SPIN" => ContentionFlags::SPIN,
        "READ" => 0x02,
        "WRITE" => 0x04,
        "RT" => ContentionFlags::RT,
        "PERCPU" => 0x10,
        "MUTEX" => ContentionFlags::MUTEX,
        _ => 0,
    }
}

fn contention_end(text: &str) -> Option<EventKind> {
    let ret = signed(field(text, "ret")?)?;
    // Raw printing shows a negative int as 32 bits.
    let ret = i32::try_from(ret).or_else(|_| u32::try_from(ret).map(|bits| bits as i32)).ok()?;
    Some(EventKind::ContentionEnd { lock: lock_address(text)?, ret })
}

fn lock_address(text: &str) -> Option<u64> {
    address(field(text, "lock_addr").unwrap_or(text))
}

/// State -1 as an unsigned int is the exit from idle.
fn cpu_idle(text: &str) -> Option<EventKind> {
    let state = value::<u32>(text, "state")?;
    Some(EventKind::CpuIdle { state: (state != u32::MAX).then_some(state) })
}

/// `sig=24 errno=0 code=128 comm=NAME pid=17 grp=1 res=0`
fn signal(text: &str) -> Option<EventKind> {
    let (numbers, comm) = text.split_once("comm=")?;
    let (comm, rest) = comm.rsplit_once(" pid=")?;
    Some(EventKind::Signal(Signal {
        sig: value(numbers, "sig")?,
        code: field(numbers, "code").and_then(signed)?.try_into().ok()?,
        tid: tid(first_word(rest))?,
        comm: Comm::from(comm),
    }))
}

/// `perf_event_nmi_handler() delta_ns: 5290 handled: 1`, or raw `handler=.. delta_ns=5290 handled=1`.
fn nmi(text: &str) -> Option<EventKind> {
    let delta = text.split_once("delta_ns")?.1.trim_start_matches([':', '=']);
    Some(EventKind::Nmi { delta: nanoseconds(delta)? })
}

/// The text behind a `print` event's writer: `tracing_mark_write: text`, `0xffff..: text`,
/// or raw `ip=0xffff.. buf=text`.
fn printed(text: &str) -> &str {
    match text.starts_with("ip=").then(|| tail(text, "buf")).flatten() {
        Some(text) => text,
        None => text.split_once(':').map_or(text, |(_, text)| text.trim_start()),
    }
}

/// trace-cmd's `function: name <-- parent`; raw printing has addresses only.
fn traced_function(text: &str) -> EventKind {
    if text.starts_with("ip=") {
        return EventKind::Function { name: Symbol::default(), caller: Symbol::default() };
    }
    let caller = text.split_once("<--").map_or("", |(_, caller)| trim(caller));
    EventKind::Function { name: symbol(text), caller: symbol(caller) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_printed() {
        assert_eq!(number::<i32>("-1 success=1"), Some(-1));
        assert_eq!(number::<u32>("4294967295"), Some(u32::MAX));
        assert_eq!(number::<u64>("0x10"), Some(16));
        assert_eq!(number::<u32>("-1"), None);
        assert_eq!(number::<u32>(""), None);
        assert_eq!(address("00000000dc287626"), Some(0xdc287626));
        assert_eq!(address("+5"), None);
        assert_eq!(signed("18446744073709551612"), Some(-4));
    }
}
