//! Links, owners, permissions and unfinished files.

use super::*;
use rustix::fs::{chmodat, chownat};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use whylate_testing::{Need, skip};

/// A user that is not this one.
const OTHER: u32 = 65_534;

fn write(path: &Path, content: &str, mode: u32) -> Result<u64, OutputError> {
    let mut file = OutputFile::create(path, mode)?;
    file.file().write_all(content.as_bytes()).expect("written");
    file.keep()
}

fn give_away(path: &Path) {
    let other = Some(Uid::from_raw(OTHER));
    chownat(CWD, path, other, None, AtFlags::SYMLINK_NOFOLLOW).expect("given away");
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("there").mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    chmodat(CWD, path, Mode::from_raw_mode(mode), AtFlags::empty()).expect("mode");
}

fn entries(directory: &Path) -> usize {
    std::fs::read_dir(directory).expect("a directory").count()
}

#[test]
fn in_a_shared_directory_only_the_own_and_the_directorys_owner_are_trusted() {
    let of = |mode: u32, uid: u32| {
        let mut stat = rustix::fs::stat("/").expect("the root");
        (stat.st_mode, stat.st_uid) = (mode, uid);
        stat
    };
    const USER: u32 = 1000;
    for (directory_mode, directory_owner, owner, others, foreign) in [
        (0o1777, 0, OTHER, 0o002, true),
        (0o1777, 0, OTHER, 0o022, true),
        (0o1777, 0, USER, 0o002, false),
        (0o1777, 0, 0, 0o002, false),
        (0o1777, OTHER, OTHER, 0o002, false),
        (0o1770, 0, OTHER, 0o002, false),
        (0o1770, 0, OTHER, 0o022, true),
        (0o1755, 0, OTHER, 0o022, false),
        (0o0777, 0, OTHER, 0o022, false),
    ] {
        let directory = of(0o040_000 | directory_mode, directory_owner);
        let found = is_foreign(&directory, &of(0o100_644, owner), others, USER);
        assert_eq!(found, foreign, "{directory_mode:o} of {directory_owner}, {owner}, {others:o}");
    }
}

#[test]
fn what_another_user_planted_is_neither_followed_nor_replaced() {
    if !rustix::process::geteuid().is_root() {
        skip(Need::Root, "to give a link to another user");
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let shared = place.path().join("shared");
    std::fs::create_dir(&shared).expect("a directory");
    set_mode(&shared, 0o1777);
    let secret = place.path().join("secret");
    std::fs::write(&secret, "old").expect("a file");
    set_mode(&secret, 0o600);
    let (link, chain, file) = (shared.join("link"), place.path().join("chain"), shared.join("file"));
    symlink(&secret, &link).expect("a link");
    symlink(&link, &chain).expect("a link");
    std::fs::write(&file, "theirs").expect("a file");
    give_away(&link);
    give_away(&file);
    for path in [&link, &chain, &file] {
        let error = write(path, "new", 0o666).expect_err("planted");
        assert!(matches!(error, OutputError::Foreign { uid: OTHER, .. }), "{error}");
        assert!(error.to_string().contains("user 65534 has put a"), "{error}");
    }
    assert_eq!(std::fs::read(&secret).expect("a file"), b"old");
    assert_eq!((mode(&secret), entries(&shared)), (0o600, 2));
    // The same where no one else can have put it: as the kernel, it follows.
    set_mode(&shared, 0o755);
    write(&link, "new", 0o666).expect("followed");
    assert_eq!(std::fs::read(&secret).expect("a file"), b"new");
    assert_eq!(mode(&secret), 0o600);
    write(&file, "ours", 0o666).expect("replaced");
    assert_eq!(file.metadata().expect("there").uid(), OTHER, "its owner stays");
}

#[test]
fn a_link_is_written_through_and_stays() {
    let place = tempfile::tempdir().expect("a directory");
    let (inner, outer) = (place.path().join("inner"), place.path().join("outer"));
    std::fs::create_dir(&inner).expect("a directory");
    let target = inner.join("target");
    symlink("inner/../inner/next", &outer).expect("a link");
    symlink("target", inner.join("next")).expect("a link");
    write(&outer, "one", 0o600).expect("a new file behind two links");
    assert_eq!(mode(&target), 0o600);
    set_mode(&target, 0o640);
    write(&outer, "two", 0o666).expect("replaced");
    assert_eq!(std::fs::read(&target).expect("a file"), b"two");
    assert!(outer.is_symlink() && inner.join("next").is_symlink());
    assert_eq!((mode(&target), entries(&inner)), (0o640, 2));
    symlink("circle", place.path().join("circle")).expect("a link");
    assert!(matches!(write(&place.path().join("circle"), "", 0o600), Err(OutputError::Io { .. })));
}

#[test]
fn what_is_not_finished_is_removed_and_the_old_file_stays() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("report");
    std::fs::write(&path, "old").expect("a file");
    let mut file = OutputFile::create(&path, 0o666).expect("begun");
    file.file().write_all(b"half").expect("written");
    assert_eq!(entries(place.path()), 2);
    let part = file.part();
    part.upgrade().expect("begun").remove();
    assert_eq!(entries(place.path()), 1, "as a signal's handler does");
    drop(file);
    assert!(part.upgrade().is_none());
    drop(OutputFile::create(&path, 0o666).expect("begun"));
    assert_eq!((std::fs::read(&path).expect("a file"), entries(place.path())), (b"old".to_vec(), 1));
}

#[test]
fn the_directory_may_be_renamed_meanwhile() {
    let place = tempfile::tempdir().expect("a directory");
    let (before, after) = (place.path().join("before"), place.path().join("after"));
    std::fs::create_dir(&before).expect("a directory");
    let mut file = OutputFile::create(&before.join("report"), 0o600).expect("begun");
    std::fs::rename(&before, &after).expect("renamed");
    symlink("/", &before).expect("a link in its place");
    file.file().write_all(b"all").expect("written");
    assert_eq!(file.keep().expect("kept"), 3);
    assert_eq!(std::fs::read(after.join("report")).expect("a file"), b"all");
}

#[test]
fn what_cannot_be_replaced_is_refused_or_a_stream() {
    let place = tempfile::tempdir().expect("a directory");
    let path = |name: &str| place.path().join(name);
    for bad in [path("none/file"), PathBuf::new()] {
        assert!(matches!(OutputPlace::find(&bad), Err(OutputError::Io { .. })), "{}", bad.display());
    }
    for bad in [place.path().to_owned(), path("new/"), "/".into(), "..".into()] {
        assert!(matches!(OutputPlace::find(&bad), Err(OutputError::Directory { .. })), "{}", bad.display());
    }
    if !rustix::process::geteuid().is_root() {
        std::fs::write(path("kept"), "").expect("a file");
        set_mode(&path("kept"), 0o444);
        assert!(matches!(OutputPlace::find(&path("kept")), Err(OutputError::ReadOnly { mode: 0o444, .. })));
    }
    let device = OutputPlace::find(Path::new("/dev/null")).expect("a device");
    assert!(device.is_stream() && device.open_stream().is_ok());
    assert!(matches!(device.create(0o600), Err(OutputError::NotAFile { .. })));
    // A pipe that is open has a link in procfs, whose text is no path.
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let magic = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&writer));
    let pipe = OutputPlace::find(Path::new(&magic)).expect("a pipe");
    assert!(pipe.is_stream());
    pipe.open_stream().expect("open").write_all(b"x").expect("written");
    let mut byte = [0];
    std::io::Read::read_exact(&mut reader, &mut byte).expect("read");
    assert_eq!(&byte, b"x");
    // One in a directory, with a reader and without.
    rustix::fs::mkfifoat(rustix::fs::CWD, path("fifo"), rustix::fs::Mode::from_raw_mode(0o600))
        .expect("a pipe");
    let fifo = OutputPlace::find(&path("fifo")).expect("a pipe");
    assert!(matches!(fifo.open_stream(), Err(OutputError::NoReader { .. })));
    let reader = File::options().read(true).write(true).open(path("fifo")).expect("a reader");
    fifo.open_stream().expect("open").write_all(b"x").expect("written");
    drop(reader);
    std::fs::write(path("open"), "old").expect("a file");
    let open = File::options().write(true).open(path("open")).expect("open");
    let magic = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open));
    write(Path::new(&magic), "new", 0o600).expect("the file that is open");
    assert_eq!(std::fs::read(path("open")).expect("a file"), b"new");
}

#[test]
fn a_new_file_has_the_mode_asked_for_at_most() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("new");
    let file = OutputFile::create(&path, 0o600).expect("begun");
    assert_eq!(file.file.metadata().expect("there").permissions().mode() & 0o777, 0o600);
    drop(file);
    assert_eq!(entries(place.path()), 0);
}
