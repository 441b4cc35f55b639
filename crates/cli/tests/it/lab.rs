//! What `whylate lab` reports where there is no guest to boot. Those that boot one are in the lab's
//! own step of `cargo xtask test`.

use crate::support::run::{Run, command, ended};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A run with a cache of its own, which is empty, and a mirror that cannot be reached.
fn lab(directory: &Path, arguments: &[&str]) -> Run {
    let mut command = command();
    command.current_dir(directory).arg("lab").args(arguments);
    command.env("WHYLATE_LAB_CACHE", directory.join("cache"));
    command.env("WHYLATE_LAB_MIRROR", "http://mirror.invalid/debian");
    ended(command.output().expect("the program starts"))
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

/// A file with a kernel's boot header, which is enough to be taken for one.
fn fake_kernel(directory: &Path) -> String {
    let mut image = vec![0; 1024];
    image[0x202..0x206].copy_from_slice(b"HdrS");
    image[0x20E..0x210].copy_from_slice(&0x200u16.to_le_bytes());
    image.splice(0x400.., *b"6.12.1-fake (me) #1 SMP\0");
    let path = directory.join("vmlinuz");
    fs::write(&path, image).expect("a file");
    path.to_string_lossy().into_owned()
}

fn refused(run: &Run, words: &[&str]) {
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:#?}");
    for word in words {
        assert!(run.stderr.contains(word), "`{word}` is not in: {}", run.stderr);
    }
}

#[test]
fn kernels_that_are_none() {
    let here = directory();
    fs::write(here.path().join("letter"), "Dear all,\n").expect("a file");
    for (kernel, words) in [
        ("6.10", &["`6.10`", "6.12-rt", "--kernel PATH"][..]),
        ("./letter", &["./letter", "bzImage"]),
        ("letter", &["letter", "bzImage"]),
        ("./missing", &["./missing", "No such file"]),
    ] {
        let run = lab(here.path(), &["exec", "--kernel", kernel, "--", "/bin/true"]);
        refused(&run, words);
    }
    let twice = ["exec", "--kernel", "6.12", "--modules", ".", "--", "/bin/true"];
    refused(&lab(here.path(), &twice), &["--modules", "6.12 has modules of its own"]);
    refused(&lab(here.path(), &["kernels", "--fetch", "6.10"]), &["`6.10`"]);
    refused(&lab(here.path(), &["kernels", "--remove", "../x"]), &["`../x`"]);
    assert!(!here.path().join("whylate-lab").exists(), "nothing is left behind");
}

#[test]
fn programs_that_cannot_run_there() {
    let here = directory();
    let kernel = fake_kernel(here.path());
    fs::write(here.path().join("script"), "#!/no/such/shell\n").expect("a file");
    fs::write(here.path().join("letter"), "Dear all,\n").expect("a file");
    for (program, words) in [
        ("./script", &["./script", "interpreter", "/no/such/shell"][..]),
        ("./letter", &["./letter", "ELF"]),
        ("no-such-program", &["no-such-program", "PATH"]),
    ] {
        refused(&lab(here.path(), &["exec", "--kernel", &kernel, "--", program]), words);
    }
    // The loader finds a program that is named without a directory.
    fs::copy("/bin/true", here.path().join("own-true")).expect("a file");
    let file = lab(
        here.path(),
        &["exec", "--kernel", &kernel, "--file", "own-true", "--file", "gone", "--", "/bin/true"],
    );
    refused(&file, &["gone"]);
    refused(&lab(here.path(), &["exec", "--kernel", &kernel, "--"]), &["PROGRAM"]);
    refused(&lab(here.path(), &["guest"]), &["process 1"]);
}

#[test]
fn without_qemu_it_names_the_package_to_install() {
    let here = directory();
    let kernel = fake_kernel(here.path());
    let own = env!("CARGO_BIN_EXE_whylate");
    let mut command = command();
    command.current_dir(here.path()).env("PATH", "").args(["lab", "exec", "--kernel", &kernel, "--", own]);
    let run = ended(command.output().expect("the program starts"));
    match cfg!(target_arch = "x86_64") {
        true => refused(&run, &["qemu-system-x86_64", "apt-get install qemu-system-x86"]),
        false => refused(&run, &["x86-64"]),
    }
}

#[test]
fn without_apt_or_network_it_reports_that() {
    let here = directory();
    let mut command = command();
    command.current_dir(here.path()).env("PATH", "").args(["lab", "kernels", "--fetch", "6.12"]);
    command.env("WHYLATE_LAB_CACHE", here.path().join("cache"));
    command.env("WHYLATE_LAB_MIRROR", "http://mirror.invalid/debian");
    let run = ended(command.output().expect("the program starts"));
    refused(&run, &["6.12", "apt-get", "--kernel"]);
    let left: Vec<_> = fs::read_dir(here.path().join("cache")).expect("the cache").flatten().collect();
    assert!(
        left.iter().all(|entry| ["apt", "lock"].contains(&&*entry.file_name().to_string_lossy())),
        "{left:?}"
    );
}

#[test]
fn kernels_are_listed_with_what_they_are_good_for() {
    let here = directory();
    let cached = here.path().join("cache/6.12");
    fs::create_dir_all(&cached).expect("a directory");
    fs::copy(fake_kernel(here.path()), cached.join("vmlinuz")).expect("a file");
    let run = lab(here.path(), &["kernels"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    for (kernel, words) in [
        ("6.1-rt", ["PREEMPT_RT", "throttling", "not cached"]),
        ("6.12 ", ["fair server", "6.12.1-fake", "MB"]),
    ] {
        let line = run.stdout.lines().find(|line| line.starts_with(kernel)).expect(kernel);
        assert!(words.iter().all(|word| line.contains(word)), "{line}");
    }
    let run = lab(here.path(), &["kernels", "--json"]);
    let json: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let entry = json["kernels"].as_array().expect("kernels").iter().find(|entry| entry["name"] == "6.12");
    assert_eq!(entry.expect("6.12")["release"], "6.12.1-fake");
    assert_eq!(lab(here.path(), &["kernels", "--remove", "6.12"]).code, Some(0));
    assert!(!cached.exists());
}
