//! Every kind of source gives the same readings of the same machine.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;

const FILES: [(&str, &str); 4] = [
    ("/proc/version", "Linux\n"),
    ("/proc/sys/vm/swappiness", "60\n"),
    ("/sys/kernel/notes", "x"),
    ("/proc/7/fd/3", "/dev/cpu_dma_latency"),
];

/// Reads everything that may differ between sources.
fn questions(tree: &FsRoot) -> Vec<String> {
    let mut answers: Vec<String> =
        ["/proc/version", "/proc/nothing", "/sys/kernel/debug/sched/preempt", "/boot/config-1"]
            .map(|path| tree.text(path).to_string())
            .to_vec();
    answers.push(format!("{:?}", tree.list("/proc/sys/vm").value));
    answers.push(format!("{:?}", tree.list("/proc/none").value));
    answers.push(format!("{:?}", tree.holders("/dev/cpu_dma_latency").value));
    answers
}

#[test]
fn a_capture_answers_as_the_machine_did() {
    let machine = FsRoot::memory(&FILES).noting();
    let live = questions(&machine);
    assert_eq!(live[1], "/proc/nothing: it does not exist");
    assert!(live[2].contains("debugfs is not mounted"), "{live:?}");
    assert!(live[3].contains("nothing is mounted at /boot"), "{live:?}");
    assert_eq!(live[6], "Ok([7])");
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("machine.tar.zst");
    let notes = machine.into_notes();
    notes.write(std::fs::File::create(&file).expect("made")).expect("written");
    let archive = FsRoot::open(&file).expect("opened");
    assert_eq!(questions(&archive), live);
    // A file that was not read then is unknown now.
    assert_eq!(archive.text("/proc/uptime").value, Err(Why::NotCollected));
    assert_eq!(questions(&FsRoot::captured(notes)), live);

    let unpacked = dir.path().join("unpacked");
    tar::Archive::new(zstd::Decoder::new(fs::File::open(&file).expect("open")).expect("zstd"))
        .unpack(&unpacked)
        .expect("unpack");
    assert_eq!(questions(&FsRoot::open(&unpacked).expect("opened")), live);
}

#[test]
fn who_has_a_file_open_is_found_among_the_links_of_every_process() {
    let dir = tempfile::tempdir().expect("a directory");
    let holders = || FsRoot::open(dir.path()).expect("opened").holders("/dev/x").value;
    fs::create_dir_all(dir.path().join("proc/9/fd")).expect("made");
    fs::create_dir_all(dir.path().join("proc/10/fd")).expect("made");
    symlink("/dev/null", dir.path().join("proc/10/fd/0")).expect("linked");
    assert_eq!(holders(), Ok(vec![]));
    symlink("/dev/x", dir.path().join("proc/9/fd/4")).expect("linked");
    symlink("/dev/x", dir.path().join("proc/10/fd/4")).expect("linked");
    assert_eq!(holders(), Ok(vec![9, 10]));
    // A process whose links were not taken may have had it open.
    fs::create_dir(dir.path().join("proc/11")).expect("made");
    assert_eq!(holders(), Ok(vec![9, 10]));
    fs::remove_file(dir.path().join("proc/9/fd/4")).expect("removed");
    fs::remove_file(dir.path().join("proc/10/fd/4")).expect("removed");
    assert_eq!(holders(), Err(Why::NotCollected));
}

#[test]
fn a_mount_point_with_nothing_in_it_is_no_answer() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("boot")).expect("made");
    let tree = FsRoot::open(dir.path()).expect("opened");
    assert_eq!(tree.list("/boot").value, Err(Why::NotMounted { at: "/boot".into() }));
}

#[test]
fn a_bare_directory_does_not_know_what_was_absent() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(dir.path().join("proc/sys/kernel")).expect("made");
    fs::write(dir.path().join("proc/version"), "Linux\n").expect("written");
    let tree = FsRoot::open(dir.path()).expect("opened");
    assert_eq!(tree.text("/proc/version").value.as_deref(), Ok("Linux\n"));
    assert_eq!(tree.text("/proc/sys/kernel/x").value, Err(Why::NotCollected));
    assert_eq!(tree.list("/").value, Ok(vec!["proc".to_owned()]));
}

#[test]
fn links_in_a_directory_lead_within_it() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("etc")).expect("made");
    symlink("/etc/passwd", dir.path().join("etc/absolute")).expect("linked");
    symlink("../../../../../../etc/passwd", dir.path().join("etc/relative")).expect("linked");
    fs::write(dir.path().join("etc/own"), "own").expect("written");
    symlink("/etc/own", dir.path().join("etc/to-own")).expect("linked");
    let tree = FsRoot::open(dir.path()).expect("opened");
    assert_eq!(tree.text("/etc/absolute").value, Err(Why::NotCollected));
    assert_eq!(tree.text("/etc/relative").value, Err(Why::NotCollected));
    assert_eq!(tree.text("/etc/to-own").value.as_deref(), Ok("own"));
    assert_eq!(tree.link_name("/etc/to-own").value.as_deref(), Ok("own"));
}

#[test]
fn a_pipe_or_a_device_in_a_directory_is_not_waited_for() {
    let dir = tempfile::tempdir().expect("a directory");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, dir.path().join("pipe"), rustix::fs::FileType::Fifo, mode, 0)
        .expect("made");
    assert!(FsRoot::open(dir.path()).is_err(), "no root");
    std::fs::create_dir(dir.path().join("etc")).expect("made");
    let tree = FsRoot::open(dir.path()).expect("opened");
    assert_eq!(tree.text("/pipe").value, Err(Why::Io { error: "not a regular file".into() }));
}

#[test]
fn what_is_no_capture_is_refused_with_a_reason() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("x");
    fs::write(&file, "no archive").expect("written");
    let error = FsRoot::open(&file).err().expect("refused").to_string();
    assert!(error.contains("whylate snapshot"), "{error}");
    assert!(FsRoot::open(&dir.path().join("none")).is_err());
}

#[test]
fn the_beginning_of_a_file_ends_with_a_line() {
    let tree = FsRoot::memory(&[("/proc/cpuinfo", "one\ntwo\nthree\n")]);
    assert_eq!(tree.beginning("/proc/cpuinfo", 9).value.as_deref(), Ok("one\ntwo\n"));
    assert_eq!(tree.beginning("/proc/cpuinfo", 100).value.as_deref(), Ok("one\ntwo\nthree\n"));
}

#[test]
fn permission_bits_are_of_this_machine_alone() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("file");
    fs::write(&file, "").expect("written");
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o440)).expect("set");
    let path = file.to_str().expect("UTF-8");
    assert_eq!(FsRoot::live().mode(path).value, Ok(0o440));
    assert_eq!(FsRoot::live().mode("/no/such/file").value, Err(Why::Missing));
    assert_eq!(FsRoot::memory(&[(path, "")]).mode(path).value, Err(Why::NotCollected));
}
