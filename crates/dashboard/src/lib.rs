//! The dashboard: pages for the people who run a docs assistant, rendered on the server.
//!
//! [`Dashboard::answer`] handles every request below `/dashboard`. A page is a function from the data of the core
//! crates to markup; a write is a form that is sent by POST and answered with a redirect. So everything but live
//! updates works without scripts, and all state is in the URL.
//!
//! | file | what |
//! |---|---|
//! | `dashboard.rs`, `route.rs` | from a request to a page; paths, and which role may ask for them |
//! | `guard.rs`, `form.rs` | cookies, and whether a write comes from a page of ours; the fields of forms |
//! | `layout.rs`, `text.rs`, `diff.rs`, `colours.rs`, `assets.rs` | what pages have in common |
//! | `pages/` | the pages |
//! | `cost.rs` | what tokens cost |
//! | `live.rs` | the event stream of live pages |
//! | `turns.rs` | what each turn of a job took |
//! | `pull_api.rs` | links of pull requests, and merging them by programs |
//! | `operations.rs` | the port to the server that runs the dashboard |
//!
//! This crate refuses to know the insides of the store, git and models.

mod assets;
mod colours;
mod cost;
mod dashboard;
mod diff;
mod form;
mod guard;
mod layout;
mod live;
mod operations;
mod pages;
mod pull_api;
mod route;
mod text;
mod turns;

pub use cost::{Prices, TokenPrice};
pub use dashboard::{Dashboard, DashboardParts};
pub use operations::{
    CheckFinding, Findings, FoundProject, IndexStatus, Level, Operations, ProjectError, ProjectForm, Setting,
};
