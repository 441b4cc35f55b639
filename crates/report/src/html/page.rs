//! One self-contained HTML file: no network, readable without JavaScript, printable.
//!
//! The drawing is complete as it stands; `script.js` only adds zooming and hover details.
//! Names are chosen by the threads themselves: everything passes through `words::clean`
//! and the template's escaping, and the page forbids itself every connection.

use crate::svg;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Nothing may be loaded from anywhere; the page's own style and script are inline.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      base-uri 'none'; form-action 'none'";

pub(crate) fn page(title: &str, header: &Markup, main: &Markup, footer: &Markup) -> String {
    let style = svg::file::style(&format!("{}{}", header.0, main.0));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " - whylate" }
                style { (PreEscaped(include_str!("style.css"))) (PreEscaped(style)) }
            }
            body {
                header { (header) }
                main { (main) }
                footer { (footer) }
                script { (PreEscaped(include_str!("script.js"))) }
            }
        }
    };
    page.into_string()
}
