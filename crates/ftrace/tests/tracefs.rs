//! The tracefs session on this machine's kernel. Needs root and tracefs; reports a skip and
//! passes where there is neither.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use whylate_ftrace::dat::TraceFile;
use whylate_ftrace::dat::write::{Buffer, CpuPages, Pages, write_file};
use whylate_ftrace::tracefs::{
    Instance, OnFull, ProbeEvent, Tracefs, TracefsError, remove_stale, wait_for_pages,
};
use whylate_testing::{Need, skip};

/// Tracefs, where this user may make an instance in it.
fn tracefs_available() -> Option<Tracefs> {
    let tried = Tracefs::open().and_then(|tracefs| Instance::create(&tracefs).map(|_| tracefs));
    tried.map_err(|error| skip(Need::Tracefs, error)).ok()
}

/// Every CPU's pages of an instance that is switched off.
fn pages_of(instance: &Instance) -> Vec<(whylate_base::Cpu, Vec<Vec<u8>>, String)> {
    let size = instance.page_layout().expect("layout").size;
    let cpus = instance.cpus().expect("cpus");
    let read = |cpu| {
        let mut reader = instance.open_pages(cpu).expect("reader");
        let mut pages = Vec::new();
        let mut page = vec![0; size];
        while reader.read_page(&mut page).expect("page").is_some() {
            pages.push(page.clone());
        }
        (cpu, pages, instance.stats(cpu).expect("stats").1)
    };
    cpus.into_iter().map(read).collect()
}

/// How many events a file of these pages has, by our reader.
fn events_in(instance: &Instance, path: &Path) -> u64 {
    let description = instance.describe(&["sched:sched_switch".to_owned()], true).expect("description");
    let pages = pages_of(instance);
    let cpus = pages
        .iter()
        .map(|(cpu, pages, stats)| CpuPages {
            cpu: *cpu,
            pages: Pages::Memory(pages.iter().map(Vec::as_slice).collect()),
            stats,
        })
        .collect();
    write_file(path, &description, &[Buffer { name: "", clock: "mono", cpus }]).expect("file");
    let file = TraceFile::open(path).expect("opens");
    let mut events = file.raw_events();
    let mut count = 0;
    while let Some(event) = events.next() {
        assert!(event.format.is_some(), "event id {} has no format", event.id);
        count += 1;
    }
    count
}

#[test]
fn an_instance_is_set_up_read_and_removed() {
    let Some(tracefs) = tracefs_available() else { return };
    let mut instance = Instance::create(&tracefs).expect("instance");
    let path = instance.path().to_owned();
    assert!(path.is_dir());
    instance.set_clock("mono").expect("clock");
    assert_eq!(instance.clocks().expect("clocks").1, "mono");
    instance.set_on_full(OnFull::Stop).expect("option");
    assert_eq!(instance.read("options/overwrite").expect("option"), "0\n");
    instance.set_buffer_kib(256).expect("size");
    instance.enable("sched:sched_switch").expect("event");
    instance.set_filter("sched:sched_switch", "prev_pid >= 0").expect("filter");
    assert!(instance.set_filter("sched:sched_switch", "nonsense >").is_err());
    for missing in ["sched:no_such_event", "", "sched:", ":", "..:sched", "sched:..", "sched/sched_switch"] {
        let error = instance.enable(missing).expect_err(missing);
        assert!(matches!(error, TracefsError::NoSuchEvent { .. }), "{missing}: {error}");
    }
    instance.mark("before it is on").expect("nothing happens");
    instance.set_tracing(true).expect("on");
    for _ in 0..20 {
        instance.mark("a line of ours").expect("marker");
        std::thread::sleep(Duration::from_millis(1));
    }
    instance.set_tracing(false).expect("off");
    let before: u64 = instance
        .cpus()
        .expect("cpus")
        .iter()
        .map(|&cpu| instance.stats(cpu).expect("stats").0.recorded())
        .sum();
    let directory = tempfile::tempdir().expect("directory");
    let file = directory.path().join("a.dat");
    assert_eq!(events_in(&instance, &file), before);
    let text = fs::read(&file).expect("file");
    let count = |line: &[u8]| text.windows(line.len()).filter(|window| window == &line).count();
    assert_eq!((count(b"a line of ours\n"), count(b"before it is on")), (20, 0));
    drop(instance);
    assert!(!path.exists());
}

/// Of the kernels of the lab those of arm64 have no other event of page faults.
#[test]
fn page_faults_are_recorded_by_a_probe_that_leaves_nothing() {
    let Some(tracefs) = tracefs_available() else { return };
    if !["dynamic_events", "kprobe_events"].iter().any(|file| tracefs.root().join(file).exists())
        || !cfg!(any(target_arch = "aarch64", target_arch = "x86_64"))
    {
        return skip(Need::Machine, "this kernel has no kprobe or fprobe events");
    }
    let probe = match ProbeEvent::of_page_faults(&tracefs) {
        Ok(probe) => probe,
        Err(error) => return skip(Need::Machine, format!("this kernel cannot probe its functions: {error}")),
    };
    let event = probe.event();
    let instance = Instance::create(&tracefs).expect("instance");
    instance.set_filter(&event, probe.filter().expect("a filter")).expect("filter");
    instance.enable(&event).expect("event");
    instance.set_threads(&[whylate_base::Tid(own_tid())], false).expect("threads");
    instance.set_tracing(true).expect("on");
    const PAGES: usize = 300;
    // Larger than what malloc keeps: fresh pages, each touched once.
    let mut fresh = vec![0u8; PAGES << 12];
    fresh.chunks_mut(4096).for_each(|page| page[0] = 1);
    std::hint::black_box(&fresh);
    instance.set_tracing(false).expect("off");
    let cpus = instance.cpus().expect("cpus");
    let recorded: u64 = cpus.iter().map(|&cpu| instance.stats(cpu).expect("stats").0.recorded()).sum();
    // One fault may make several pages present.
    assert!(recorded as usize >= PAGES / 16, "{recorded}");
    let group = probe.group().to_owned();
    drop(instance);
    drop(probe);
    let left = ["dynamic_events", "kprobe_events"].iter().filter_map(|file| tracefs.read(file).ok());
    assert!(left.into_iter().all(|list| !list.contains(&group)));
    assert!(!tracefs.has_event(&event));
}

/// The number of this thread.
fn own_tid() -> i32 {
    let link = fs::read_link("/proc/thread-self").expect("proc(5)");
    link.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok()).expect("a number")
}

#[test]
fn larger_pages_are_read_whole() {
    let Some(tracefs) = tracefs_available() else { return };
    let mut instance = Instance::create(&tracefs).expect("instance");
    if fs::write(instance.path().join("buffer_subbuf_size_kb"), "16").is_err() {
        skip(Need::Machine, "this kernel's ring-buffer pages have one size");
        return;
    }
    assert_eq!(instance.page_layout().expect("layout").size, 16384);
    instance.set_clock("mono").expect("clock");
    instance.set_tracing(true).expect("on");
    for number in 0..1000 {
        instance.mark(&format!("line {number}")).expect("marker");
    }
    instance.set_tracing(false).expect("off");
    let directory = tempfile::tempdir().expect("directory");
    assert_eq!(events_in(&instance, &directory.path().join("a.dat")), 1000);
}

#[test]
fn a_buffer_that_fills_wakes_the_reader_and_says_what_it_lost() {
    let Some(tracefs) = tracefs_available() else { return };
    let mut instance = Instance::create(&tracefs).expect("instance");
    instance.set_buffer_kib(16).expect("size");
    let cpus = instance.cpus().expect("cpus");
    let mut readers: Vec<_> = cpus.iter().map(|&cpu| instance.open_pages(cpu).expect("reader")).collect();
    assert_eq!(wait_for_pages(&readers, Duration::ZERO).expect("poll"), Vec::<usize>::new());
    instance.set_tracing(true).expect("on");
    for number in 0..5000 {
        instance.mark(&format!("line {number}")).expect("marker");
    }
    instance.set_tracing(false).expect("off");
    let ready = wait_for_pages(&readers, Duration::from_secs(5)).expect("poll");
    assert!(!ready.is_empty());
    let stats = |instance: &Instance| {
        let all = cpus.iter().map(|&cpu| instance.stats(cpu).expect("stats").0);
        all.fold((0, 0), |(recorded, lost), stats| (recorded + stats.recorded(), lost + stats.lost()))
    };
    let (recorded, lost) = stats(&instance);
    assert_eq!(recorded + lost, 5000);
    assert!(lost > 0, "16 KiB do not hold 5000 lines");
    let reader = &mut readers[ready[0]];
    assert!(
        reader.read_page(&mut vec![0; reader.page_size() - 1]).is_err(),
        "a page buffer that is too small"
    );
    drop(readers);
    let path: PathBuf = instance.path().to_owned();
    drop(instance);
    assert!(!path.exists());
}

/// An instance's directory made by hand, removed at the end even of a test that fails.
struct MadeInstance(PathBuf);

impl MadeInstance {
    fn new(path: PathBuf) -> Self {
        fs::create_dir(&path).expect("instance");
        MadeInstance(path)
    }
}

impl Drop for MadeInstance {
    fn drop(&mut self) {
        // It is usually gone already; what is left is removed as well as can be.
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn only_what_a_dead_process_left_is_removed() {
    let Some(tracefs) = tracefs_available() else { return };
    let instances = tracefs.root().join("instances");
    let live = Instance::create(&tracefs).expect("instance");
    // No kernel gives out a PID above 2^22, and this process started at another time. Its PID
    // is in every name, so that nothing an aborted run left is in the way.
    let pid = std::process::id();
    let made = |name: String| MadeInstance::new(instances.join(name));
    let name = live.path().file_name().and_then(|name| name.to_str()).expect("text");
    let own = name.split('-').nth(1).expect("its namespaces");
    let dead = [made(format!("whylate-{own}-4194305-1-{pid}")), made(format!("whylate-{own}-{pid}-1-0"))];
    // Of another container, where that process may live.
    let foreign =
        ["1.1", "0", "test-of-another-kind"].map(|other| made(format!("whylate-{other}-4194305-1-{pid}")));
    let removed = remove_stale(&tracefs).expect("stale");
    // Another trace that starts now may have removed them first: only that they are gone counts.
    assert!(dead.iter().all(|instance| !instance.0.exists()), "{removed:?}");
    assert!(foreign.iter().all(|instance| instance.0.exists()) && live.path().exists());
}

/// Runs in a mount namespace of its own, started by the next test.
#[test]
fn child_without_tracefs() {
    if std::env::var_os("WHYLATE_TEST_NO_TRACEFS").is_none() {
        return;
    }
    let tracefs = Tracefs::open().expect("a mount of our own");
    assert!(tracefs.is_detached());
    let mut instance = Instance::create(&tracefs).expect("instance");
    instance.set_tracing(true).expect("on");
    instance.mark("hello").expect("marker");
    instance.set_tracing(false).expect("off");
    let directory = tempfile::tempdir().expect("directory");
    assert_eq!(events_in(&instance, &directory.path().join("a.dat")), 1);
    println!("recorded without a mount");
}

#[test]
fn where_it_is_not_mounted_it_is_mounted_for_this_process_alone() {
    if tracefs_available().is_none() {
        return;
    }
    let me = std::env::current_exe().expect("this test");
    let script = "umount -a -t tracefs; grep -q ' - tracefs ' /proc/self/mountinfo && exit 77; \
                  exec \"$0\" --exact child_without_tracefs --nocapture";
    let child = Command::new("unshare")
        .args(["--mount", "sh", "-c", script])
        .arg(me)
        .env("WHYLATE_TEST_NO_TRACEFS", "1")
        .output();
    let Ok(output) = child else {
        skip(Need::Program, "unshare is not installed");
        return;
    };
    if output.status.code() == Some(77) {
        skip(Need::Machine, "tracefs cannot be unmounted in a mount namespace here");
        return;
    }
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("recorded without a mount"), "{text}");
}
