//! Clients that speak TLS to a proxy, from an address of their own. The tests' HTTP client has neither, so its plain
//! connections are carried on.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::copy;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Runtime;
use tokio_rustls::TlsConnector;

/// The address from which the connections to the proxy come. The proxy itself is at 127.0.0.1.
pub(crate) const READER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// Carries plain connections on to a proxy over TLS. Ends when dropped.
pub(crate) struct Reader {
    address: SocketAddr,
    _runtime: Runtime,
}

impl Reader {
    /// A client of the proxy on this port, which must have a certificate for `name`.
    pub(crate) fn of(port: u16, name: &'static str, trusting: Arc<ClientConfig>) -> Self {
        Self::at(READER, port, name, trusting)
    }

    /// As [`of`](Self::of), with this address.
    pub(crate) fn at(reader: Ipv4Addr, port: u16, name: &'static str, trusting: Arc<ClientConfig>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("start a runtime");
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).expect("listen");
        let address = listener.local_addr().expect("a listener has an address");
        let connector = TlsConnector::from(trusting);
        runtime.spawn(async move {
            while let Ok((mut plain, _)) = listener.accept().await {
                let connector = connector.clone();
                tokio::spawn(async move {
                    let socket = TcpSocket::new_v4()?;
                    socket.bind((reader, 0).into())?;
                    let to_proxy = socket.connect((Ipv4Addr::LOCALHOST, port).into()).await?;
                    let name = ServerName::try_from(name).expect("a name");
                    let secure = connector.connect(name, to_proxy).await?;
                    let (mut from_proxy, mut to_proxy) = tokio::io::split(secure);
                    let (mut from_client, mut to_client) = plain.split();
                    // A client never closes one way alone: one that is gone is gone for the proxy, too.
                    tokio::select! {
                        copied = copy(&mut from_client, &mut to_proxy) => copied,
                        copied = copy(&mut from_proxy, &mut to_client) => copied,
                    }
                });
            }
        });
        Self { address, _runtime: runtime }
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }
}
