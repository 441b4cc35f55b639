//! `views.sql`: the tables' names for DuckDB.

use crate::schema::{TABLES, Table};
use std::path::Path;

/// A view for each table; one without files is empty.
pub(crate) fn views(root: &Path, has_files: impl Fn(&Table) -> bool) -> String {
    let mut views =
        "-- The tables of `whylate tables` for DuckDB: duckdb -init THIS_FILE. Written anew by each import.\n".to_owned();
    for table in &TABLES {
        let query = if has_files(table) { files(root, table) } else { empty(table) };
        views.push_str(&format!("CREATE OR REPLACE VIEW {} AS {query};\n", table.name));
    }
    views
}

/// Columns of later versions of the schema are null in older files.
fn files(root: &Path, table: &Table) -> String {
    let root = root.to_string_lossy().replace('\'', "''");
    format!(
        "FROM read_parquet('{root}/{}/*/*/*.parquet', union_by_name = true, hive_partitioning = true, \
         hive_types = {{'date': VARCHAR, 'machine': VARCHAR}})",
        table.name
    )
}

fn empty(table: &Table) -> String {
    let columns = table.columns.iter().map(|column| (column.name, column.holds.sql()));
    let columns: Vec<String> = columns
        .chain([("date", "VARCHAR")])
        .map(|(name, kind)| format!("NULL::{kind} AS \"{name}\""))
        .collect();
    format!("SELECT {} WHERE false", columns.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_a_view() {
        let views = views(Path::new("/a'b"), |table| table.name == "runs");
        assert_eq!(views.matches("CREATE OR REPLACE VIEW").count(), TABLES.len());
        assert!(views.contains("'/a''b/runs/*/*/*.parquet'"), "{views}");
        assert!(views.contains("NULL::VARCHAR AS \"where\""), "{views}");
    }
}
