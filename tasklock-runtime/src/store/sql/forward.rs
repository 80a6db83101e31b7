//! The store's trait for a SQL store.

/// Implements [`Store`](crate::store::Store) for a type with `name`, `pool` and, for each verb, a method
/// `<verb>_once`. The caller's `diagnose` is in scope.
macro_rules! store_verbs {
    ($store:ty, $dialect:expr) => {
        impl $store {
            /// Remembers the store's id.
            async fn know_itself(&self) -> Result<(), StoreError> {
                let id = retried!(idempotent self, "read the store's id", self.identity_once())?;
                let _ = self.identity.set(id.into());
                Ok(())
            }

            async fn migrated(&self) -> Result<(), StoreError> {
                let found = retried!(idempotent self, "migrate", self.migrate_once())?;
                schema::check_version($dialect, &self.name, found)?;
                self.know_itself().await
            }

            async fn checked(&self) -> Result<(), StoreError> {
                let found = retried!(idempotent self, "read the schema's version", self.version_once())?;
                schema::check_version($dialect, &self.name, found)?;
                self.know_itself().await
            }

            fn insertion_anchor(&self) -> Arc<Anchor> {
                Arc::new(jobs::Insertion {
                    name: self.name.clone(),
                    statements: Arc::clone(&self.statements),
                    identity: self.identity.get().cloned(),
                })
            }

            fn lease_anchor(&self, end: Finish, ttl: Duration) -> Arc<Anchor> {
                Arc::new(guard::Guard::new(
                    Arc::clone(&self.statements),
                    self.identity.get().cloned(),
                    end,
                    ttl,
                ))
            }

            fn own_renewer(&self) -> Box<dyn Renewer> {
                Box::new(SqlRenewer::new(
                    self.name.clone(),
                    self.renewer_options(),
                    Arc::clone(&self.statements),
                ))
            }

            async fn closed(&self) {
                self.pool.close().await;
            }
        }

        $crate::store::forward::forwarded_verbs!($store);
    };
}
pub(in crate::store) use store_verbs;
