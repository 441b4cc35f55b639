//! A drawing as pixels.

use anyhow::{Context, Result, bail};
use resvg::{tiny_skia, usvg};

/// Pixels to a unit of the drawing: sharp in print at half a page's width.
const SCALE: f32 = 2.0;
/// Fonts that are on most machines, those that read best first.
const SANS: [&str; 4] = ["Noto Sans", "DejaVu Sans", "Liberation Sans", "Arial"];

/// A drawing without variables and media as PNG, with the fonts of this machine.
///
/// # Errors
/// If there are no fonts, or the drawing is none.
pub(crate) fn png(drawing: &str) -> Result<Vec<u8>> {
    let mut options = usvg::Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    // What `system-ui` is differs; sans-serif is there under some name.
    let named = |name: &&str| fonts.faces().any(|face| face.families.iter().any(|(own, _)| own == name));
    let any = || fonts.faces().find_map(|face| face.families.first().map(|(name, _)| name.clone()));
    let sans = SANS.iter().find(|name| named(name)).map(|name| (*name).to_owned()).or_else(any);
    match sans {
        Some(name) => fonts.set_sans_serif_family(name),
        None => bail!(
            "this machine has no fonts, and a plot needs its numbers: install one (Debian: fonts-dejavu-core), or write an .svg"
        ),
    }
    let tree = usvg::FsRoot::from_str(drawing, &options).context("the drawing cannot be read")?;
    let size = tree.size().to_int_size().scale_by(SCALE).context("the drawing has no size")?;
    let mut pixels =
        tiny_skia::Pixmap::new(size.width(), size.height()).context("the drawing is too large")?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().context("cannot encode the PNG")
}
