//! Paths as text.

/// A path without `.`, `..` and doubled slashes; links are not looked at.
pub fn normal_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_one_form() {
        for (path, normal) in [("/a/./b//c/", "/a/b/c"), ("/a/../../b", "/b"), ("", "/"), ("a/..", "/")] {
            assert_eq!(normal_path(path), normal);
        }
    }
}
