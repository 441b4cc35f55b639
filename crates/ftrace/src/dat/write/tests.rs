//! Files written from pages made here, read back by our own reader, and by trace-cmd
//! where it is installed.

use super::*;
use crate::dat::TraceFile;
use crate::dat::stacks::tests::sample_stacks;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::io::Cursor;
use std::process::Command;
use whylate_events::{EventSource, KindSet};

/// The id of `print` in [`description`].
const PRINT: u16 = 5;

fn header_page() -> String {
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
     \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
     \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
     \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n"
        .to_owned()
}

const COMMON: &str = "format:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
    \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
    \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
    \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

fn description(page_size: usize) -> Description {
    let print = format!(
        "name: print\nID: {PRINT}\n{COMMON}\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n\
         \tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n\nprint fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n"
    );
    let other = |group: &str, name: &str, id: u32| EventFormat {
        group: group.to_owned(),
        text: format!(
            "name: {name}\nID: {id}\n{COMMON}\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"x=%d\", REC->x\n"
        ),
    };
    Description {
        page_size,
        header_page: header_page(),
        header_event: "# compressed entry header\n".to_owned(),
        ftrace_formats: vec![print],
        event_formats: vec![
            other("one", "first", 101),
            other("one", "second", 102),
            other("two", "third", 103),
        ],
        kernel_symbols: Some("ffffffff81000000 T marker_function\nffffffff81001000 T another\n".to_owned()),
        printk_formats: Some("0xffffffff82000000 : \"hello\"\n".to_owned()),
        thread_names: "7 seven of nine\n4194304 last\n".to_owned(),
        clock: "local global [mono]".to_owned(),
        uname: "Linux host 6.1.0-test x86_64".to_owned(),
        cpus: 3,
        stacks: None,
    }
}

/// A page with `print` events of thread 7 at these times, each with its own time as text.
fn page(size: usize, times: &[u64]) -> Vec<u8> {
    let mut data = Vec::new();
    let mut last = times.first().copied().unwrap_or(0);
    for &time in times {
        let text = format!("at {time}\n\0");
        let words = (16 + text.len()).div_ceil(4);
        data.extend(((words as u32) | ((time - last) as u32) << 5).to_ne_bytes());
        let end = data.len() + words * 4;
        data.extend(PRINT.to_ne_bytes());
        data.extend([0, 0]);
        data.extend(7u32.to_ne_bytes());
        data.extend(0xffff_ffff_8100_0010u64.to_ne_bytes());
        data.extend(text.as_bytes());
        data.resize(end, 0);
        last = time;
    }
    let mut page = times.first().copied().unwrap_or(0).to_ne_bytes().to_vec();
    page.extend((data.len() as u64).to_ne_bytes());
    page.extend(data);
    assert!(page.len() <= size, "too many events for a page");
    page.resize(size, 0);
    page
}

fn cpu<'a>(cpu: u32, pages: &'a [Vec<u8>]) -> CpuPages<'a> {
    let pages = Pages::Memory(pages.iter().map(Vec::as_slice).collect());
    CpuPages { cpu: Cpu(cpu), pages, stats: "entries: 0\noverrun: 0\n" }
}

/// Time, CPU and buffer of every event of a file.
fn read_back(bytes: Vec<u8>) -> Vec<(i64, u32, usize)> {
    let file = TraceFile::from_bytes(bytes).expect("a file of ours opens");
    assert_eq!(file.info().damage, []);
    let mut events = file.raw_events();
    let mut found = Vec::new();
    while let Some(event) = events.next() {
        assert_eq!(event.text("buf"), Some(format!("at {}\n", event.ts.0).as_bytes()));
        found.push((event.ts.0, event.cpu.0, event.buffer));
    }
    found
}

fn three_cpus<'a>(main: &'a [Vec<Vec<u8>>], threads: &'a [Vec<u8>]) -> [Buffer<'a>; 2] {
    let cpus = main.iter().enumerate().map(|(index, pages)| cpu(index as u32, pages)).collect();
    [
        Buffer { name: "", clock: "mono", cpus },
        Buffer { name: "threads", clock: "mono", cpus: vec![cpu(2, threads)] },
    ]
}

#[test]
fn what_is_written_is_read_back() {
    for size in [4096, 8192, 65536] {
        let main = [vec![page(size, &[1000, 1100]), page(size, &[3000])], vec![], vec![page(size, &[2000])]];
        let threads = [page(size, &[1500, 2500])];
        let mut out = Cursor::new(Vec::new());
        let bytes = write(&mut out, &description(size), &three_cpus(&main, &threads)).expect("written");
        assert_eq!(bytes, out.get_ref().len() as u64);
        let file = TraceFile::from_bytes(out.get_ref().clone()).expect("opens");
        assert_eq!(file.version(), 7);
        assert_eq!(file.info().clock.as_deref(), Some("mono"));
        assert_eq!(file.comm(whylate_base::Tid(7)), Some("seven of nine"));
        for data in file.buffers().iter().flat_map(|buffer| &buffer.cpus) {
            assert_eq!(data.offset % size as u64, 0, "pages are aligned");
        }
        let expected = [(1000, 0, 0), (1100, 0, 0), (1500, 2, 1), (2000, 2, 0), (2500, 2, 1), (3000, 0, 0)];
        assert_eq!(read_back(out.into_inner()), expected);
    }
}

#[test]
fn pages_in_a_file_give_the_same_bytes() {
    let main = [vec![page(4096, &[1000]), page(4096, &[3000])], vec![], vec![page(4096, &[2000])]];
    let mut from_memory = Cursor::new(Vec::new());
    write(&mut from_memory, &description(4096), &three_cpus(&main, &[])).expect("written");

    let files: Vec<File> = main
        .iter()
        .map(|pages| {
            let mut file = tempfile::tempfile().expect("file");
            pages.iter().for_each(|page| file.write_all(page).expect("page"));
            // What is beyond the given bytes is not part of them.
            file.write_all(b"more").expect("tail");
            file
        })
        .collect();
    let mut buffers = three_cpus(&main, &[]);
    for (cpu, file) in buffers[0].cpus.iter_mut().zip(&files) {
        cpu.pages = Pages::File { file, bytes: cpu.pages.bytes() };
    }
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("a.dat");
    write_file(&path, &description(4096), &buffers).expect("written");
    let expected = from_memory.into_inner();
    assert!(std::fs::read(&path).expect("read") == expected);
    for (cpu, file) in buffers[0].cpus.iter_mut().zip(&files) {
        cpu.pages = Pages::Spool { file, bytes: cpu.pages.bytes() };
    }
    write_file(&path, &description(4096), &buffers).expect("written");
    assert!(std::fs::read(&path).expect("read") == expected);
    // The blocks of the pages are free again; only what is beyond them is left.
    let left = |file: &File| std::os::unix::fs::MetadataExt::blocks(&file.metadata().expect("there"));
    assert!(files.iter().all(|file| left(file) <= 8), "{:?}", files.iter().map(left).collect::<Vec<_>>());
}

#[test]
fn a_failed_write_leaves_what_was_there() {
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("a.dat");
    std::fs::write(&path, "before").expect("write");
    let half = [vec![0; 100]];
    let buffers = [Buffer { name: "", clock: "mono", cpus: vec![cpu(0, &half)] }];
    let error = write_file(&path, &description(4096), &buffers).expect_err("half a page");
    let cause = std::error::Error::source(&error).expect("a cause").to_string();
    assert!(cause.contains("100 bytes are not whole pages"), "{cause}");
    let short = tempfile::tempfile().expect("file");
    let pages = Pages::File { file: &short, bytes: 4096 };
    let buffers =
        [Buffer { name: "", clock: "mono", cpus: vec![CpuPages { cpu: Cpu(0), pages, stats: "" }] }];
    assert!(write_file(&path, &description(4096), &buffers).is_err(), "a file that is too short");
    assert_eq!(std::fs::read(&path).expect("read"), b"before");
    assert_eq!(std::fs::read_dir(directory.path()).expect("list").count(), 1, "no other file is left");

    for bad in [directory.path().to_owned(), directory.path().join("none/a.dat"), "/dev/null".into()] {
        assert!(write_file(&bad, &description(4096), &[]).is_err(), "{}", bad.display());
    }
}

#[test]
fn a_cut_costs_the_cut_pages_only() {
    let main = [vec![page(4096, &[1000, 1100]), page(4096, &[3000])], vec![], vec![page(4096, &[2000])]];
    let threads = [page(4096, &[1500, 2500]), page(4096, &[2600])];
    let mut out = Cursor::new(Vec::new());
    write(&mut out, &description(4096), &three_cpus(&main, &threads)).expect("written");
    let whole = out.into_inner();
    let all = read_back(whole.clone());
    // In the file's order: CPU 0, CPU 2, the head of the second section, the threads' CPU 2.
    for (pages_lost, left) in [(0, 7), (1, 6), (2, 4), (3, 4), (4, 3), (5, 2)] {
        let cut = whole.len() - pages_lost * 4096;
        let file = TraceFile::from_bytes(whole[..cut].to_vec()).expect("opens");
        assert_eq!(file.info().damage.is_empty(), pages_lost == 0, "{:?}", file.info().damage);
        let mut events = file.raw_events();
        let mut found = Vec::new();
        while let Some(event) = events.next() {
            found.push((event.ts.0, event.cpu.0, event.buffer));
        }
        assert_eq!(found.len(), left, "{pages_lost} pages lost");
        assert!(found.iter().all(|event| all.contains(event)));
    }
}

#[test]
fn a_link_is_written_through() {
    let directory = tempfile::tempdir().expect("directory");
    let (target, link) = (directory.path().join("target"), directory.path().join("link"));
    std::fs::write(&target, "").expect("write");
    std::os::unix::fs::symlink(&target, &link).expect("link");
    write_file(&link, &description(4096), &three_cpus(&[], &[])).expect("written");
    assert!(link.is_symlink() && TraceFile::open(&target).is_ok());
    // A new file is not for others: it has the addresses of the kernel's functions.
    let new = directory.path().join("new");
    write_file(&new, &description(4096), &three_cpus(&[], &[])).expect("written");
    let mode = std::os::unix::fs::MetadataExt::mode(&new.metadata().expect("there"));
    assert_eq!(mode & 0o7777, 0o600);
}

fn with_stacks() -> Description {
    Description { stacks: Some(Arc::new(sample_stacks())), ..description(4096) }
}

#[test]
fn stacks_stand_behind_the_pages_and_a_cut_costs_them_first() {
    let main = [vec![page(4096, &[1_000_000, 1_100_000])], vec![], vec![page(4096, &[2_000_000])]];
    let write = |description: &Description| {
        let mut out = Cursor::new(Vec::new());
        write(&mut out, description, &three_cpus(&main, &[])).expect("written");
        out.into_inner()
    };
    let whole = write(&with_stacks());
    let events = |bytes: &[u8]| {
        let mut events = TraceFile::from_bytes(bytes.to_vec()).expect("opened").events(KindSet::ALL);
        let mut count = 0;
        while events.next_event().is_some() {
            count += 1;
        }
        (count, events.info().clone())
    };
    let (count, info) = events(&whole);
    assert_eq!((count, info.damage), (3, Vec::new()));
    assert_eq!(info.stacks.as_deref(), Some(&sample_stacks()));
    let without = write(&description(4096));
    let (_, info) = events(&without);
    assert_eq!(info.stacks, None);
    for end in without.len()..whole.len() {
        let (count, info) = events(&whole[..end]);
        assert_eq!((count, info.stacks), (3, None), "{end}");
    }
    // The section's bytes are damaged, and the events are not.
    let mut damaged = whole.clone();
    damaged[without.len() + 40] ^= 0xff;
    let (count, info) = events(&damaged);
    assert_eq!((count, info.stacks), (3, None));
    assert!(info.damage.iter().any(|damage| damage.what.contains("no line of code")), "{:?}", info.damage);
}

#[test]
fn trace_cmd_reads_it() {
    if !whylate_testing::has_program("trace-cmd") {
        return;
    }
    let main = [
        vec![page(4096, &[1_000_000, 1_100_000]), page(4096, &[3_000_000])],
        vec![],
        vec![page(4096, &[2_000_000])],
    ];
    let threads = [page(4096, &[1_500_000])];
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("a.dat");
    write_file(&path, &with_stacks(), &three_cpus(&main, &threads)).expect("written");
    let report = Command::new("trace-cmd").args(["report", "-t"]).arg(&path).output().expect("trace-cmd");
    let text = String::from_utf8_lossy(&report.stdout).into_owned();
    let events: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.contains("print:"))
        .map(|line| line.split_ascii_whitespace().collect())
        .collect();
    let errors = String::from_utf8_lossy(&report.stderr);
    assert_eq!(events.len(), 5, "{text}{errors}");
    assert!(text.contains("seven of nine-7"), "{text}");
    assert!(events[2][0] == "threads:" && events[2].ends_with(&["at", "1500000"]), "{text}");
    assert!(text.contains("marker_function: at 3000000"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(0x7761_6b65), ..ProptestConfig::default() })]

    #[test]
    fn any_pages_come_back(cpus in prop::collection::vec(prop::collection::vec(prop::collection::vec(0u64..1_000_000, 1..20), 0..6), 1..5)) {
        // A CPU's events are in order, and no two have the same time.
        let mut all = Vec::new();
        let mut pages = Vec::new();
        for (index, deltas) in cpus.iter().enumerate() {
            let mut time = index as u64;
            let mut of_cpu = Vec::new();
            for deltas in deltas {
                let times: Vec<u64> = deltas.iter().map(|delta| { time += 5 * (delta + 1); time }).collect();
                all.extend(times.iter().map(|&time| (time as i64, index as u32, 0)));
                of_cpu.push(page(4096, &times));
            }
            pages.push(of_cpu);
        }
        all.sort_unstable();
        let cpus = pages.iter().enumerate().map(|(index, pages)| cpu(index as u32, pages)).collect();
        let mut out = Cursor::new(Vec::new());
        write(&mut out, &description(4096), &[Buffer { name: "", clock: "mono", cpus }]).expect("written");
        prop_assert_eq!(read_back(out.into_inner()), all);
    }
}
