//! Which verb a path means.

use docent_web::Methods;

/// A project, as the path says, and what is asked of it. Each verb is one file beside this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) project: String,
    pub(crate) verb: Verb,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verb {
    Create,
    Get { id: String },
    List,
}

impl Route {
    pub(crate) fn of(segments: &[&str]) -> Option<Self> {
        let (project, verb) = match *segments {
            ["v1", "agent", project, "job"] => (project, Verb::Create),
            // An empty id is a slash too many: such a path names nothing.
            ["v1", "agent", project, "job", id] if !id.is_empty() => (project, Verb::Get { id: id.into() }),
            ["v1", "agent", project, "jobs"] => (project, Verb::List),
            _ => return None,
        };
        Some(Self { project: project.into(), verb })
    }

    pub(crate) const fn methods(&self) -> Methods {
        match self.verb {
            Verb::Create => Methods::POST,
            Verb::Get { .. } | Verb::List => Methods::GET,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_means_one_verb_or_none() {
        let of = |path: &str| Route::of(&path.split('/').collect::<Vec<_>>()).map(|route| route.verb);
        assert_eq!(of("v1/agent/acme/job"), Some(Verb::Create));
        assert_eq!(of("v1/agent/acme/job/7"), Some(Verb::Get { id: "7".into() }));
        assert_eq!(of("v1/agent/acme/jobs"), Some(Verb::List));
        for none in ["", "v1", "v1/agent/acme", "v1/agent/acme/job/", "v1/agent/acme/jobs/", "v2/agent/acme/job"] {
            assert_eq!(of(none), None, "{none}");
        }
        assert_eq!(of("v1/agent/acme/job/7/message"), None);
    }
}
