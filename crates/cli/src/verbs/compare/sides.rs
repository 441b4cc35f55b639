//! What is compared with what: files with the first of them, or pairs `BEFORE:AFTER`.

use anyhow::{Result, anyhow, bail};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The files to read, each once, and which of them are compared: before and after.
#[derive(Debug, PartialEq)]
pub(super) struct Sides {
    pub(super) files: Vec<PathBuf>,
    pub(super) pairs: Vec<(usize, usize)>,
}

/// Of the arguments of the command line. A file that exists by the name of an argument is that file, even if the name has
/// a colon.
pub(super) fn of(arguments: &[PathBuf], baseline: Option<&Path>) -> Result<Sides> {
    let mut files: Vec<&Path> = Vec::new();
    let mut pairs = Vec::new();
    for argument in arguments {
        match pair(argument)? {
            None => files.push(argument),
            Some(pair) => pairs.push(pair),
        }
    }
    match (&files[..], &pairs[..], baseline) {
        ([], pairs, None) => Ok(each_once(pairs)),
        (_, [], _) => {
            let files: Vec<PathBuf> = baseline.into_iter().chain(files).map(Path::to_owned).collect();
            let pairs = (1..files.len()).map(|after| (0, after)).collect();
            Ok(Sides { files, pairs })
        }
        (_, [(before, after), ..], Some(_)) => bail!(
            "--baseline is what all files are compared with, and {}:{} is a pair of its own: leave one of them out",
            before.display(),
            after.display()
        ),
        ([file, ..], [(before, after), ..], None) => bail!(
            "give either files or pairs: {} is a file, and {}:{} is a pair BEFORE:AFTER",
            file.display(),
            before.display(),
            after.display()
        ),
    }
}

/// A file that is in several pairs is read once; beside itself it is two, as where it is given twice without a pair.
fn each_once(pairs: &[(PathBuf, PathBuf)]) -> Sides {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut place = |file: &PathBuf, not: Option<usize>| {
        let known = files.iter().enumerate().position(|(at, known)| known == file && Some(at) != not);
        known.unwrap_or_else(|| {
            files.push(file.clone());
            files.len() - 1
        })
    };
    let mut sides = Vec::new();
    for (before, after) in pairs {
        let before = place(before, None);
        sides.push((before, place(after, Some(before))));
    }
    Sides { files, pairs: sides }
}

/// The two files of a pair; `None` of an argument that is no pair.
fn pair(argument: &Path) -> Result<Option<(PathBuf, PathBuf)>> {
    let bytes = argument.as_os_str().as_bytes();
    if is_there(argument) || !bytes.contains(&b':') {
        return Ok(None);
    }
    let half = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
    let colons = bytes.iter().enumerate().filter(|(_, byte)| **byte == b':');
    let halves: Vec<(PathBuf, PathBuf)> =
        colons.map(|(at, _)| (half(&bytes[..at]), half(&bytes[at + 1..]))).collect();
    let mut both = halves.iter().filter(|(before, after)| is_there(before) && is_there(after));
    match (both.next(), both.next(), &halves[..]) {
        (Some(pair), None, _) => Ok(Some(pair.clone())),
        (Some((before, after)), Some((other, second)), _) => bail!(
            "{}: both {} and {}, and {} and {} are files: rename one, or compare them without a pair",
            argument.display(),
            before.display(),
            after.display(),
            other.display(),
            second.display()
        ),
        (None, _, [only]) => Err(missing(argument, only)),
        (None, ..) => bail!(
            "{}: there is no such file, and no colon in it parts the names of two files, as in BEFORE:AFTER",
            argument.display()
        ),
    }
}

/// True of a file, and of a link to none.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Which half of `BEFORE:AFTER` is not there.
fn missing(argument: &Path, (before, after): &(PathBuf, PathBuf)) -> anyhow::Error {
    let what = match (before.as_os_str().is_empty(), after.as_os_str().is_empty()) {
        (true, true) => "both halves are empty".to_owned(),
        (true, false) => "the half before the colon is empty".to_owned(),
        (false, true) => "the half after the colon is empty".to_owned(),
        (false, false) => {
            let lacks: Vec<String> = [before, after]
                .into_iter()
                .filter(|half| !is_there(half))
                .map(|half| format!("`{}`", half.display()))
                .collect();
            format!("there is no file {}", lacks.join(" and no file "))
        }
    };
    anyhow!("{}: there is no such file, and it is no pair BEFORE:AFTER either: {what}", argument.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of these names, and what the arguments are among them.
    fn sides(names: &[&str], arguments: &[&str], baseline: Option<&str>) -> Result<Sides, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let root = directory.path().display().to_string();
        names
            .iter()
            .try_for_each(|name| std::fs::write(directory.path().join(name), ""))
            .map_err(|e| e.to_string())?;
        let full = |argument: &&str| PathBuf::from(argument.replace('@', &format!("{root}/")));
        let arguments: Vec<PathBuf> = arguments.iter().map(full).collect();
        let baseline = baseline.map(|name| full(&name));
        let cut = |path: &PathBuf| PathBuf::from(path.display().to_string().replace(&format!("{root}/"), ""));
        of(&arguments, baseline.as_deref())
            .map(|sides| Sides { files: sides.files.iter().map(cut).collect(), pairs: sides.pairs })
            .map_err(|error| error.to_string().replace(&format!("{root}/"), ""))
    }

    fn expected(files: &[&str], pairs: &[(usize, usize)]) -> Result<Sides, String> {
        Ok(Sides { files: files.iter().map(PathBuf::from).collect(), pairs: pairs.to_vec() })
    }

    #[test]
    fn files_are_compared_with_the_first_and_pairs_two_and_two() {
        let names = ["a", "b", "c", "d", "e:f", "e", "f"];
        for (arguments, baseline, files, pairs) in [
            (&["@a", "@b", "@c"][..], None, &["a", "b", "c"][..], &[(0, 1), (0, 2)][..]),
            (&["@a", "@b"], Some("@c"), &["c", "a", "b"], &[(0, 1), (0, 2)]),
            (&["@a:@b"], None, &["a", "b"], &[(0, 1)]),
            (&["@a:@b", "@c:@d"], None, &["a", "b", "c", "d"], &[(0, 1), (2, 3)]),
            (&["@a:@b", "@b:@c", "@a:@d"], None, &["a", "b", "c", "d"], &[(0, 1), (1, 2), (0, 3)]),
            // A file that is there by that name.
            (&["@e:f", "@a"], None, &["e:f", "a"], &[(0, 1)]),
            (&["@e:f:@a"], None, &["e:f", "a"], &[(0, 1)]),
            (&["@a:@a", "@a:@b"], None, &["a", "a", "b"], &[(0, 1), (0, 2)]),
            (&["@a"], None, &["a"], &[]),
            // The reader reports what is wrong with it.
            (&["@a", "@missing"], None, &["a", "missing"], &[(0, 1)]),
        ] {
            assert_eq!(sides(&names, arguments, baseline), expected(files, pairs), "{arguments:?}");
        }
    }

    #[test]
    fn what_is_neither_is_refused_with_the_reason() {
        let names = ["a", "b", "a:b", "b:a"];
        for (arguments, baseline, words) in [
            (&["@a:@c"][..], None, "no pair BEFORE:AFTER either: there is no file `c`"),
            (&["C:\\runs\\x.json"], None, "there is no file `C` and no file `\\runs\\x.json`"),
            (&[":@b"], None, "the half before the colon is empty"),
            (&["@a:"], None, "the half after the colon is empty"),
            (&[":"], None, "both halves are empty"),
            (&["@x:y:z"], None, "no colon in it parts the names of two files"),
            (&["@a:b:@a"], None, ""),
            (&["@a:@b", "@a"], None, "give either files or pairs: a is a file, and a:b is a pair"),
            (&["@a:@b"], Some("@a"), "--baseline is what all files are compared with"),
        ] {
            match sides(&names, arguments, baseline) {
                Err(error) => assert!(!words.is_empty() && error.contains(words), "{arguments:?}: {error}"),
                Ok(sides) => assert!(words.is_empty(), "{arguments:?}: {sides:?}"),
            }
        }
    }
}
