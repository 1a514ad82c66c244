//! One resolved configuration: flags over environment over `analyst.toml` over defaults.
