//! From a URL to a connection: name lookup, proxy if any, TLS if needed, all within one time limit.
//!
//! ```text
//! Connector    the time limit; says what failed
//!   HttpsConnector    TLS with the destination, for https
//!     Dial            straight there, or to the proxy: CONNECT for https, the proxy's own connection for http
//! ```

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use thiserror::Error;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::error::Cause;
use crate::proxy::{Proxies, is_supported};
use crate::tls;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Makes the connections of a client.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    dial: HttpsConnector<ProxyConnector>,
    limit: Duration,
}

/// Why there is no connection.
#[derive(Debug, Clone, Error)]
pub(crate) enum ConnectError {
    #[error("it took too long")]
    Slow,
    #[error("{reason}")]
    Untrusted { reason: &'static str, cause: Cause },
    #[error("no connection")]
    Unreachable(Cause),
}

impl Connector {
    pub(crate) fn new(tls: &ClientConfig, proxies: Proxies, limit: Duration) -> Self {
        let to_proxy = HttpsConnector::from((tcp(), tls.clone()));
        let dial = ProxyConnector { to_proxy, proxies };
        let builder = HttpsConnectorBuilder::new().with_tls_config(tls.clone()).https_or_http();
        Self { dial: builder.enable_all_versions().wrap_connector(dial), limit }
    }
}

/// Plain TCP connections.
fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(Duration::from_secs(60)));
    tcp
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<ProxiedConnection>;
    type Error = ConnectError;
    type Future = BoxFuture<'static, Result<Self::Response, ConnectError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        self.dial.poll_ready(context).map_err(fault)
    }

    fn call(&mut self, destination: Uri) -> Self::Future {
        let connecting = self.dial.call(destination);
        let limit = self.limit;
        async move {
            match tokio::time::timeout(limit, connecting).await {
                Ok(connected) => connected.map_err(fault),
                Err(_) => Err(ConnectError::Slow),
            }
        }
        .boxed()
    }
}

fn fault(error: BoxError) -> ConnectError {
    let refusal = error.downcast_ref::<io::Error>().and_then(tls::refusal);
    let cause: Cause = Arc::from(error);
    match refusal {
        Some(reason) => ConnectError::Untrusted { reason, cause },
        None => ConnectError::Unreachable(cause),
    }
}

/// Reaches a destination or the proxy in front of it.
#[derive(Debug, Clone)]
pub(crate) struct ProxyConnector {
    /// Uses TLS where a proxy's own address is https; destinations are passed to it as plain http addresses.
    to_proxy: HttpsConnector<HttpConnector>,
    proxies: Proxies,
}

impl Service<Uri> for ProxyConnector {
    type Response = ProxiedConnection;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<ProxiedConnection, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.to_proxy.poll_ready(context)
    }

    fn call(&mut self, destination: Uri) -> Self::Future {
        let is_https = destination.scheme_str() == Some("https");
        match self.proxies.for_destination(&destination) {
            None => {
                let connecting = self.direct(&destination, is_https);
                async move { Ok(ProxiedConnection { stream: connecting.await?, proxied: false }) }.boxed()
            }
            Some(proxy) if !is_supported(&proxy) => {
                async { Err("only proxies with an http or https address are known".into()) }.boxed()
            }
            Some(proxy) if is_https => {
                let tunnelling = tunnel(&proxy, self.to_proxy.clone()).call(destination);
                async move { Ok(ProxiedConnection { stream: tunnelling.await?, proxied: false }) }.boxed()
            }
            Some(proxy) => {
                let connecting = self.to_proxy.call(proxy.uri().clone());
                async move { Ok(ProxiedConnection { stream: connecting.await?, proxied: true }) }.boxed()
            }
        }
    }
}

impl ProxyConnector {
    /// The TCP connection alone: the layer above adds TLS with the destination.
    fn direct(&mut self, destination: &Uri, is_https: bool) -> BoxFuture<'static, Result<Stream, BoxError>> {
        match plain(destination, is_https) {
            Ok(destination) => self.to_proxy.call(destination),
            Err(error) => async move { Err(error.into()) }.boxed(),
        }
    }
}

/// The same host as a plain http address, with the default port of its own scheme.
fn plain(destination: &Uri, is_https: bool) -> Result<Uri, http::Error> {
    let host = destination.host().unwrap_or_default();
    let port = destination.port_u16().unwrap_or(if is_https { 443 } else { 80 });
    Uri::builder().scheme("http").authority(format!("{host}:{port}")).path_and_query("/").build()
}

fn tunnel(proxy: &Intercept, connector: HttpsConnector<HttpConnector>) -> Tunnel<HttpsConnector<HttpConnector>> {
    let tunnel = Tunnel::new(proxy.uri().clone(), connector);
    match proxy.basic_auth() {
        Some(auth) => tunnel.with_auth(auth.clone()),
        None => tunnel,
    }
}

type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// A connection that knows whether it leads to a forwarding proxy, which needs absolute addresses in the request line.
#[derive(Debug)]
pub(crate) struct ProxiedConnection {
    stream: Stream,
    proxied: bool,
}

impl Connection for ProxiedConnection {
    fn connected(&self) -> Connected {
        self.stream.connected().proxy(self.proxied)
    }
}

impl Read for ProxiedConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl Write for ProxiedConnection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }
}
