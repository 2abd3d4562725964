//! Constructs the parts that commands use from the configuration: models, forges, credentials, sites.

pub(crate) mod app;
pub(crate) mod credentials;
pub(crate) mod embedders;
pub(crate) mod forges;
pub(crate) mod hooks;
pub(crate) mod identity_provider;
pub(crate) mod index_states;
pub(crate) mod missing_docs;
pub(crate) mod models;
pub(crate) mod privacy;
pub(crate) mod site_file;
pub(crate) mod sites;
pub(crate) mod storage;
