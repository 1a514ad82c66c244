//! How sources are resolved, and how mistakes are told.

use rstest::rstest;

use super::*;

fn no_variables(_: &str) -> Option<String> {
    None
}

fn in_folder(toml: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(FILE_NAME), toml).unwrap();
    folder
}

fn error_of(toml: &str) -> String {
    let folder = in_folder(toml);
    let error = Config::resolve(Overrides::default(), folder.path(), &no_variables)
        .unwrap_err()
        .to_string();
    error.replace(&folder.path().to_string_lossy().into_owned(), "…")
}

const WHOLE: &str = r#"
version = 1
model = "openai:gpt-5"
db = "sales"
as_of = "2005-12-12"
language = "zh"

[connections.sales]
url = "data/sales.sqlite"
semantic = "sales.yaml"

[connections.shop]
url_env = "SHOP_URL"

[plan]
max_items = 8
reminder = 0

[budget]
max_turns = 10
max_cost = 0.5

[batch]
jobs = 4

[prices."openai:gpt-5"]
input = 1.25
cached = 0.125
output = 10.0
"#;

#[test]
fn without_any_source_nothing_leaves_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    let keys = |name: &str| (name == "OPENAI_API_KEY").then(|| "secret".to_owned());
    let config = Config::resolve(Overrides::default(), folder.path(), &keys).unwrap();
    assert_eq!(config, Config::default());
    assert_eq!(
        (config.model.as_str(), config.db, config.plan.reminder),
        ("builtin", None, 3)
    );
}

#[test]
fn a_file_above_is_found_and_its_paths_are_its_own() {
    let folder = in_folder(WHOLE);
    let below = folder.path().join("a/b");
    std::fs::create_dir_all(&below).unwrap();
    let config = Config::resolve(Overrides::default(), &below, &no_variables).unwrap();
    let db = config.db.as_ref().unwrap();
    assert_eq!(db.name.as_deref(), Some("sales"));
    assert_eq!(db.url, folder.path().join("data/sales.sqlite").to_string_lossy());
    assert_eq!(config.semantic_path(), Some(folder.path().join("sales.yaml").as_path()));
    assert_eq!(config.language, Some(Language::Chinese));
    assert_eq!(config.as_of, Some(jiff::civil::date(2005, 12, 12)));
    assert_eq!(
        config.plan,
        Plan {
            enabled: true,
            max_items: 8,
            reminder: 0
        }
    );
    assert_eq!(
        (
            config.budget.max_turns,
            config.budget.max_cost,
            config.budget.max_seconds
        ),
        (10, Some(0.5), 1_800)
    );
    assert_eq!(
        config.price(),
        Some(Price {
            input: 1.25,
            cached: Some(0.125),
            output: 10.0
        })
    );
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let folder = in_folder(WHOLE);
    let variables = |name: &str| match name {
        "ANALYST_MODEL" => Some("anthropic:claude".to_owned()),
        "ANALYST_AS_OF" => Some("2005-09-01".to_owned()),
        "SHOP_URL" => Some("postgres://shop".to_owned()),
        _ => None,
    };
    let flags = Overrides {
        model: Some("builtin".into()),
        db: Some("shop".into()),
        plan_enabled: Some(false),
        max_turns: Some(3),
        ..Overrides::default()
    };
    let config = Config::resolve(flags, folder.path(), &variables).unwrap();
    assert_eq!(config.model, "builtin");
    assert_eq!(config.as_of, Some(jiff::civil::date(2005, 9, 1)));
    assert_eq!(config.db.as_ref().unwrap().url, "postgres://shop");
    assert_eq!(
        (config.plan.enabled, config.budget.max_turns, config.batch.jobs),
        (false, 3, 4)
    );
}

#[rstest]
#[case("\nmodle = \"x\"\n", "…/analyst.toml:2: unknown key `modle`; did you mean `model`?")]
#[case(
    "[plan]\nremind = 2\n",
    "…/analyst.toml:2: unknown key `remind`; did you mean `reminder`?"
)]
#[case(
    "[plan]\nzzz = 2\n",
    "…/analyst.toml:2: unknown key `zzz`; known are: enabled, max_items, reminder"
)]
#[case("model = \n", "…/analyst.toml:1: ")]
#[case(
    "[budget]\n\nmax_turns = \"many\"\n",
    "…/analyst.toml:3: invalid type: string \"many\", expected u32"
)]
#[case(
    "version = 7\n",
    "…/analyst.toml:1: version 7 is not known; this program reads version 1"
)]
#[case(
    "[connections.shop]\n",
    "…/analyst.toml:1: connection `shop` needs either `url` or `url_env`"
)]
#[case(
    "as_of = \"May\"\n",
    "as_of in analyst.toml is `May`, but it must be a date such as 2005-12-12"
)]
#[case(
    "language = \"fr\"\n",
    "language in analyst.toml is `fr`, but it must be `en` or `zh`"
)]
#[case(
    "[plan]\nmax_items = 21\n",
    "plan.max_items is `21`, but it must be between 1 and 20"
)]
#[case("[batch]\njobs = 0\n", "jobs is `0`, but it must be at least 1")]
#[case(
    "db = \"shopp\"\n[connections.shop]\nurl = \"x\"\n",
    "there is no connection `shopp`; did you mean `shop`? A path or a URL will do as well"
)]
#[case(
    "db = \"shop\"\n[connections.shop]\nurl_env = \"SHOP\"\n",
    "connection `shop` takes its URL from the environment variable SHOP, which is not set"
)]
#[case(
    "[connections.a]\nurl = \"x\"\ntls = { certificate = \"c.pem\" }\n",
    "…/analyst.toml:1: connection `a` needs `tls.certificate` and `tls.key` together"
)]
#[case(
    "[connections.a]\nurl = \"x\"\ntls = { ca = \"c.pem\", mode = \"off\" }\n",
    "…/analyst.toml:1: connection `a` names certificates and says `tls.mode = \"off\"`"
)]
#[case(
    "[connections.a]\nurl = \"x\"\nlimits = { timeout = 0 }\n",
    "…/analyst.toml:1: connection `a` has `limits.timeout = 0`; it must be at least 1"
)]
#[case(
    "[connections.a]\nurl = \"x\"\nlimits = { max_row = 1 }\n",
    "…/analyst.toml:3: unknown key `max_row`; did you mean `max_rows`?"
)]
fn a_mistake_is_named_with_its_line_and_value(#[case] toml: &str, #[case] message: &str) {
    let error = error_of(toml);
    assert!(error.starts_with(message), "{error}");
}

#[test]
fn a_named_file_must_exist() {
    let flags = Overrides {
        config: Some("/nowhere/a.toml".into()),
        ..Overrides::default()
    };
    let error = Config::resolve(flags, Path::new("/"), &no_variables)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("cannot read /nowhere/a.toml: No such file"),
        "{error}"
    );
}

#[test]
fn passwords_are_not_shown_by_debug() {
    let folder = in_folder("db = \"a\"\n[connections.a]\nurl = \"postgres://u:hunter2@h/d\"\n");
    let config = Config::resolve(Overrides::default(), folder.path(), &no_variables).unwrap();
    assert_eq!(config.db.as_ref().unwrap().url, "postgres://u:hunter2@h/d");
    assert!(!format!("{config:?}").contains("hunter2"));
}

const GUARDED: &str = r#"
[connections.prod]
url_env = "PROD_URL"
role = "reporting"
schemas = ["sales", "crm"]
tls = { ca = "ca.pem", certificate = "client.pem", key = "/etc/client.key" }
limits = { max_rows = 500, timeout = 10, max_cost = 100000 }
"#;

#[test]
fn a_named_connection_says_how_it_is_used() {
    let folder = in_folder(GUARDED);
    let variables = |name: &str| (name == "PROD_URL").then(|| "postgres://ann:s3cret@h/d".to_owned());
    let flags = Overrides {
        db: Some("prod".into()),
        ..Overrides::default()
    };
    let config = Config::resolve(flags, folder.path(), &variables).unwrap();
    let access = &config.db.as_ref().unwrap().access;
    assert_eq!(access.role.as_deref(), Some("reporting"));
    assert_eq!(access.schemas, ["sales", "crm"]);
    assert_eq!(access.tls.ca, Some(folder.path().join("ca.pem")));
    assert_eq!(access.tls.key, Some("/etc/client.key".into()));
    assert_eq!(access.tls.mode(), Some(TlsMode::VerifyFull));
    assert_eq!(
        (access.limits.max_rows, access.limits.timeout, access.limits.max_cost),
        (Some(500), Some(10), Some(100_000))
    );
    assert!(!format!("{config:?}").contains("s3cret"));
}

#[rstest]
#[case("", None, "postgres://from-env")]
#[case("db = \"a.sqlite\"\n", None, "a.sqlite")]
#[case("", Some("b.sqlite"), "b.sqlite")]
fn database_url_is_taken_where_nothing_else_chooses(
    #[case] toml: &str,
    #[case] flag: Option<&str>,
    #[case] chosen: &str,
) {
    let folder = in_folder(toml);
    let variables = |name: &str| (name == "DATABASE_URL").then(|| "postgres://from-env".to_owned());
    let flags = Overrides {
        db: flag.map(str::to_owned),
        ..Overrides::default()
    };
    let config = Config::resolve(flags, folder.path(), &variables).unwrap();
    assert!(config.db.unwrap().url.ends_with(chosen));
}
