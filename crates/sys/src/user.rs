//! Users, and programs that run as one.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::ptr;

/// The longest entry that is read: a line of passwd with all its fields.
const MOST_BYTES: usize = 1 << 20;
/// No user is in more groups (NGROUPS_MAX, limits.h).
const MOST_GROUPS: libc::c_int = 65_536;

/// A user of this machine, whichever service knows it (nsswitch.conf(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserAccount {
    /// The name.
    pub name: String,
    /// The number.
    pub uid: u32,
    /// The first group.
    pub gid: u32,
    /// All groups.
    pub groups: Vec<u32>,
    /// The home directory.
    pub home: PathBuf,
}

impl UserAccount {
    /// The user of this name, or of this number; `None`: there is none.
    ///
    /// # Errors
    /// When the users cannot be asked for.
    ///
    /// [`getpwnam_r(3)`](https://man7.org/linux/man-pages/man3/getpwnam.3.html)
    pub fn find(name: &str) -> io::Result<Option<UserAccount>> {
        let Ok(by_name) = CString::new(name) else { return Ok(None) };
        let mut buffer = vec![0; 4096];
        loop {
            let mut entry = MaybeUninit::<libc::passwd>::uninit();
            let mut found = ptr::null_mut();
            let (place, text, size) = (entry.as_mut_ptr(), buffer.as_mut_ptr(), buffer.len());
            // SAFETY: `place`, `text` with its size and `found` are valid for writes during the call, and the name ends
            // with a NUL.
            let errno = unsafe {
                match name.parse() {
                    Ok(uid) => libc::getpwuid_r(uid, place, text, size, &mut found),
                    Err(_) => libc::getpwnam_r(by_name.as_ptr(), place, text, size, &mut found),
                }
            };
            match errno {
                0 if found.is_null() => return Ok(None),
                // SAFETY: the call succeeded and found an entry, so it has written `entry`, whose texts are in `buffer`.
                0 => return unsafe { UserAccount::of(entry.assume_init_ref()) }.map(Some),
                libc::ERANGE if buffer.len() < MOST_BYTES => buffer.resize(buffer.len() * 4, 0),
                libc::EINTR => {}
                libc::ENOENT | libc::ESRCH => return Ok(None),
                errno => return Err(io::Error::from_raw_os_error(errno)),
            }
        }
    }

    /// # Safety
    /// The texts of the entry end with a NUL.
    unsafe fn of(entry: &libc::passwd) -> io::Result<UserAccount> {
        // SAFETY: the caller promises it.
        let (name, home) = unsafe { (CStr::from_ptr(entry.pw_name), CStr::from_ptr(entry.pw_dir)) };
        Ok(UserAccount {
            name: name.to_string_lossy().into_owned(),
            uid: entry.pw_uid,
            gid: entry.pw_gid,
            groups: groups(name, entry.pw_gid)?,
            home: PathBuf::from(std::ffi::OsStr::from_bytes(home.to_bytes())),
        })
    }
}

/// All groups of a user.
///
/// [`getgrouplist(3)`](https://man7.org/linux/man-pages/man3/getgrouplist.3.html)
fn groups(name: &CStr, first: u32) -> io::Result<Vec<u32>> {
    let mut count: libc::c_int = 64;
    loop {
        let mut groups = vec![0; count.unsigned_abs() as usize];
        // SAFETY: the name ends with a NUL, and there is room for `count` groups.
        let result = unsafe { libc::getgrouplist(name.as_ptr(), first, groups.as_mut_ptr(), &mut count) };
        if result >= 0 {
            groups.truncate(count.unsigned_abs() as usize);
            return Ok(groups);
        }
        // It has set how many there are.
        if groups.len() >= MOST_GROUPS as usize {
            return Err(io::Error::other("too many groups"));
        }
        count = count.max(groups.len() as libc::c_int * 2).min(MOST_GROUPS);
    }
}

/// Has the program run as a user, with its groups and its home. This takes root.
pub fn run_as(command: &mut Command, user: &UserAccount) {
    command.env("HOME", &user.home).env("USER", &user.name).env("LOGNAME", &user.name);
    let (uid, gid, groups) = (user.uid, user.gid, user.groups.clone());
    let change = move || {
        let done = |result: libc::c_int| match result {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        };
        // SAFETY: three system calls; `groups` has as many elements as it says. The user is the last, as it may not
        // change the others.
        unsafe {
            done(libc::setgroups(groups.len(), groups.as_ptr()))?;
            done(libc::setgid(gid))?;
            done(libc::setuid(uid))
        }
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed; `change` makes three such, and allocates
    // nothing.
    unsafe { command.pre_exec(change) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_testing::{Need, skip};

    #[test]
    fn root_is_found_by_name_and_number() {
        let root = UserAccount::find("root").expect("asked").expect("there");
        assert_eq!((root.uid, root.gid, root.name.as_str()), (0, 0, "root"));
        assert!(root.groups.contains(&0), "{root:?}");
        assert_eq!(UserAccount::find("0").expect("asked"), Some(root));
        for none in ["", "no such user", "4294967294", "a\0b"] {
            assert_eq!(UserAccount::find(none).expect("asked"), None, "{none:?}");
        }
    }

    #[test]
    fn a_program_has_the_users_rights_alone() {
        if !rustix::process::geteuid().is_root() {
            return skip(Need::Root, "to start a program as another user");
        }
        let other = UserAccount {
            name: "other".into(),
            uid: 65_534,
            gid: 65_533,
            groups: vec![65_533, 65_532],
            home: "/nonexistent".into(),
        };
        let mut command = Command::new("sh");
        command.args(["-c", "id -u; id -g; id -G; echo $HOME $USER"]);
        run_as(&mut command, &other);
        let output = command.output().expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        assert_eq!(text, "65534\n65533\n65533 65532\n/nonexistent other\n");
    }
}
