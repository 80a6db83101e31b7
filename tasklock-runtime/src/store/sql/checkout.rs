//! A connection that is thrown away unless the call on it came to its end.

use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
use sqlx::{Database, Pool};
use tokio::runtime::Handle;

/// A pooled connection that returns to the pool only if [`done`](Self::done) was called. A call that
/// failed or was dropped in its midst leaves a connection in an unknown state, perhaps to a server
/// that does not answer: it is closed.
pub(in crate::store) struct Checkout<DB: Database> {
    /// There until the drop.
    connection: Option<PoolConnection<DB>>,
    done: bool,
    /// sqlx gives a connection back by a task, and panics where there is no runtime for it: a future may be dropped
    /// anywhere.
    runtime: Handle,
}

impl<DB: Database> Checkout<DB> {
    pub(in crate::store) async fn from(pool: &Pool<DB>) -> Result<Self, sqlx::Error> {
        Ok(Self {
            connection: Some(pool.acquire().await?),
            done: false,
            runtime: Handle::current(),
        })
    }

    pub(in crate::store) fn done(mut self) {
        self.done = true;
    }
}

impl<DB: Database> Drop for Checkout<DB> {
    fn drop(&mut self) {
        let _entered = self.runtime.enter();
        if let Some(mut connection) = self.connection.take()
            && !self.done
        {
            connection.close_on_drop();
        }
    }
}

impl<DB: Database> Deref for Checkout<DB> {
    type Target = DB::Connection;

    fn deref(&self) -> &Self::Target {
        match &self.connection {
            Some(connection) => connection,
            None => unreachable!("it is taken by the drop alone"),
        }
    }
}

impl<DB: Database> DerefMut for Checkout<DB> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match &mut self.connection {
            Some(connection) => connection,
            None => unreachable!("it is taken by the drop alone"),
        }
    }
}
