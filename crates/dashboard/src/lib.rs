//! The dashboard: pages for the people who run a docs assistant, rendered on the server.
//!
//! [`Dashboard::answer`] handles every request below `/dashboard`. A page is a function from the data of the core
//! crates to markup; a write is a form that is sent by POST and answered with a redirect. So everything but live
//! updates works without scripts, and all state is in the URL.
//!
//! | file | what |
//! |---|---|
//! | `dashboard.rs`, `route.rs` | handling of requests; paths, and the roles that they require |
//! | `guard.rs`, `form.rs` | cookies, and the checks of origin and token before a write; the fields of forms |
//! | `flash.rs` | what the next page says about what was done |
//! | `layout.rs`, `parts.rs`, `icon.rs`, `text.rs`, `words.rs`, `diff.rs`, `line_comments.rs`, `highlight.rs`, `assets.rs` | what pages have in common |
//! | `pages/` | the pages |
//! | `cost.rs` | what tokens cost |
//! | `prefix.rs` | the path below which a proxy serves the dashboard |
//! | `live.rs` | the event stream of live pages |
//! | `turns.rs` | time, steps and tokens of each turn of a job |
//! | `timeline.rs` | when something went on, drawn to scale |
//! | `pull_api.rs` | links of pull requests, and the API to merge, update or close them |
//! | `operations.rs` | the port to the server that runs the dashboard |
//!
//! This crate refuses to know the insides of the store, git and models.

mod assets;
mod cost;
mod dashboard;
mod diff;
mod flash;
mod forge_links;
mod form;
mod guard;
mod highlight;
mod icon;
mod layout;
mod line_comments;
mod live;
mod operations;
mod pages;
mod parts;
mod prefix;
mod pull_api;
mod route;
mod text;
mod timeline;
mod turns;
mod words;

pub use cost::Prices;
pub use dashboard::{Dashboard, DashboardParts};
pub use operations::{
    CheckFinding, CheckedProject, Findings, IndexStatus, Level, Operations, ProjectError, ProjectForm, SAME_TOKEN,
    Setting,
};
