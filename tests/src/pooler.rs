//! PgBouncer in transaction mode before a database.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::postgres::{DATABASE, PASSWORD, USER, as_the_servers_user};
use crate::third_party::free_port;
use crate::wait::eventually;

/// A running PgBouncer: the program that `$DOCENT_PGBOUNCER` names. Killed when dropped.
#[derive(Debug)]
pub struct Pooler {
    child: Child,
    port: u16,
    _folder: TempDir,
}

impl Pooler {
    /// A pooler before the server at this address, or before what leads there.
    ///
    /// # Panics
    /// When it does not start.
    pub fn before(server: SocketAddr) -> Self {
        let program = std::env::var_os("DOCENT_PGBOUNCER").expect("$DOCENT_PGBOUNCER names the program pgbouncer");
        let folder = tempfile::Builder::new().prefix("docent-pooler-").tempdir().expect("make a folder");
        let (port, settings) = (free_port(), folder.path().join("pgbouncer.ini"));
        // A server that is away is asked for again each second.
        let text = format!(
            "[databases]\n{DATABASE} = host={} port={} user={USER} password='{PASSWORD}'\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = transaction\nmax_client_conn = 1000\ndefault_pool_size = 20\nserver_login_retry = 1\n",
            server.ip(),
            server.port()
        );
        fs::write(&settings, text).expect("configure PgBouncer");
        let mut command = Command::new(PathBuf::from(program));
        as_the_servers_user(&mut command, &[folder.path(), &settings]);
        command.arg(&settings).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("start PgBouncer");
        eventually("PgBouncer to listen", || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok().map(drop));
        Self { child, port, _folder: folder }
    }

    /// The same, if `$DOCENT_POOLED` says that all goes by way of one.
    pub fn if_wanted_before(server: SocketAddr) -> Option<Self> {
        std::env::var_os("DOCENT_POOLED").map(|_| Self::before(server))
    }

    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
