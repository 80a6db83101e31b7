//! A connection that is thrown away unless the call on it came to its end.

use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
use sqlx::{Database, Pool};

/// A pooled connection that returns to the pool only if [`done`](Self::done) was called. A call that
/// failed or was dropped in its midst leaves a connection in an unknown state, perhaps to a server
/// that does not answer: it is closed.
pub(in crate::store) struct Checkout<DB: Database> {
    connection: PoolConnection<DB>,
    done: bool,
}

impl<DB: Database> Checkout<DB> {
    pub(in crate::store) async fn from(pool: &Pool<DB>) -> Result<Self, sqlx::Error> {
        Ok(Self {
            connection: pool.acquire().await?,
            done: false,
        })
    }

    pub(in crate::store) fn done(mut self) {
        self.done = true;
    }
}

impl<DB: Database> Drop for Checkout<DB> {
    fn drop(&mut self) {
        if !self.done {
            self.connection.close_on_drop();
        }
    }
}

impl<DB: Database> Deref for Checkout<DB> {
    type Target = DB::Connection;

    fn deref(&self) -> &Self::Target {
        &self.connection
    }
}

impl<DB: Database> DerefMut for Checkout<DB> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.connection
    }
}
