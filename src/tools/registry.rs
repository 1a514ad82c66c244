//! Which tools there are: the one list that prompts, dispatch and `analyst tools` read.

use crate::tools::Tool;

/// The tools of a run, in the order in which they are offered.
#[derive(Default)]
pub struct Registry {
    tools: Vec<Box<dyn Tool>>,
}

impl Registry {
    pub fn new(tools: Vec<Box<dyn Tool>>) -> Self {
        Self { tools }
    }
    pub fn get(&self, name: &str) -> Option<&dyn Tool> {
        self.tools.iter().find(|t| t.name() == name).map(Box::as_ref)
    }
    pub fn iter(&self) -> impl Iterator<Item = &dyn Tool> {
        self.tools.iter().map(Box::as_ref)
    }
}
