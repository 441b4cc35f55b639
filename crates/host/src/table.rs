//! A struct of readings, declared with the file each is from.

/// Declares a struct whose fields are `Reading`s, each of one file below a directory, and how it is read.
///
/// ```text
/// readings! {
///     /// The memory manager.
///     pub struct Vm {
///         /// How readily anonymous pages are swapped, 0 to 200.
///         pub swappiness: u64 = "swappiness",
///     }
/// }
/// let vm = Vm::read(&tree, "/proc/sys/vm");
/// ```
macro_rules! readings {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: $kind:ty = $file:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[$doc])* pub $field: $crate::Reading<$kind>,)+
        }

        impl $name {
            /// Reads the files below `dir`.
            pub(crate) fn read(tree: &$crate::FsRoot, dir: &str) -> Self {
                $name { $($field: tree.value(&format!("{dir}/{}", $file)),)+ }
            }
        }
    };
}
pub(crate) use readings;
