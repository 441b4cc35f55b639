//! Registers, stacks and call frame information of any content.

use crate::program::{Waiting, compile, line, named};
use proptest::prelude::*;
use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::process;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use whylate_base::Tid;
use whylate_stacks::{MOST_FRAMES, Mapping, Unwinder, UserRegisters, UserStack};

const PID: Tid = Tid(1);

/// An unwinder with this test's own mappings, and the ranges of its code.
fn this_process() -> (Unwinder, Tid) {
    let mut unwinder = Unwinder::new();
    let pid = Tid(process::id() as i32);
    unwinder.read_maps(pid).expect("this process");
    (unwinder, pid)
}

fn code_of_this_process() -> Vec<std::ops::Range<u64>> {
    let maps = fs::read_to_string("/proc/self/maps").expect("readable");
    let lines = maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|mode| mode.contains('x')));
    let number = |text: &str| u64::from_str_radix(text, 16).expect("hexadecimal");
    lines
        .map(|line| line.split_once(' ').and_then(|(range, _)| range.split_once('-')).expect("a range"))
        .map(|(start, end)| number(start)..number(end))
        .collect()
}

/// Words as a stack may have them: addresses of code, of the stack itself, and anything.
fn words(code: Vec<std::ops::Range<u64>>, stack: u64) -> impl Strategy<Value = Vec<u64>> {
    let code = proptest::sample::select(code).prop_flat_map(|range| range);
    let word = prop_oneof![code, (stack..stack.saturating_add(4096)), any::<u64>(), Just(u64::MAX), Just(0)];
    prop::collection::vec(word, 0..400)
}

const STACK: u64 = 0x7ffc_0000_0000;

#[test]
fn any_registers_and_any_stack_are_survived() {
    let (unwinder, pid) = this_process();
    let unwinder = RefCell::new(unwinder);
    let code = code_of_this_process();
    let start = prop_oneof![Just(STACK), any::<u64>(), Just(u64::MAX - 64)];
    let input = (words(code.clone(), STACK), words(code, STACK), 0usize..8, start);
    proptest!(ProptestConfig::with_cases(100), |((stack, registers, cut, start) in input)| {
        let mut unwinder = unwinder.borrow_mut();
        let mut bytes: Vec<u8> = stack.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.truncate(bytes.len().saturating_sub(cut));
        let register = |at: usize| registers.get(at).copied().unwrap_or(0);
        for sp in [start, register(1)] {
            let registers = UserRegisters { ip: register(0), sp, fp: register(2), lr: register(3), saved: [0; 5] };
            let addresses = unwinder.unwind(pid, &registers, &UserStack { start, bytes: &bytes });
            prop_assert_eq!(addresses[0], registers.ip);
            prop_assert!(addresses.len() <= MOST_FRAMES);
            for &address in &addresses[1..] {
                prop_assert!(unwinder.locate(pid, address).module.is_some(), "{:#x} is no code", address);
            }
        }
    });
}

#[test]
fn damaged_call_frame_information_is_survived() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("wait");
    let Some(waiting) = compile("wait.c", &[], &program).and_then(|()| Waiting::start(&program)) else {
        return;
    };
    let good = fs::read(&program).expect("the program");
    let maps = fs::read_to_string(format!("/proc/{}/maps", waiting.pid())).expect("a running child");
    let own = maps.lines().find(|line| line.contains("r-xp") && line.ends_with("/wait")).expect("its code");
    let words: Vec<&str> = own.split_whitespace().collect();
    let number = |text: &str| u64::from_str_radix(text, 16).expect("hexadecimal");
    let (start, end) = words[0].split_once('-').expect("a range");
    let mapping = Mapping {
        start: number(start),
        length: number(end) - number(start),
        file_offset: number(words[2]),
        inode: 0,
        path: PathBuf::new(),
    };
    // The call frame information is behind the code, before the data: both are damaged all over.
    let from = mapping.file_offset as usize;
    let damaged = directory.path().join("damaged");
    proptest!(ProptestConfig::with_cases(100), |(damage in prop::collection::vec((from..good.len(), any::<u8>()), 1..60))| {
        let mut bytes = good.clone();
        for (at, byte) in damage {
            bytes[at] = byte;
        }
        fs::write(&damaged, &bytes).expect("writable");
        let mut unwinder = Unwinder::new();
        unwinder.mapped(PID, &Mapping { path: damaged.clone(), ..mapping.clone() });
        // Each stack begins at another of the functions that called each other.
        let mut registers = waiting.registers();
        for word in waiting.stack().bytes.chunks_exact(8).take(200) {
            registers.ip = u64::from_ne_bytes(word.try_into().expect("8 bytes"));
            prop_assert!(unwinder.unwind(PID, &registers, &waiting.stack()).len() <= MOST_FRAMES);
        }
    });
}

#[test]
fn an_expression_without_end_ends_the_stack() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("endless");
    let Some(waiting) = compile("endless.c", &[], &program).and_then(|()| Waiting::start(&program)) else {
        return;
    };
    let (sender, frames) = mpsc::channel();
    thread::spawn(move || {
        let (stacks, files) = waiting.recorded();
        sender.send(named(stacks, &files, &[]).0)
    });
    let frames = frames.recv_timeout(Duration::from_secs(60)).expect("it is unwound");
    let line = line("endless.c", "wait_for_input").expect("marked");
    assert_eq!(frames.last(), Some(&format!("wait_for_input endless.c:{line}")), "{frames:?}");
    assert!(frames.len() > 1, "{frames:?}");
}
