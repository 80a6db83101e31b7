//! The heartbeat's own connection to a SQL store.

use std::sync::Arc;

use sqlx::{Connection, Database};

use super::retry::{Diagnose, store_error};
use crate::error::{StoreError, StoreErrorKind};
use crate::lease::LeaseKey;
use crate::store::{JobRow, Renewal, Renewer, StoreFuture};

/// What a heartbeat says to one database, on a connection of its own.
pub(in crate::store) trait Beat: Send + Sync + 'static {
    type Database: Database;

    /// What is known of a connection since it was opened.
    type Session: Copy + Send + Sync;

    const DIAGNOSE: Diagnose;

    fn opened(
        &self,
        connection: &mut <Self::Database as Database>::Connection,
    ) -> impl Future<Output = Result<Self::Session, sqlx::Error>> + Send;

    fn renew(
        &self,
        connection: &mut <Self::Database as Database>::Connection,
        session: Self::Session,
        renewals: &[Renewal],
    ) -> impl Future<Output = Result<Vec<i64>, sqlx::Error>> + Send;

    fn inspect(
        &self,
        connection: &mut <Self::Database as Database>::Connection,
        jobs: &[i64],
    ) -> impl Future<Output = Result<Vec<JobRow>, sqlx::Error>> + Send;

    /// On a connection of which nothing is known, without its session.
    fn release(
        &self,
        connection: &mut <Self::Database as Database>::Connection,
        session: Option<Self::Session>,
        keys: &[LeaseKey],
    ) -> impl Future<Output = Result<Vec<i64>, sqlx::Error>> + Send;

    /// After a release: whoever waits for these names is told.
    fn tell(
        &self,
        connection: &mut <Self::Database as Database>::Connection,
        keys: &[LeaseKey],
    ) -> impl Future<Output = ()> + Send;
}

type ConnectionOf<B> = <<B as Beat>::Database as Database>::Connection;
type Open<B> = (ConnectionOf<B>, <B as Beat>::Session);

pub(in crate::store) struct SqlRenewer<B: Beat> {
    name: String,
    options: <ConnectionOf<B> as Connection>::Options,
    beat: Arc<B>,
    connection: Option<Open<B>>,
}

impl<B: Beat> SqlRenewer<B> {
    pub(in crate::store) fn new(
        name: String,
        options: <ConnectionOf<B> as Connection>::Options,
        beat: Arc<B>,
    ) -> Self {
        Self {
            name,
            options,
            beat,
            connection: None,
        }
    }

    fn open(&mut self) -> Result<(&mut Open<B>, &B, &str), StoreError> {
        match &mut self.connection {
            Some(open) => Ok((open, &self.beat, &self.name)),
            None => Err(StoreError {
                store: self.name.clone(),
                call: "use the heartbeat's connection",
                kind: StoreErrorKind::Unavailable,
                message: "it is not open".into(),
            }),
        }
    }
}

impl<B: Beat> Renewer for SqlRenewer<B> {
    fn connect(&mut self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            if self.connection.is_none() {
                let opened = async {
                    let mut connection = ConnectionOf::<B>::connect_with(&self.options).await?;
                    let session = self.beat.opened(&mut connection).await?;
                    Ok((connection, session))
                };
                self.connection = Some(opened.await.map_err(|error| {
                    store_error(&self.name, "connect for the heartbeat", B::DIAGNOSE, error)
                })?);
            }
            Ok(())
        })
    }

    fn renew<'a>(&'a mut self, renewals: &'a [Renewal]) -> StoreFuture<'a, Vec<i64>> {
        Box::pin(async move {
            let ((connection, session), beat, name) = self.open()?;
            let renewed = beat.renew(connection, *session, renewals).await;
            renewed.map_err(|error| store_error(name, "renew leases", B::DIAGNOSE, error))
        })
    }

    fn inspect<'a>(&'a mut self, jobs: &'a [i64]) -> StoreFuture<'a, Vec<JobRow>> {
        Box::pin(async move {
            let ((connection, _), beat, name) = self.open()?;
            let rows = beat.inspect(connection, jobs).await;
            rows.map_err(|error| store_error(name, "read leases back", B::DIAGNOSE, error))
        })
    }

    fn release<'a>(&'a mut self, keys: &'a [LeaseKey]) -> StoreFuture<'a, Vec<i64>> {
        Box::pin(async move {
            let ((connection, session), beat, name) = self.open()?;
            let released = beat.release(connection, Some(*session), keys).await;
            released.map_err(|error| store_error(name, "release", B::DIAGNOSE, error))
        })
    }

    fn tell<'a>(&'a mut self, keys: &'a [LeaseKey]) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let ((connection, _), beat, _) = self.open()?;
            beat.tell(connection, keys).await;
            Ok(())
        })
    }

    fn reset(&mut self) {
        self.connection = None;
    }
}
