//! Slept by a call of its own in the middle of its work: between two markers, until another thread reads what it writes, until a
//! child runs another program, until a thread answers, or until what it waits for in its period comes.

use super::advised::{Advised, ITS_PROGRAM, all_by_hand};
use super::grace_period;
use super::info::{
    Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, ShownBy, Usual, page,
};
use crate::model::Culprit;
use crate::timeline::sleeps::{Asked, Itself};
use crate::timeline::spent::Within;
use whylate_base::AdvisedFix;

/// Calls that wait for room in a socket.
const SENDS: [&str; 3] = ["sendto", "sendmsg", "sendmmsg"];
/// The call that waits for the other side to take a connection.
const CONNECT: &str = "connect";
/// Calls that wait for room in a pipe, a socket or a queue of messages; or, of a file, for the program that serves it.
const WRITES: [&str; 6] = ["write", "writev", "pwrite64", "pwritev", "mq_timedsend", "msgsnd"];
/// Calls on files that a program may serve.
const FILES: [&str; 11] = [
    "open",
    "openat",
    "openat2",
    "close",
    "read",
    "readv",
    "pread64",
    "preadv",
    "statx",
    "newfstatat",
    "fsync",
];
/// Calls that wait for input.
const READS: [&str; 16] = [
    "read",
    "readv",
    "recvfrom",
    "recvmsg",
    "recvmmsg",
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "accept",
    "accept4",
    "mq_timedreceive",
    "msgrcv",
];
/// Those that read from a socket.
const RECEIVES: [&str; 3] = ["recvfrom", "recvmsg", "recvmmsg"];
/// The work item in which a terminal takes what its other side wrote: that lets stopped output go on (`drivers/tty/tty_buffer.c`).
const TERMINAL_INPUT: &str = "flush_to_ldisc";
/// Calls that wait for a child.
const CHILDREN: [&str; 5] = ["wait4", "waitid", "vfork", "clone", "clone3"];

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "own-wait",
    page: page!("own-wait"),
    group: CauseGroup::OwnProgram,
    blames: Blames::LateThread,
    why,
    advice,
    details: Details {
        evidence,
        name_on_time: Some("its own waits"),
        usual: Usual::Mean,
        shown_by: ShownBy::Blocking,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, charged, .. } = late;
    let place = late.slept_in.map_or_else(|| "a call of its own".to_owned(), Within::place);
    match late.culprit {
        None if late.grace_period => grace_period::why(late, &place),
        Some(by) if late.asked == Some(Asked::Fault) => {
            format!("{thread} waited {charged} in a page fault, until {by} woke it")
        }
        Some(by) if late.asked == Some(Asked::Filter) => {
            format!(
                "a filter (seccomp) leaves a system call to {by}: {thread} waited {charged} until that woke it"
            )
        }
        Some(by) if late.asked == Some(Asked::Device) => {
            format!(
                "{thread} waited {charged} for a block device that is a program, {by}, which it woke for that"
            )
        }
        Some(by) => {
            let item = late.work_item.map_or_else(String::new, |(function, queued_by)| match queued_by {
                Some(other) => format!(" in the work item {function}, which {other} had queued"),
                None => format!(" in the work item {function}"),
            });
            format!("{thread} waited {charged} in {place}, until {by} woke it{item}")
        }
        None => format!("{thread} slept {charged} in {place}"),
    }
}

fn evidence(time: &ChargedTime) -> String {
    match &time.culprit {
        Some(by) => format!("slept {}, until {by} let it go on", time.length),
        None => format!("slept {}", time.length),
    }
}

/// What to do about a wait for the answer of another thread.
fn advice_on_answers(
    of: &Advised<'_>,
    asked: Asked,
    server: &Culprit,
    behind: Option<&Culprit>,
) -> Vec<AdvisedFix> {
    let mut fixes = Vec::new();
    if let Some(behind) = behind {
        let of = Advised { by: Some(behind), by_own: None, carrier: Some(server), ..*of };
        fixes.push(of.carrier_raised("the thread that answers", ""));
        fixes.push(of.culprit_moved());
    } else {
        let command = server.command();
        let find = match of.answerer_itself {
            Some(Itself::Slept) => format!(
                "let {server} answer before it sleeps, or find what it sleeps for: its own timer ended that sleep ({command})"
            ),
            Some(Itself::Ran) => {
                format!("let {server} do less before it answers: its own code ran ({command}, or --chains)")
            }
            None => format!("find what kept {server} from its answer: {command}, or --chains"),
        };
        fixes.push(AdvisedFix::by_hand(find, ITS_PROGRAM));
    }
    let not_in_the_loop = match asked {
        Asked::Message => {
            "do not wait for the answer in the loop: take it when it is there, in the next period"
        }
        Asked::Call => {
            "make the call before the loop, or in a thread of its own: of a file system that a program serves or watches (FUSE, \
             fanotify), open and read its files there"
        }
        Asked::Fault => {
            "touch the memory that the loop uses before it begins, so that the thread that brings its pages (userfaultfd) has \
             brought them"
        }
        Asked::Filter => {
            "make the call before the loop, or in a thread of its own: a filter leaves it to a program (seccomp)"
        }
        Asked::Device => {
            "read and write the device before the loop, or in a thread of its own: its requests are done by a program (nbd)"
        }
    };
    fixes.push(AdvisedFix::by_hand(not_in_the_loop, ITS_PROGRAM));
    fixes
}

/// What to do about a wait in the handler of a signal.
fn advice_on_handlers(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let by = of.the_culprit();
    all_by_hand(
        ITS_PROGRAM,
        &[
            &format!("find why {by} stops it: a language runtime stops all threads so to collect garbage"),
            "of a runtime: allocate less, collect while the loop may be late, or run the loop in a thread that the runtime does not know",
            "otherwise do not wait in the handler of a signal",
        ],
    )
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    if let Some((asked, by)) = of.asked.zip(of.by) {
        let (server, behind) = of.answerer.unwrap_or((by, None));
        return advice_on_answers(of, asked, server, behind);
    }
    if of.in_handler {
        return advice_on_handlers(of);
    }
    if of.grace_period && of.by.is_none() {
        return grace_period::advice(of);
    }
    let wait = match (of.by, of.call) {
        (Some(_), _) if let Some((function, Some(other))) = of.work_item => {
            format!("find what {other} did as it queued the work item {function}: {}, or --chains", other.command())
        }
        (Some(_), _) if let Some((function, None)) = of.work_item => {
            format!("find what queues the work item {function}: whylate explain --chains")
        }
        (Some(by), _) => {
            format!("find what {by} did before it woke the thread: {}, or --chains", by.command())
        }
        (None, Some(call)) if SENDS.contains(&call) => {
            "no thread ended the wait: a socket has room again as its packets leave; look at the queue of the device (tc -s qdisc), \
             where a limit of its rate (tbf, htb) holds them back"
                .to_owned()
        }
        (None, Some(call)) if READS.contains(&call) => {
            "no thread of this machine ended the wait: look at the other end (a device, another machine), at packets that were lost \
             (nstat TcpRetransSegs), and at the timeout of the call"
                .to_owned()
        }
        (None, Some(call)) => format!("find what ends the wait in {call}: whylate explain --chains, or its manual page"),
        (None, None) => "find the call that sleeps: record --stacks shows its line".to_owned(),
    };
    let is = |calls: &[&str]| of.call.is_none_or(|call| calls.contains(&call));
    let of_terminal = of.work_item.is_some_and(|(function, _)| function.as_str() == TERMINAL_INPUT);
    let mut fixes = vec![wait.as_str()];
    if of_terminal {
        fixes.push(
            "of a terminal whose output was stopped (Ctrl-S) until the other side let it go on (Ctrl-Q): switch that off (stty -ixon), \
             or leave the output to a thread of its own",
        );
    } else if is(&SENDS) || is(&WRITES) {
        fixes.push(
            "of a pipe or a socket that is full: write without waiting (O_NONBLOCK), or leave the output to a thread of its own",
        );
    }
    if of.call == Some(CONNECT) {
        fixes.push(
            "connect before the loop, and keep the connection: a server whose queue of new ones is full (listen(2)) takes no more \
             until it accepts, and one on another machine takes a round trip",
        );
    }
    if of.call.is_some() && is(&READS) {
        fixes.push("do not wait for a reply in the loop: take it when it is there, in the next period");
    }
    if of.call.is_some() && is(&RECEIVES) {
        fixes.push(
            "over TCP send each request by one call, and set TCP_NODELAY: a second small one waits for the acknowledgement of the \
             first, up to 40 ms",
        );
    }
    if is(&FILES) {
        fixes.push(
            "of a file system that a program serves (FUSE): open and read its files before the loop, or in a thread of its own",
        );
    }
    if is(&CHILDREN) {
        fixes.push(
            "of a child that it starts (vfork, posix_spawn): start it before, or from a thread of its own",
        );
    }
    // A call of none of these kinds has no advice yet.
    if of.call.is_none() || fixes.len() == 1 {
        fixes.push("leave waits out of what the markers enclose, where they are meant");
    }
    let Some((_, Some(behind))) = of.answerer else { return all_by_hand(ITS_PROGRAM, &fixes) };
    // What kept the child is known.
    let mut fixes = all_by_hand(ITS_PROGRAM, &fixes[1..]);
    fixes.push(Advised { by: Some(behind), by_own: None, ..*of }.culprit_moved());
    fixes
}
