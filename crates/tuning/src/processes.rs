//! Which processes there are.

use whylate_host::FsRoot;

/// The processes there are: id and name.
pub(crate) fn processes(tree: &FsRoot) -> impl Iterator<Item = (String, String)> {
    let names = tree.list("/proc").value.unwrap_or_default();
    let pids = names.into_iter().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    pids.filter_map(|pid| {
        let comm = tree.text(&format!("/proc/{pid}/comm")).known()?.trim().to_owned();
        Some((pid, comm))
    })
}
