//! A bounded pool of connections.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime};
use docent_types::BoxError;
use tokio_postgres::Client;

use crate::address::{CONNECT_TIMEOUT, ServerAddress};
use crate::error::explained;

/// The longest wait for a connection while all are in use.
const MAX_WAIT: Duration = Duration::from_secs(15);

/// The connections of a node for transactions.
#[derive(Debug)]
pub(crate) struct Connections(Pool);

impl Connections {
    /// At most `size` at a time. None is made yet.
    pub(crate) fn new(address: &ServerAddress, size: usize) -> Result<Self, BoxError> {
        // No statement is run to see whether a connection is usable: BEGIN tells.
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(address.config.clone(), address.tls.clone(), recycling);
        let pool = Pool::builder(manager)
            .max_size(size)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(MAX_WAIT))
            .create_timeout(Some(2 * CONNECT_TIMEOUT))
            .build()?;
        Ok(Self(pool))
    }

    pub(crate) async fn get(&self) -> Result<Connection, BoxError> {
        match self.0.get().await {
            Ok(object) => Ok(Connection { object: Some(object), is_reusable: AtomicBool::new(false) }),
            Err(PoolError::Backend(error)) => Err(explained(error)),
            Err(error) => Err(error.into()),
        }
    }

    /// Later calls fail.
    pub(crate) fn close(&self) {
        self.0.close();
    }
}

/// A connection from the pool. It goes back only if it was [released](Self::release): whatever a dropped transaction
/// left behind goes with its connection.
pub(crate) struct Connection {
    /// There until it is dropped.
    object: Option<Object>,
    is_reusable: AtomicBool,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("is_reusable", &self.is_reusable).finish_non_exhaustive()
    }
}

impl Connection {
    /// Says that no transaction is open on it.
    pub(crate) fn release(&self) {
        self.is_reusable.store(true, Ordering::Relaxed);
    }
}

impl Deref for Connection {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.object.as_ref().expect("it is taken only when this is dropped")
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        match self.object.take() {
            Some(object) if !*self.is_reusable.get_mut() => drop(Object::take(object)),
            other => drop(other),
        }
    }
}
