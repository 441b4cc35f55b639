//! The program: found before anything is changed, and executed at the end.

use super::error::RunError;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use whylate_sys::UserAccount;

/// A command that is to be executed.
#[derive(Debug)]
pub(super) struct Program {
    name: OsString,
    arguments: Vec<OsString>,
    user: Option<UserAccount>,
}

impl Program {
    /// The program of a command line.
    ///
    /// # Errors
    /// If there is none, or none of its name is found as execvp(3) looks for it.
    pub(super) fn find(command: &[OsString]) -> Result<Program, RunError> {
        let Some((name, arguments)) = command.split_first() else {
            return Err(RunError::Input("which program? give a command after `--`".to_owned()));
        };
        let program = Program { name: name.clone(), arguments: arguments.to_vec(), user: None };
        match program.is_found() {
            true => Ok(program),
            false => Err(program.failed(&io::ErrorKind::NotFound.into())),
        }
    }

    /// The same, to be executed as a user: all privileges are dropped before, and no capability is left.
    ///
    /// # Errors
    /// If there is no such user, or this process is not root.
    pub(super) fn of_user(self, name: Option<&str>) -> Result<Program, RunError> {
        let Some(name) = name else { return Ok(self) };
        let failed = |why: &str| RunError::Input(format!("cannot run the program as user {name}: {why}"));
        let user = UserAccount::find(name).map_err(|error| failed(&error.to_string()))?;
        let user = user.ok_or_else(|| failed("there is no such user"))?;
        match rustix::process::geteuid().is_root() {
            true => Ok(Program { user: Some(user), ..self }),
            false => Err(failed("only root can start a program as another user")),
        }
    }

    /// Its path; of a relative one the whole.
    pub(super) fn path(&self) -> String {
        let found = self.in_path().unwrap_or_else(|| PathBuf::from(&self.name));
        std::path::absolute(&found).unwrap_or(found).to_string_lossy().into_owned()
    }

    fn is_found(&self) -> bool {
        // A name with a slash is a path.
        if self.name.as_encoded_bytes().contains(&b'/') {
            return Path::new(&self.name).exists();
        }
        self.in_path().is_some()
    }

    /// Where execvp(3) finds a name without a slash.
    fn in_path(&self) -> Option<PathBuf> {
        if self.name.is_empty() || self.name.as_encoded_bytes().contains(&b'/') {
            return None;
        }
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
        std::env::split_paths(&path).find_map(|directory| in_directory(&directory, &self.name))
    }

    /// Becomes the program. Returns only if that fails.
    pub(super) fn exec(&self) -> RunError {
        let mut command = Command::new(&self.name);
        command.args(&self.arguments);
        if let Some(user) = &self.user {
            whylate_sys::run_as(&mut command, user);
        }
        let error = command.exec();
        self.failed(&error)
    }

    /// As it is shown.
    pub(super) fn name(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }

    fn failed(&self, error: &io::Error) -> RunError {
        let program = self.name();
        match error.kind() {
            io::ErrorKind::NotFound => RunError::NotFound { program },
            io::ErrorKind::PermissionDenied => {
                let why = "it is not an executable file, or this user may not run it".to_owned();
                RunError::NotExecutable { program, why }
            }
            _ => RunError::NotExecutable { program, why: error.to_string() },
        }
    }
}

fn in_directory(directory: &Path, name: &OsStr) -> Option<PathBuf> {
    // An empty entry is the current directory (execvp(3)).
    let directory = if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory.to_owned() };
    Some(directory.join(name)).filter(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_known_before_it_is_executed() {
        let find =
            |name: &str| Program::find(&[OsString::from(name)]).map(drop).map_err(|error| error.exit_code());
        assert_eq!(find("sh"), Ok(()));
        assert_eq!(find("/bin/sh"), Ok(()));
        for missing in ["", "no-such-program", "/no/such/program"] {
            assert_eq!(find(missing), Err(127), "{missing:?}");
        }
        assert_eq!(Program::find(&[]).map(drop).map_err(|error| error.exit_code()), Err(125));
    }

    #[test]
    fn a_file_that_is_no_program_is_not_executable() {
        let error = Program::find(&[OsString::from("/etc/passwd")]).expect("a file").exec();
        assert_eq!(error.exit_code(), 126);
    }
}
