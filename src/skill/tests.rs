//! Finding, reading and shadowing of skills.

use rstest::rstest;

use super::*;

fn write(folder: &Path, path: &str, text: &str) {
    let file = folder.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn told(skills: &Skills, folder: &Path) -> Vec<String> {
    let root = folder.to_string_lossy().into_owned();
    skills
        .diagnostics()
        .iter()
        .map(|d| format!("{:?} {d}", d.severity).replace(&root, "…"))
        .collect()
}

#[test]
fn the_built_in_skill_is_sound_and_has_its_references() {
    let skills = Skills::find(Path::new("/nowhere"), None);
    assert_eq!(skills.diagnostics(), []);
    let skill = skills.get(DATA_ANALYSIS).unwrap();
    assert_eq!(skill.source, Source::BuiltIn);
    assert!(skill.body.starts_with("# Data analysis") && skill.body.contains("TodoWrite"));
    assert_eq!(skill.files(), ["references/outliers.md", "references/sql-patterns.md"]);
    assert!(!skill.file("./references/outliers.md").unwrap().is_empty());
}

/// The binary's list must keep up with the folder.
#[test]
fn every_file_of_the_built_in_skill_is_in_the_binary() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("skills");
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let built_in = BUILT_IN
            .iter()
            .find(|b| entry.file_name() == b.name)
            .expect("an entry in BUILT_IN");
        let mut files = Vec::new();
        collect_files(&entry.path(), &entry.path(), &mut files);
        files.sort();
        assert_eq!(files, built_in.files.iter().map(|f| f.0).collect::<Vec<_>>());
    }
}

#[test]
fn the_project_comes_before_the_user_and_the_binary() {
    let (project, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(
        project.path(),
        "skills/a/SKILL.md",
        "---\nname: a\ndescription: First.\n---\nOne.\n",
    );
    write(
        project.path(),
        ".analyst/skills/a/SKILL.md",
        "---\nname: a\ndescription: Second.\n---\nTwo.\n",
    );
    write(
        user.path(),
        "a/SKILL.md",
        "---\nname: a\ndescription: Third.\n---\nOne.\n",
    );
    write(
        user.path(),
        "data-analysis/SKILL.md",
        "---\nname: data-analysis\ndescription: Mine.\n---\nMine.\n",
    );
    let skills = Skills::find(project.path(), Some(user.path()));
    let found: Vec<_> = skills
        .iter()
        .map(|s| (s.name.as_str(), s.source, s.description.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("a", Source::Project, "First."),
            ("data-analysis", Source::User, "Mine.")
        ]
    );
    assert_eq!(
        told(&skills, project.path()),
        [
            "Note …/.analyst/skills/a/SKILL.md:1: the project skill `a` is shadowed by the project one",
            "Note built-in/data-analysis/SKILL.md:1: the built in skill `data-analysis` is shadowed by the user one",
        ]
    );
}

#[rstest]
#[case(
    "no frontmatter",
    "Error …/skills/s/SKILL.md:1: not loaded: the file must begin with `---` and its frontmatter"
)]
#[case(
    "---\nname: s\n",
    "Error …/skills/s/SKILL.md:1: not loaded: the frontmatter has no closing `---`"
)]
#[case(
    "---\nname: s\n---\n",
    "Error …/skills/s/SKILL.md:1: not loaded: `description` is missing or empty"
)]
#[case(
    "---\ndescription: D.\nname: ''\n---\n",
    "Error …/skills/s/SKILL.md:3: not loaded: `name` is missing or empty"
)]
#[case(
    "---\nname: S s\ndescription: D.\n---\n",
    "Error …/skills/s/SKILL.md:2: not loaded: the name `S s` may hold only lowercase letters, digits and hyphens"
)]
#[case(
    "---\nname: s--s\ndescription: D.\n---\n",
    "Error …/skills/s/SKILL.md:2: not loaded: the name `s--s` may not begin or end with a hyphen, nor hold two in a row"
)]
#[case("---\nname: s\ndescription: [D.\n---\n", "Error …/skills/s/SKILL.md:")]
#[case(
    "---\nname: other\ndescription: D.\n---\n",
    "Warning …/skills/s/SKILL.md:2: the name `other` differs from the folder's, `s`; rename one of them"
)]
#[case(
    "---\nname: s\ndescription: D.\nversion: 2\n---\n",
    "Warning …/skills/s/SKILL.md:4: `version` is not a field of the specification; it is ignored"
)]
#[case(
    "---\nname: s\ndescription: Use when: asked.\n---\n",
    "Warning …/skills/s/SKILL.md:3: the description has a colon and must stand in quotes; it was read as if it did"
)]
fn what_is_wrong_is_told_with_file_and_line(#[case] text: &str, #[case] expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "skills/s/SKILL.md", text);
    let skills = Skills::find(folder.path(), None);
    let told = told(&skills, folder.path());
    assert!(told.len() == 1 && told[0].starts_with(expected), "{told:#?}");
    let loaded = skills.iter().any(|s| s.source == Source::Project);
    assert_eq!(loaded, expected.starts_with("Warning"));
}

#[test]
fn an_unquoted_colon_is_repaired_over_several_lines() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        "---\r\nname: s\r\ndescription: Use \"this\" when: asked,\r\n  or: told.\r\nlicense: MIT\r\n---\r\nBody.\r\n";
    write(folder.path(), "skills/s/SKILL.md", text);
    let skills = Skills::find(folder.path(), None);
    let skill = skills.get("s").unwrap();
    assert_eq!(skill.description, "Use \"this\" when: asked, or: told.");
    assert_eq!(
        (skill.frontmatter.license.as_deref(), skill.body.as_str()),
        (Some("MIT"), "Body.")
    );
}

#[test]
fn all_fields_of_the_specification_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let text = "---\nname: s\ndescription: D.\ncompatibility: Needs SQL.\nallowed-tools: sql_execute chart\n\
                metadata:\n  author: me\n  version: 1.5\n---\n# Body\n";
    write(folder.path(), "skills/s/SKILL.md", text);
    let skills = Skills::find(folder.path(), None);
    let frontmatter = &skills.get("s").unwrap().frontmatter;
    assert_eq!(frontmatter.allowed_tools, ["sql_execute", "chart"]);
    assert_eq!(frontmatter.metadata.get("version").map(String::as_str), Some("1.5"));
    assert_eq!(frontmatter.compatibility.as_deref(), Some("Needs SQL."));
    assert_eq!(skills.diagnostics(), []);
}

#[test]
fn a_misspelt_file_name_is_told() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "skills/s/skill.md",
        "---\nname: s\ndescription: D.\n---\n",
    );
    let skills = Skills::find(folder.path(), None);
    assert_eq!(
        told(&skills, folder.path()),
        ["Warning …/skills/s/skill.md:1: not loaded: the file must be named SKILL.md"]
    );
}

#[test]
fn files_of_a_skill_cannot_be_had_from_outside_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "secret.md", "secret");
    write(
        folder.path(),
        "skills/s/SKILL.md",
        "---\nname: s\ndescription: D.\n---\n",
    );
    write(folder.path(), "skills/s/references/a.md", "inside");
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path().join("secret.md"), folder.path().join("skills/s/link.md")).unwrap();
    let skills = Skills::find(folder.path(), None);
    let skill = skills.get("s").unwrap();
    assert_eq!(skill.file("references/a.md").unwrap(), "inside");
    let absolute = folder.path().join("secret.md").to_string_lossy().into_owned();
    for path in [
        "../../secret.md",
        "references/../../../secret.md",
        "link.md",
        &absolute,
        "",
        "references",
        "b.md",
    ] {
        let error = skill.file(path).unwrap_err().to_string();
        assert!(
            error.contains("is not a file inside the skill `s`; its files are: ") && error.ends_with("references/a.md"),
            "{error}"
        );
    }
}

#[test]
fn an_unknown_skill_names_those_there_are() {
    let error = Skills::find(Path::new("/nowhere"), None)
        .get("forecast")
        .unwrap_err()
        .to_string();
    assert_eq!(error, "there is no skill `forecast`; there are: data-analysis");
}

#[test]
fn the_user_folder_follows_xdg() {
    let home = |name: &str| (name == "HOME").then(|| "/home/u".to_owned());
    let both = |name: &str| Some(if name == "HOME" { "/home/u" } else { "/xdg" }.to_owned());
    assert_eq!(user_folder(&home).unwrap(), Path::new("/home/u/.config/analyst/skills"));
    assert_eq!(user_folder(&both).unwrap(), Path::new("/xdg/analyst/skills"));
    assert_eq!(user_folder(&|_| None), None);
}
