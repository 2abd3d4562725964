//! The built server from outside: what it promises, told as stories, by clients that know nothing of its insides.

mod assistant;
mod assistant_v1;
mod bodies;
mod command_line;
mod configuration;
mod crash;
mod cross_origin;
mod demo;
mod drain;
mod errors;
mod errors_agent;
mod errors_assistant;
mod events;
mod forges;
mod git_transport;
mod idempotency;
mod job_life;
mod keys;
mod lists;
mod models;
mod prompt_to_pull_request;
mod quota;
mod run;
mod sdk;
mod search;
mod v1;
