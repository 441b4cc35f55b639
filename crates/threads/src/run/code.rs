//! The calls that make a program what a request asks for, in the right order, to be put into its source.

use super::error::RunError;
use super::request::RunRequest;
use std::fmt::Write;
use whylate_base::{CpuSet, Ns, Policy};
use whylate_sys::SchedParams;

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeLanguage {
    /// C, with glibc.
    C,
    /// Rust, with the crate libc.
    Rust,
    /// Python 3.
    Python,
}

/// The calls.
///
/// # Errors
/// If something is asked for that a program does not do for itself, or that this language has no call for.
pub fn code(request: &RunRequest, language: CodeLanguage) -> Result<String, RunError> {
    let outside = [
        (request.needs_parent(), "control groups, latency requests, interrupts and new threads"),
        (request.user.is_some(), "the user"),
        (!request.memory_nodes.is_empty(), "NUMA nodes"),
    ];
    if let Some((_, what)) = outside.iter().find(|(is_asked, _)| *is_asked) {
        return Err(RunError::Input(format!(
            "--print-code: {what} are set from outside the program: leave that option out"
        )));
    }
    let is_deadline = request.scheduling.is_some_and(|params| params.policy == Policy::Deadline);
    if is_deadline && language == CodeLanguage::Python {
        return Err(RunError::Input(
            "--print-code python: Python has no call for SCHED_DEADLINE: start it with `whylate run --deadline`".to_owned(),
        ));
    }
    Ok(match language {
        CodeLanguage::C => c(request),
        CodeLanguage::Rust => rust(request),
        CodeLanguage::Python => python(request),
    })
}

fn list(cpus: &CpuSet) -> String {
    cpus.iter().map(|cpu| cpu.to_string()).collect::<Vec<_>>().join(", ")
}

/// `struct sched_attr` as whylate fills it: fields 0 where the policy does not use them.
fn attributes(params: &SchedParams) -> (i64, i64, i64) {
    let ns = |time: Ns| time.0;
    params.deadline.map_or((0, 0, 0), |own| (ns(own.runtime), ns(own.deadline), ns(own.period)))
}

fn c(request: &RunRequest) -> String {
    let mut body = String::new();
    let mut call = |comment: &str, text: String| {
        let _ = write!(body, "    /* {comment} */\n{text}");
    };
    for limit in &request.limits {
        let value = limit.value().map_or("RLIM_INFINITY".to_owned(), |value| value.to_string());
        let name = format!("RLIMIT_{}", limit.name().to_ascii_uppercase());
        let text = format!(
            "    if (setrlimit({name}, &(struct rlimit){{ {value}, {value} }}))\n        return -1;\n"
        );
        call("limits first: the calls below may need them", text);
    }
    match &request.scheduling {
        Some(params) if params.policy == Policy::Deadline => {
            let (runtime, deadline, period) = attributes(params);
            let text = format!(
                "    struct {{\n        uint32_t size, policy;\n        uint64_t flags;\n        int32_t nice;\n        uint32_t priority;\n        \
                 uint64_t runtime, deadline, period;\n    }} attr = {{ .size = 48, .policy = 6 /* SCHED_DEADLINE */,\n               .flags = 1 \
                 /* SCHED_FLAG_RESET_ON_FORK */,\n               .runtime = {runtime}, .deadline = {deadline}, .period = {period} }};\n    if \
                 (syscall(SYS_sched_setattr, 0, &attr, 0))\n        return -1;\n"
            );
            call("priority before affinity", text);
        }
        Some(params) => {
            let (policy, priority) = (params.policy.constant(), params.priority);
            let mut text = format!(
                "    if (sched_setscheduler(0, {policy}, &(struct sched_param){{ .sched_priority = {priority} }}))\n        return -1;\n"
            );
            if params.policy == Policy::Other {
                let _ = write!(
                    text,
                    "    if (setpriority(PRIO_PROCESS, 0, {}))\n        return -1;\n",
                    params.nice
                );
            }
            call(
                "priority before affinity: pinned first, a busy CPU may never let this thread get here",
                text,
            );
        }
        None => {}
    }
    if let Some(cpus) = &request.cpus {
        let mut text = "    cpu_set_t cpus;\n    CPU_ZERO(&cpus);\n".to_owned();
        cpus.iter().for_each(|cpu| {
            let _ = writeln!(text, "    CPU_SET({cpu}, &cpus);");
        });
        text.push_str("    if (sched_setaffinity(0, sizeof cpus, &cpus))\n        return -1;\n");
        call("the CPUs of this thread, and of those it starts from now on", text);
    }
    if let Some(slack) = request.timer_slack {
        let text = format!("    if (prctl(PR_SET_TIMERSLACK, {}UL))\n        return -1;\n", slack.0);
        call("how much the kernel may delay timers; real-time threads have no slack", text);
    }
    if request.lock_memory {
        let text = "    if (mlockall(MCL_CURRENT | MCL_FUTURE))\n        return -1;\n".to_owned();
        call("no page faults from now on: needs CAP_IPC_LOCK or RLIMIT_MEMLOCK", text);
    }
    if let Some(bytes) = request.stack_prefault {
        let text = format!(
            "    volatile char stack[{bytes}];\n    for (size_t at = 0; at < sizeof stack; at += 4096)\n        stack[at] = 0;\n"
        );
        call("touch the stack once, before the real-time loop needs it", text);
    }
    format!(
        "#define _GNU_SOURCE\n#include <sched.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <sys/mman.h>\n#include <sys/prctl.h>\n\
         #include <sys/resource.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n\n/* Call it in the real-time thread before its loop. \
         0, or -1 with errno. */\nint become_realtime(void)\n{{\n{body}    return 0;\n}}\n"
    )
}

fn rust(request: &RunRequest) -> String {
    let mut body = String::new();
    let mut call = |comment: &str, text: String| {
        let _ = write!(body, "        // {comment}\n{text}");
    };
    for limit in &request.limits {
        let value = limit.value().map_or("libc::RLIM_INFINITY".to_owned(), |value| value.to_string());
        let name = format!("libc::RLIMIT_{}", limit.name().to_ascii_uppercase());
        let text = format!(
            "        done(libc::setrlimit({name}, &libc::rlimit {{ rlim_cur: {value}, rlim_max: {value} }}).into())?;\n"
        );
        call("limits first: the calls below may need them", text);
    }
    match &request.scheduling {
        Some(params) if params.policy == Policy::Deadline => {
            let (runtime, deadline, period) = attributes(params);
            let text = format!(
                "        // size, policy (SCHED_DEADLINE), flags (SCHED_FLAG_RESET_ON_FORK), nice and priority, times in ns\n        \
                 let attr: [u64; 6] = [48 | 6 << 32, 1, 0, {runtime}, {deadline}, {period}];\n        \
                 done(libc::syscall(libc::SYS_sched_setattr, 0, attr.as_ptr(), 0))?;\n"
            );
            call("priority before affinity (little-endian machines)", text);
        }
        Some(params) => {
            let (policy, priority) = (params.policy.constant(), params.priority);
            let mut text = format!(
                "        let param = libc::sched_param {{ sched_priority: {priority} }};\n        \
                 done(libc::sched_setscheduler(0, libc::{policy}, &param).into())?;\n"
            );
            if params.policy == Policy::Other {
                let _ = writeln!(
                    text,
                    "        done(libc::setpriority(libc::PRIO_PROCESS, 0, {}).into())?;",
                    params.nice
                );
            }
            call(
                "priority before affinity: pinned first, a busy CPU may never let this thread get here",
                text,
            );
        }
        None => {}
    }
    if let Some(cpus) = &request.cpus {
        let text = format!(
            "        let mut cpus: libc::cpu_set_t = std::mem::zeroed();\n        for cpu in [{}] {{\n            \
             libc::CPU_SET(cpu, &mut cpus);\n        }}\n        \
             done(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &cpus).into())?;\n",
            list(cpus)
        );
        call("the CPUs of this thread, and of those it starts from now on", text);
    }
    if let Some(slack) = request.timer_slack {
        let text = format!(
            "        done(libc::prctl(libc::PR_SET_TIMERSLACK, {} as libc::c_ulong).into())?;\n",
            slack.0
        );
        call("how much the kernel may delay timers; real-time threads have no slack", text);
    }
    if request.lock_memory {
        let text = "        done(libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE).into())?;\n".to_owned();
        call("no page faults from now on: needs CAP_IPC_LOCK or RLIMIT_MEMLOCK", text);
    }
    if let Some(bytes) = request.stack_prefault {
        let text = format!(
            "        let mut stack = [0u8; {bytes}];\n        for at in (0..stack.len()).step_by(4096) {{\n            \
             std::ptr::write_volatile(&mut stack[at], 0);\n        }}\n"
        );
        call("touch the stack once, before the real-time loop needs it", text);
    }
    format!(
        "use std::io;\n\n/// Call it in the real-time thread before its loop.\nfn become_realtime() -> io::Result<()> {{\n    \
         let done = |result: i64| if result < 0 {{ Err(io::Error::last_os_error()) }} else {{ Ok(()) }};\n    \
         // SAFETY: every pointer is of a local variable that lives through its call.\n    unsafe {{\n{body}    }}\n    Ok(())\n}}\n"
    )
}

fn python(request: &RunRequest) -> String {
    let mut body = String::new();
    let mut call = |comment: &str, text: String| {
        let _ = write!(body, "    # {comment}\n{text}");
    };
    for limit in &request.limits {
        let value = limit.value().map_or("resource.RLIM_INFINITY".to_owned(), |value| value.to_string());
        let name = format!("resource.RLIMIT_{}", limit.name().to_ascii_uppercase());
        call(
            "limits first: the calls below may need them",
            format!("    resource.setrlimit({name}, ({value}, {value}))\n"),
        );
    }
    if let Some(params) = &request.scheduling {
        let (policy, priority) = (params.policy.constant(), params.priority);
        let mut text = format!("    os.sched_setscheduler(0, os.{policy}, os.sched_param({priority}))\n");
        if params.policy == Policy::Other {
            let _ = writeln!(text, "    os.setpriority(os.PRIO_PROCESS, 0, {})", params.nice);
        }
        call("priority before affinity: pinned first, a busy CPU may never let this thread get here", text);
    }
    if let Some(cpus) = &request.cpus {
        let text = format!("    os.sched_setaffinity(0, {{{}}})\n", list(cpus));
        call("the CPUs of this thread, and of those it starts from now on", text);
    }
    let libc = "ctypes.CDLL(None, use_errno=True)";
    let check = "        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))\n";
    if let Some(slack) = request.timer_slack {
        let text =
            format!("    if {libc}.prctl(29, ctypes.c_ulong({})):  # PR_SET_TIMERSLACK\n{check}", slack.0);
        call("how much the kernel may delay timers; real-time threads have no slack", text);
    }
    if request.lock_memory {
        let text = format!("    if {libc}.mlockall(3):  # MCL_CURRENT | MCL_FUTURE\n{check}");
        call("no page faults from now on: needs CAP_IPC_LOCK or RLIMIT_MEMLOCK", text);
    }
    if request.stack_prefault.is_some() {
        call(
            "the interpreter's stack is not this code's to touch: with locked memory each of its pages still faults once",
            String::new(),
        );
    }
    let modules =
        ["ctypes", "os", "resource"].into_iter().filter(|module| body.contains(&format!("{module}.")));
    let imports: String = modules.map(|module| format!("import {module}\n")).collect();
    if body.is_empty() {
        body.push_str("    pass\n");
    }
    format!(
        "{imports}\n\ndef become_realtime():\n    \"\"\"Call it in the real-time thread before its loop.\"\"\"\n{body}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priority_comes_before_affinity_and_locks_come_last() {
        let request = RunRequest {
            limits: vec!["rtprio=50".parse().expect("a limit")],
            scheduling: Some(SchedParams::fifo(50)),
            cpus: "2-3".parse().ok(),
            lock_memory: true,
            ..RunRequest::default()
        };
        for language in [CodeLanguage::C, CodeLanguage::Rust, CodeLanguage::Python] {
            let text = code(&request, language).expect("code");
            let at = |word: &str| text.find(word).unwrap_or_else(|| panic!("{word}: {text}"));
            let order =
                [at("setrlimit("), at("sched_setscheduler("), at("sched_setaffinity("), at("mlockall(")];
            assert!(order.is_sorted(), "{text}");
        }
    }

    #[test]
    fn what_a_program_cannot_do_for_itself_is_refused() {
        let request = RunRequest { dma_latency_us: Some(0), ..RunRequest::default() };
        assert!(code(&request, CodeLanguage::C).is_err());
        let request = RunRequest { user: Some("daemon".to_owned()), ..RunRequest::default() };
        assert!(code(&request, CodeLanguage::C).is_err());
    }
}
