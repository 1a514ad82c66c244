//! SKILL.md files: found, read, checked.
