//! Rule: a crate uses only crates on lower floors.

use super::Violation;
use super::crates::{self, Crate};
use super::manifest::Dependency;
use super::tree::Tree;

/// Where a crate stands.
enum Place {
    /// Floor, and step on that floor: what it uses must stand lower.
    On(u8, u8),
    /// Beside the house: uses these, and nobody uses it.
    Beside(&'static [&'static str]),
    /// For tests alone: every crate may have it as a dev-dependency, those beside the house as their entry allows.
    Tests,
}

/// The house. The one place with the floor of each crate.
const HOUSE: &[(&str, Place)] = &[
    ("whylate-testing", Place::Tests),
    ("whylate-base", Place::On(1, 0)),
    ("whylate-events", Place::On(1, 1)),
    ("whylate-sys", Place::On(1, 1)),
    ("whylate-stats", Place::On(1, 1)),
    ("whylate-metrics", Place::On(2, 0)),
    ("whylate-ftrace", Place::On(2, 0)),
    ("whylate-stacks", Place::On(2, 0)),
    ("whylate-host", Place::On(2, 0)),
    ("whylate-intake", Place::On(2, 1)),
    ("whylate-ledger", Place::On(3, 0)),
    ("whylate-checks", Place::On(3, 0)),
    ("whylate-probes", Place::On(3, 0)),
    ("whylate-investigate", Place::On(4, 0)),
    ("whylate-bootloader", Place::On(4, 0)),
    ("whylate-profiles", Place::On(4, 0)),
    ("whylate-tuning", Place::On(4, 1)),
    ("whylate-threads", Place::On(4, 2)),
    ("whylate-simulate", Place::On(4, 0)),
    ("whylate-prove", Place::On(4, 2)),
    ("whylate-report", Place::On(5, 0)),
    ("whylate-export", Place::On(5, 0)),
    ("whylate-tables", Place::On(5, 1)),
    ("whylate", Place::On(6, 0)),
    ("whylate-lab", Place::On(4, 0)),
    ("whylate-lab-cli", Place::On(6, 0)),
    ("whylate-inject", Place::Beside(&["whylate-base", "whylate-sys"])),
    (
        "whylate-fuzz",
        Place::Beside(&[
            "whylate-base",
            "whylate-checks",
            "whylate-events",
            "whylate-ftrace",
            "whylate-host",
            "whylate-intake",
            "whylate-ledger",
            "whylate-profiles",
            "whylate-report",
        ]),
    ),
    (
        "whylate-python",
        Place::Beside(&[
            "whylate-base",
            "whylate-checks",
            "whylate-events",
            "whylate-export",
            "whylate-host",
            "whylate-intake",
            "whylate-investigate",
            "whylate-ledger",
            "whylate-probes",
            "whylate-report",
            "whylate-simulate",
            "whylate-tables",
        ]),
    ),
    (
        "xtask",
        Place::Beside(&[
            "whylate-base",
            "whylate-stats",
            "whylate-report",
            "whylate-ledger",
            "whylate-testing",
        ]),
    ),
];

fn place(name: &str) -> Option<&'static Place> {
    HOUSE.iter().find(|(known, _)| *known == name).map(|(_, place)| place)
}

/// Checks every crate, and every dependency of one of ours on another.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let crates = crates::all(tree);
    crates.iter().flat_map(|user| of_crate(user, &crates)).collect()
}

fn of_crate(user: &Crate<'_>, crates: &[Crate<'_>]) -> Vec<Violation> {
    let Some(place_of_user) = place(user.name) else {
        let todo = "add it to HOUSE in xtask/src/tidy/floors.rs and to ARCHITECTURE.md";
        return vec![Violation::of(user.path, format!("{} has no floor", user.name), todo)];
    };
    let ours = |name: &str| place(name).is_some() || crates.iter().any(|other| other.name == name);
    let used = user.dependencies.iter().filter(|used| ours(used.package));
    // For its tests a crate may switch a feature of its own on.
    let used = used.filter(|used| !(used.dev && used.package == user.name));
    used.filter(|used| !allowed(place_of_user, used))
        .map(|used| {
            let wrong =
                format!("{} may not use {}: it does not stand on a lower floor", user.name, used.package);
            let todo = "move the shared part down, or the use up (floors: xtask/src/tidy/floors.rs)";
            Violation::at(user.path, used.line, wrong, todo)
        })
        .collect()
}

fn allowed(user: &Place, used: &Dependency<'_>) -> bool {
    match (user, place(used.package)) {
        (_, Some(Place::Tests)) if used.dev => true,
        (Place::On(floor, step), Some(Place::On(floor_of_used, step_of_used))) => {
            (floor_of_used, step_of_used) < (floor, step)
        }
        (Place::Beside(may_use), _) => may_use.contains(&used.package),
        (Place::On(..) | Place::Tests, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn house(user: &str, used: &str) -> Vec<Violation> {
        let user = format!(
            "[package]\nname = \"{user}\"\n[dependencies]\n{used}.workspace = true\nlibc = \"0.2\"\n"
        );
        check(&Tree::of(&[("crates/x/Cargo.toml", &user)]))
    }

    #[test]
    fn down_is_allowed_up_and_across_are_not() {
        for (user, used, fine) in [
            ("whylate-events", "whylate-base", true),
            ("whylate-sys", "whylate-base", true),
            ("whylate-sys", "whylate-events", false),
            ("whylate-base", "whylate-sys", false),
            ("whylate-intake", "whylate-ftrace", true),
            ("whylate-ftrace", "whylate-intake", false),
            ("whylate-ledger", "whylate-probes", false),
            ("whylate", "whylate-report", true),
            ("whylate-report", "whylate", false),
            ("whylate-inject", "whylate-sys", true),
            ("whylate-inject", "whylate-ledger", false),
            ("whylate", "whylate-inject", false),
            ("xtask", "whylate-report", true),
            ("xtask", "whylate-sys", false),
            ("whylate-sys", "whylate-testing", false),
            ("whylate-testing", "whylate-base", false),
        ] {
            assert_eq!(house(user, used).is_empty(), fine, "{user} -> {used}");
        }
    }

    #[test]
    fn what_is_for_tests_alone_is_a_dev_dependency() {
        let user =
            "[package]\nname = \"whylate-base\"\n[dev-dependencies]\nwhylate-testing.workspace = true\n";
        assert_eq!(check(&Tree::of(&[("crates/x/Cargo.toml", user)])), []);
    }

    #[test]
    fn the_line_of_the_dependency_is_named() {
        assert_eq!(house("whylate-base", "whylate-report").first().and_then(|v| v.line), Some(4));
    }

    #[test]
    fn an_unknown_crate_must_be_added_and_may_not_be_used() {
        let found = house("whylate-new", "whylate-base");
        assert!(found.iter().any(|violation| violation.wrong.contains("has no floor")));
        let tree = Tree::of(&[
            ("crates/new/Cargo.toml", "[package]\nname = \"whylate-new\"\n"),
            ("crates/cli/Cargo.toml", "[package]\nname = \"whylate\"\n[dependencies]\nwhylate-new = \"1\"\n"),
        ]);
        assert_eq!(check(&tree).len(), 2);
    }
}
