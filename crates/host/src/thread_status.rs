//! `/proc/PID/status` and `/proc/PID/task/TID/status`, by the names of proc_pid_status(5).

/// The value of the line `NAME:` of a status file, without the blanks around it.
///
/// ```
/// let status = "Name:\tcontrol\nVmLck:\t  12 kB\n";
/// assert_eq!(whylate_host::status_value(status, "VmLck"), Some("12 kB"));
/// assert_eq!(whylate_host::status_value(status, "VmLc"), None);
/// ```
pub fn status_value<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}
