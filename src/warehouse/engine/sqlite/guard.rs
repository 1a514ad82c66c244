//! What a connection to SQLite may do: read, and nothing else.
//!
//! Opening read-only and `query_only` both leak (VACUUM INTO writes a file, ATTACH opens others, temporary tables appear),
//! so the authorizer decides about every action while a statement is compiled.

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

/// Pragmas that describe the schema, with or without an argument.
const DESCRIBING_PRAGMAS: &[&str] = &[
    "table_info",
    "table_xinfo",
    "table_list",
    "index_list",
    "index_info",
    "index_xinfo",
    "foreign_key_list",
    "database_list",
    "collation_list",
    "function_list",
    "module_list",
    "pragma_list",
    "compile_options",
];

/// Pragmas that tell a setting when asked without a value, and change it with one.
const SETTING_PRAGMAS: &[&str] = &[
    "user_version",
    "application_id",
    "encoding",
    "schema_version",
    "data_version",
    "page_count",
    "page_size",
    "freelist_count",
    "foreign_keys",
    "query_only",
    "journal_mode",
];

/// Functions that reach out of the database or change how it works.
const REFUSED_FUNCTIONS: &[&str] = &[
    "load_extension",
    "fts3_tokenizer",
    "readfile",
    "writefile",
    "edit",
    "rtreecheck",
];

/// Locks `connection` down: reading alone, schema not trusted, no extensions.
pub(super) fn restrict(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false)?;
    connection.authorizer(Some(judge))
}

fn judge(context: AuthContext<'_>) -> Authorization {
    if may(&context.action) {
        Authorization::Allow
    } else {
        Authorization::Deny
    }
}

fn may(action: &AuthAction<'_>) -> bool {
    match action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => true,
        AuthAction::Function { function_name } => !is_in(REFUSED_FUNCTIONS, function_name),
        AuthAction::Pragma {
            pragma_name,
            pragma_value,
        } => is_in(DESCRIBING_PRAGMAS, pragma_name) || (pragma_value.is_none() && is_in(SETTING_PRAGMAS, pragma_name)),
        // The enum is open and belongs to rusqlite: whatever else there is or will be is not reading.
        _ => false,
    }
}

fn is_in(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}
