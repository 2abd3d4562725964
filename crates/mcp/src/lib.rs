//! The Model Context Protocol over HTTP: the docs of a site as tools for readers' agents, and its jobs as tools for
//! owners.
//!
//! The server side of the protocol without sessions is one JSON-RPC message in and one out, so it is written here, on the
//! same requests, limits, keys and errors as the rest of the API. Both eras are spoken: that of `initialize` (2025-03-26 to
//! 2025-11-25), where nothing is remembered of it, and that of requests which say everything themselves (2026-07-28).
//!
//! | file | what |
//! |---|---|
//! | `tool_server.rs`, `audience.rs` | `POST /mcp/{domain}` and `POST /mcp/agent/{projectId}`: admission, and one message answered |
//! | `message.rs` | a message, as bytes and as a request or a notification |
//! | `era.rs` | which version of the protocol a request speaks, and whether its headers say what its body says |
//! | `server.rs` | the methods: `server/discover`, `initialize`, `ping`, `tools/list`, `tools/call` |
//! | `tool.rs` | what a tool is and what it returns |
//! | `reader_tools.rs` | `search`, `get_page`, `list_pages`, `ask` |
//! | `owner_tools.rs` | `create_job`, `get_job`, `list_jobs`, `message_job` |
//! | `budget.rs` | how much of a context a result may take |
//!
//! This crate knows no agents, no git and no storage.

mod audience;
mod budget;
mod era;
mod message;
mod owner_tools;
mod reader_tools;
mod server;
mod tool;
mod tool_server;

pub use audience::Audience;
pub use tool_server::ToolServer;
