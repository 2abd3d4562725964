//! The foundation of the black-box tests: the built `docent`, started as a person would start it, real bare git
//! repositories, and a small HTTP client that shows every header and every byte.
//!
//! Nothing here links a crate of the project. The tests know Docent only through its API and its command line, so they
//! would survive a rewrite of everything inside.
//!
//! | module | what it offers |
//! |---|---|
//! | [`binary`] | the path of the built `docent`; builds it unless `$DOCENT_BIN` is set |
//! | [`installation`] | a data directory, and the command line on it |
//! | [`server`] | a running `docent serve`: start, kill -9, SIGTERM |
//! | [`repository`] | bare git repositories to write docs into and to look at afterwards |
//! | [`http`] | requests, whole answers, and answers read as they arrive |
//! | [`api_description`] | the description of the API, which every answer is held against |
//! | [`agent`], [`assistant`] | the two halves of the API, as a client sees them |
//! | [`site`] | all of it at once: one project with docs and keys, served |
//! | [`git_server`], [`ssh_server`] | git hosts over HTTP and ssh, which can be set to misbehave |
//! | [`forge_server`] | GitHub, GitLab and Gitea as their published REST describes them |
//! | [`model_server`] | a model that plays a script, with the protocols of the services |
//! | [`identity_provider`] | an OpenID Connect provider whose claims are set |
//! | [`listener`] | a server that records the credentials that it is sent |
//! | [`hook_receiver`] | a receiver of webhooks, which can be set to fail or not to answer |
//! | [`embedding_server`] | a server that embeds by a rule, and can be told to delay its responses |
//! | [`postgres`] | a PostgreSQL server, which can be stopped and started again, and have a standby |
//! | [`database_proxy`] | a proxy before it, which cuts connections and can lead to another server |
//! | [`pooler`] | PgBouncer before it |
//! | [`third_party`] | third-party servers, as child processes |
//! | [`wait`] | waiting for something to become true, with a deadline |
//!
//! A fault in the environment (git missing, a port refused) panics with what was tried: it is a failed test.

pub mod agent;
pub mod api_description;
pub mod assistant;
pub mod binary;
pub mod database_proxy;
pub mod embedding_server;
pub mod forge_server;
pub mod git_server;
pub mod hook_receiver;
pub mod http;
mod http_server;
pub mod identity_provider;
pub mod installation;
pub mod listener;
pub mod model_server;
pub mod person;
pub mod pooler;
pub mod postgres;
pub mod repository;
pub mod server;
pub mod site;
pub mod ssh_server;
pub mod third_party;
pub mod wait;

pub use agent::Agent;
pub use assistant::{Answer, Assistant};
pub use database_proxy::{CommitCut, DatabaseProxy};
pub use forge_server::ForgeServer;
pub use git_server::GitServer;
pub use hook_receiver::HookReceiver;
pub use http::{Request, Response};
pub use identity_provider::IdentityProvider;
pub use installation::{Finished, Installation, KeyKind};
pub use model_server::ModelServer;
pub use person::Person;
pub use pooler::Pooler;
pub use postgres::Postgres;
pub use repository::Repository;
pub use server::Server;
pub use site::Site;
pub use ssh_server::SshServer;
pub use third_party::ThirdPartyServer;
pub use wait::eventually;
