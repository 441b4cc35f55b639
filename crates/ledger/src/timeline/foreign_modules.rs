//! Modules from outside the kernel's tree, by the facts of the recording: an answer that names a function of one says so.

use whylate_base::Evidence;

/// Names and taints of modules.
#[derive(Debug, Default)]
pub(crate) struct ForeignModules(Vec<(String, String)>);

impl ForeignModules {
    pub(crate) fn add(&mut self, name: String, taints: String) {
        if !self.0.iter().any(|(known, _)| *known == name) {
            self.0.push((name, taints));
        }
    }

    /// What is to be said of the modules of which `evidence` names a function, as the kernel writes it: `function [module]`.
    pub(crate) fn named_in(&self, evidence: &[Evidence]) -> Vec<Evidence> {
        let is_named = |name: &str| {
            let marked = format!(" [{name}]");
            evidence.iter().any(|seen| seen.what.contains(&marked))
        };
        let named = self.0.iter().filter(|(name, _)| is_named(name));
        named
            .map(|(name, taints)| {
                Evidence::general(format!("the module {name} is not from the kernel's tree (taint {taints})"))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_modules_whose_functions_are_named_are_noted() {
        let mut modules = ForeignModules::default();
        modules.add("nvidia".to_owned(), "POE".to_owned());
        modules.add("nvidia".to_owned(), "POE".to_owned());
        modules.add("vboxdrv".to_owned(), "OE".to_owned());
        for (what, expected) in [
            ("most of it in nv_timer_callback [nvidia]", "nvidia is not from the kernel's tree (taint POE)"),
            ("nvidia was loaded", ""),
            ("in f [nvidia_modeset]", ""),
            ("irq 16 nvidia", ""),
        ] {
            let said: String = modules
                .named_in(&[Evidence::general("x"), Evidence::general(what)])
                .into_iter()
                .map(|evidence| evidence.what)
                .collect();
            assert_eq!(said.is_empty(), expected.is_empty(), "{what}: {said}");
            assert!(said.contains(expected), "{what}: {said}");
        }
    }
}
