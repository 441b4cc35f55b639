//! The packages of a kernel.
//!
//! Debian's images are `linux-image-RELEASE`, with image and modules in one package; from 7.x on
//! that one is empty and needs `linux-binary-RELEASE` with the image and `linux-modules-RELEASE`.
//! RELEASE is `6.1.0-50-amd64`, `6.12.107+deb13-rt-arm64`. Other variants of the series are ignored:
//! `-cloud-amd64`, `-arm64-16k`, `-unsigned`, `-dbg`.

use super::Series;
use crate::Arch;
use std::cmp::Ordering;

/// The packages of the newest kernel of a series, of all package names of a mirror.
///
/// # Errors
/// The newest kernel of the same flavour in another series, where there is none in this.
pub(super) fn packages<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    series: &Series,
    arch: Arch,
) -> Result<Vec<String>, Option<&'a str>> {
    let releases = || names.clone().filter_map(|name| release(name, series.preempt_rt, arch));
    let of_series = releases().filter(|release| {
        let rest = release.strip_prefix(series.version);
        rest.is_some_and(|rest| rest.starts_with(['.', '-', '+']))
    });
    let Some(newest) = of_series.max_by(|a, b| compare(a, b)) else {
        return Err(releases().max_by(|a, b| compare(a, b)));
    };
    let has = |package: &str| names.clone().any(|name| name == package);
    let (binary, modules) = (format!("linux-binary-{newest}"), format!("linux-modules-{newest}"));
    match has(&binary) && has(&modules) {
        true => Ok(vec![binary, modules]),
        false => Ok(vec![format!("linux-image-{newest}")]),
    }
}

/// The release that an image package is for, if it is one of the flavour.
fn release(name: &str, preempt_rt: bool, arch: Arch) -> Option<&str> {
    let release = name.strip_prefix("linux-image-").or_else(|| name.strip_prefix("linux-binary-"))?;
    let version = release.strip_suffix(arch.debian())?.strip_suffix('-')?;
    let version = match preempt_rt {
        true => version.strip_suffix("-rt")?,
        false => version,
    };
    // The metapackages have no number, other flavours a word after theirs.
    let last = version.rsplit(['-', '+']).next()?;
    let numbered = version.starts_with(|c: char| c.is_ascii_digit());
    let plain =
        last.starts_with(|c: char| c.is_ascii_digit()) || last.starts_with("deb") || last.starts_with("bpo");
    (numbered && plain).then_some(release)
}

/// By their numbers, and otherwise as text.
fn compare(a: &str, b: &str) -> Ordering {
    let numbers = |text: &str| -> Vec<u64> {
        text.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
    };
    numbers(a).cmp(&numbers(b)).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOKWORM: [&str; 9] = [
        "linux-image-amd64",
        "linux-image-6.1.0-9-amd64",
        "linux-image-6.1.0-50-amd64",
        "linux-image-6.1.0-50-amd64-unsigned",
        "linux-image-6.1.0-51-cloud-amd64",
        "linux-image-6.1.0-49-rt-amd64",
        "linux-image-6.1.0-50-amd64-dbg",
        "linux-image-6.10.3-amd64",
        "linux-image-rt-amd64",
    ];
    const SID: [&str; 6] = [
        "linux-image-7.2.13+deb14-amd64",
        "linux-binary-7.2.13+deb14-amd64",
        "linux-modules-7.2.13+deb14-amd64",
        "linux-image-7.2.9+deb14-amd64",
        "linux-image-7.2.13+deb14-cloud-amd64",
        "linux-image-6.12.107+deb13-rt-amd64",
    ];

    fn choose<'a>(names: &'a [&'a str], name: &str) -> Result<Vec<String>, Option<&'a str>> {
        packages(names.iter().copied(), Series::find(name).expect("known"), Arch::X86_64)
    }

    #[test]
    fn the_newest_of_series_and_flavour_is_chosen() {
        for (names, kernel, expected) in [
            (&BOOKWORM[..], "6.1", vec!["linux-image-6.1.0-50-amd64"]),
            (&BOOKWORM, "6.1-rt", vec!["linux-image-6.1.0-49-rt-amd64"]),
            (&SID, "7.2", vec!["linux-binary-7.2.13+deb14-amd64", "linux-modules-7.2.13+deb14-amd64"]),
            (&SID, "6.12-rt", vec!["linux-image-6.12.107+deb13-rt-amd64"]),
        ] {
            assert_eq!(
                choose(names, kernel),
                Ok(expected.into_iter().map(str::to_owned).collect()),
                "{kernel}"
            );
        }
    }

    #[test]
    fn a_series_that_is_gone_names_what_is_there() {
        assert_eq!(choose(&BOOKWORM, "7.2"), Err(Some("6.10.3-amd64")));
        assert_eq!(choose(&SID, "7.2-rt"), Err(Some("6.12.107+deb13-rt-amd64")));
        assert_eq!(choose(&["bash"], "6.1"), Err(None));
    }

    #[test]
    fn kernels_of_another_architecture_are_others() {
        let names = [
            "linux-image-6.1.0-50-amd64",
            "linux-image-6.1.0-49-arm64",
            "linux-image-6.1.0-49-rt-arm64",
            "linux-image-6.1.0-51-arm64-16k",
            "linux-image-6.1.0-51-cloud-arm64",
        ];
        let of = |name| {
            packages(names.into_iter(), Series::find(name).expect("known"), Arch::Arm64)
                .expect("there")
                .concat()
        };
        assert_eq!(of("6.1"), "linux-image-6.1.0-49-arm64");
        assert_eq!(of("6.1-rt"), "linux-image-6.1.0-49-rt-arm64");
    }
}
