//! HTTP mechanics: sockets to requests, and answers to sockets, on hyper.
//!
//! It gives an API crate what it needs to parse, call and present, and knows nothing of what is served. An API
//! implements [`Handler`] and hands it to [`serve`] with a bound listener; an embedder with a server of its own calls
//! [`answer`] instead.
//!
//! | file | does |
//! |---|---|
//! | `serve.rs`, `connection.rs` | accept, limit, drain; one connection |
//! | `draining.rs` | the shutdown signal for handlers |
//! | `socket.rs`, `activity.rs` | a socket with write and close timeouts; whether a connection is idle |
//! | `answer.rs` | what every answer gets: request id, caught panics, the access log line |
//! | `unread.rs`, `refused_head.rs` | an answer before the body was read; one to a head that is not HTTP |
//! | `request.rs`, `target.rs`, `json.rs` | reading: path segments, query, headers, bodies within limits, JSON |
//! | `body_memory.rs` | how much memory all bodies that are being read may take |
//! | `object.rs`, `wording.rs` | JSON objects and whole numbers; serde's errors in words of JSON |
//! | `body.rs`, `framed.rs`, `keep_alive.rs`, `respond.rs` | writing: whole bodies and streams |
//! | `csv.rs` | tables as files |
//! | `entity_tag.rs` | answers that a client may have already |
//! | `error.rs`, `rate_limit.rs` | every non-2xx answer, in one envelope |
//! | `methods.rs`, `cors.rs` | which methods a path takes; which scripts may read it |
//!
//! An `Accept` header is ignored: some clients ask for JSON and expect a stream.

mod activity;
mod answer;
mod body;
mod body_memory;
mod connection;
pub mod cors;
mod csv;
mod draining;
mod entity_tag;
mod error;
mod framed;
mod json;
mod keep_alive;
mod limits;
mod methods;
mod object;
mod rate_limit;
mod refused_head;
mod request;
mod request_id;
pub mod respond;
mod serve;
mod socket;
mod target;
mod unread;
mod wording;

pub use answer::{Handler, answer, catch_panic};
pub use body::Body;
pub use csv::Csv;
pub use draining::Draining;
pub use entity_tag::{answer_unless_known, bytes_unless_known, json_unless_known};
pub use error::{ErrorShape, HttpError};
pub use framed::framed;
pub use json::JsonBody;
pub use keep_alive::with_keep_alive;
pub use limits::ServerLimits;
pub use methods::Methods;
pub use object::{Object, WholeNumber};
pub use rate_limit::rate_limit;
pub use request::Request;
pub use request_id::RequestId;
pub use respond::Response;
pub use serve::{Drained, serve};
pub use wording::{Notation, in_plain_words};
