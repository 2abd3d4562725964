//! The client: sends one request, returns one response.

use std::error::Error as StdError;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bytes::Bytes;
use docent_types::is_private_host;
use http::header::{AUTHORIZATION, PROXY_AUTHORIZATION, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request, Uri};
use http_body_util::Full;
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::RootCertStore;
use tokio::time::{Instant, timeout};

use crate::connector::{ConnectError, Connector};
use crate::error::{SendError, Wait};
use crate::proxy::Proxies;
use crate::response::{BodyTimeouts, Response};
use crate::tls;

/// Sends requests and reuses connections. A clone is cheap and shares them.
#[derive(Debug, Clone)]
pub struct Client {
    /// Made with the first request, as the certificates take as long to read as a short command takes.
    pool: Arc<LazyLock<Pool, Box<dyn FnOnce() -> Pool + Send>>>,
    proxies: Proxies,
    options: ClientOptions,
}

type Pool = legacy::Client<Connector, Full<Bytes>>;

/// The `User-Agent` of requests that have none.
const OWN_USER_AGENT: HeaderValue = HeaderValue::from_static(concat!("docent/", env!("CARGO_PKG_VERSION")));

/// Time limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientOptions {
    /// Limit for a connection: name lookup, proxy and TLS together.
    pub connect: Duration,
    /// Limit for the head of the answer, from the start of the request, connecting included.
    pub head: Duration,
    /// Limit between two pieces of the body.
    pub idle: Duration,
    /// Limit for the whole exchange, up to the last byte of the body; `None` for no limit.
    pub total: Option<Duration>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            head: Duration::from_secs(120),
            idle: Duration::from_secs(90),
            total: None,
        }
    }
}

impl Client {
    /// A client with the machine's proxies, which are read here, and its certificates, which are read once by a process.
    pub fn new(options: ClientOptions) -> Self {
        Self::assemble(options, Proxies::of_the_environment(), tls::system_roots)
    }

    pub(crate) fn assemble(
        options: ClientOptions,
        proxies: Proxies,
        roots: impl FnOnce() -> Arc<RootCertStore> + Send + 'static,
    ) -> Self {
        let of_pool = proxies.clone();
        let pool: Box<dyn FnOnce() -> Pool + Send> = Box::new(move || {
            legacy::Client::builder(TokioExecutor::new())
                .timer(TokioTimer::new())
                .pool_timer(TokioTimer::new())
                .pool_idle_timeout(Duration::from_secs(60))
                .pool_max_idle_per_host(32)
                // Detects a dead connection, also while waiting for a slow answer.
                .http2_keep_alive_interval(Duration::from_secs(20))
                .http2_keep_alive_timeout(Duration::from_secs(20))
                .build(Connector::new(&tls::config(roots()), of_pool, options.connect))
        });
        Self { pool: Arc::new(LazyLock::new(pool)), proxies, options }
    }

    /// Sends a request to its absolute `http` or `https` address and waits for the head of the answer, whatever its
    /// status. A redirect is returned as an answer. Dropping the future or the response ends the exchange.
    ///
    /// # Errors
    /// Every kind of [`SendError`] but [`SendError::TooLarge`].
    pub async fn send(&self, mut request: Request<Bytes>) -> Result<Response, SendError> {
        let started = Instant::now();
        let route = self.route(&request)?;
        if let Some(proxy_key) = route.proxy_key {
            request.headers_mut().insert(PROXY_AUTHORIZATION, proxy_key);
        }
        request.headers_mut().entry(USER_AGENT).or_insert(OWN_USER_AGENT);
        let host = route.host;
        let (limit, what) = match self.options.total {
            Some(total) if total < self.options.head => (total, Wait::Total),
            _ => (self.options.head, Wait::Head),
        };
        let Ok(answer) = timeout(limit, self.pool.request(request.map(Full::new))).await else {
            return Err(SendError::Timeout { host, what, limit });
        };
        let (head, body) = answer.map_err(|error| self.classified(error, &host, route.proxy))?.into_parts();
        let total = self.options.total.map(|total| (started + total, total));
        Ok(Response::new(head, body, host, BodyTimeouts { idle: self.options.idle, total }))
    }

    /// The route of the request, or an error if it must not be sent.
    fn route(&self, request: &Request<Bytes>) -> Result<Route, SendError> {
        let uri = request.uri();
        let host = uri.authority().map_or("", |authority| {
            let whole = authority.as_str();
            whole.rsplit_once('@').map_or(whole, |(_, host)| host)
        });
        let refuse = |reason| Err(SendError::Address { host: host.to_owned(), reason });
        let is_plain = match uri.scheme_str() {
            Some("https") => false,
            Some("http") => true,
            _ => return refuse("the address has to begin with https:// or http://"),
        };
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return refuse("the address holds a name or a password; keep those out of addresses");
        }
        let proxy = self.proxies.for_destination(uri);
        if is_plain
            && has_credential(request.headers())
            && !is_on_own_network(uri, proxy.as_ref().map(|proxy| proxy.uri()))
        {
            return refuse("a key is not sent over plain http to another network; use https");
        }
        let proxy_key = proxy.as_ref().filter(|_| is_plain).and_then(|proxy| proxy.basic_auth().cloned());
        let proxy = proxy.and_then(|proxy| proxy.uri().authority().map(ToString::to_string));
        Ok(Route { host: host.to_owned(), proxy, proxy_key })
    }

    fn classified(&self, error: legacy::Error, host: &str, proxy: Option<String>) -> SendError {
        let fault = error.source().and_then(|source| source.downcast_ref::<ConnectError>()).cloned();
        let route = match proxy {
            Some(proxy) => format!("{host} through the proxy {proxy}"),
            None => host.to_owned(),
        };
        match fault {
            Some(ConnectError::Slow) => {
                SendError::Timeout { host: route, what: Wait::Connect, limit: self.options.connect }
            }
            Some(ConnectError::Untrusted { reason, cause }) => {
                SendError::Tls { host: host.to_owned(), reason, source: cause }
            }
            Some(ConnectError::Unreachable(source)) => SendError::Connect { host: route, source },
            None if error.is_connect() => SendError::Connect { host: route, source: Arc::new(error) },
            None => SendError::Cut { host: host.to_owned(), source: Arc::new(error) },
        }
    }
}

struct Route {
    host: String,
    proxy: Option<String>,
    /// The credential for a proxy that forwards plain requests; a tunnel sends its own in its CONNECT.
    proxy_key: Option<HeaderValue>,
}

/// The headers that keys and tokens travel in.
fn has_credential(headers: &HeaderMap) -> bool {
    headers.contains_key(AUTHORIZATION) || ["x-api-key", "private-token"].iter().any(|name| headers.contains_key(*name))
}

fn is_on_own_network(destination: &Uri, proxy: Option<&Uri>) -> bool {
    let is_private = |address: &Uri| is_private_host(address.host().unwrap_or_default());
    is_private(destination) && proxy.is_none_or(is_private)
}
