//! A virtual environment below the build directory: nothing of the machine's Python is changed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An environment.
pub(crate) struct Environment {
    directory: PathBuf,
}

impl Environment {
    /// The environment in a directory, made where there is none; or why that cannot be.
    pub(crate) fn make(directory: &Path) -> Result<Environment, String> {
        let environment = Environment { directory: directory.join("environment") };
        if environment
            .python()
            .args(["-m", "pip", "--version"])
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
        {
            return Ok(environment);
        }
        let enough = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))";
        let has = |program: &str, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
        };
        if !has("python3", &["-c", enough]) {
            return Err(
                "no python3 of 3.9 or later with venv; apt-get install python3-venv, as root".to_owned()
            );
        }
        let made =
            Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment.directory).status();
        match made {
            Ok(status) if status.success() => Ok(environment),
            _ => Err(format!("python3 -m venv {} failed", environment.directory.display())),
        }
    }

    /// Installs what a file lists, as far as it is not there; or why that cannot be.
    pub(crate) fn install(&self, requirements: &Path) -> Result<(), String> {
        let mut command = self.pip(&["install", "--retries", "1", "--timeout", "30", "--requirement"]);
        match command.arg(requirements).status() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(format!("pip cannot install {}: is there a network?", requirements.display())),
        }
    }

    pub(crate) fn pip(&self, arguments: &[&str]) -> Command {
        let mut command = self.python();
        command
            .args(["-m", "pip", "--quiet", "--disable-pip-version-check"])
            .args(arguments)
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn python(&self) -> Command {
        self.program("python")
    }

    /// A program of the environment. What Python compiles goes into the environment as well, and not beside the tests.
    pub(crate) fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.directory.join("bin").join(name));
        command.env("PYTHONPYCACHEPREFIX", self.directory.join("compiled"));
        command
    }
}
