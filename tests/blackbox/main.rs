//! The built server from outside: what it promises, told as stories, by clients that know nothing of its insides.

mod assistant;
mod bodies;
mod command_line;
mod crash;
mod cross_origin;
mod demo;
mod drain;
mod errors;
mod errors_agent;
mod errors_assistant;
mod idempotency;
mod job_life;
mod keys;
mod prompt_to_pull_request;
mod quota;
mod sdk;
mod search;
