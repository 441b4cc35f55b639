//! A browser without a window: what it makes of a page, and what it complains about.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use whylate_testing::Need;

/// Debian's name first.
const NAMES: [&str; 4] = ["chromium", "chromium-headless-shell", "chromium-browser", "google-chrome"];
/// It starts within seconds; on a busy machine it takes a while.
const PATIENCE: Duration = Duration::from_secs(90);

/// A browser's report of a page.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The page as it is after its script has run.
    pub(crate) dom: String,
    /// Errors and warnings of the page's console.
    pub(crate) console: Vec<String>,
}

/// Loads a file, at a fragment where one is given; none, reported as a skip, where there is no browser.
pub(crate) fn load(page: &Path, fragment: &str) -> Option<Loaded> {
    let runs = |name: &&&str| {
        let version =
            Command::new(**name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    let Some(browser) = NAMES.iter().find(runs) else {
        whylate_testing::skip(Need::Program, "chromium is not installed");
        return None;
    };
    let profile = tempfile::tempdir().expect("a directory");
    let (out, err) = (profile.path().join("out"), profile.path().join("err"));
    let file = |path: &Path| std::fs::File::create(path).expect("a file");
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
        .args(["--enable-logging=stderr", "--v=0", "--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().join("profile").display()))
        .arg(format!("file://{}{fragment}", page.display()))
        .stdin(Stdio::null())
        .stdout(file(&out))
        .stderr(file(&err))
        .spawn()
        .expect("the browser starts");
    let started = Instant::now();
    while child.try_wait().expect("its end").is_none() {
        if started.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            panic!("the browser did not end within {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let text =
        |path: &Path| String::from_utf8_lossy(&std::fs::read(path).expect("what it wrote")).into_owned();
    let console = text(&err).lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect();
    Some(Loaded { dom: text(&out), console })
}
