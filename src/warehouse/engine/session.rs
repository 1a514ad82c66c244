//! The shape of work on any database server: a few connections, a read-only transaction for each statement, and an end
//! that the server hears of.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::{Database, Pool};
use tokio_util::sync::CancellationToken;

use super::server::{self, Failure, GRACE};
use super::wire::opening_word;
use super::{EngineError, RunLimits};
use crate::config::Tls;
use crate::warehouse::fetch::Fetched;

/// What differs from server to server.
#[async_trait]
pub(super) trait Wire: Send + Sync + 'static {
    type Server: Database;

    /// Statements that open with another word are not run, whatever checked them before.
    const OPENING_WORDS: &'static [&'static str];

    /// Opens a read-only transaction with a timeout, and tells by which number the server knows the connection.
    async fn begin(&self, connection: &mut Wired<Self>, timeout: Duration) -> Result<u64, sqlx::Error>;

    async fn fetch(&self, connection: &mut Wired<Self>, sql: &str, limits: &RunLimits) -> Result<Fetched, Failure>;

    /// Ends the transaction.
    async fn end(&self, connection: &mut Wired<Self>) -> Result<(), sqlx::Error>;

    /// Asks the server, over a connection of its own, to end what the connection of that number is doing.
    async fn stop(&self, number: u64) -> Result<(), sqlx::Error>;
}

/// The connection of a [`Wire`].
pub(super) type Wired<W> = <<W as Wire>::Server as Database>::Connection;

/// Connections to one server. Clones share them.
pub(super) struct Session<W: Wire> {
    pool: Pool<W::Server>,
    wire: Arc<W>,
    shown: Arc<str>,
}

impl<W: Wire> Clone for Session<W> {
    fn clone(&self) -> Self {
        Self {
            pool: self.pool.clone(),
            wire: Arc::clone(&self.wire),
            shown: Arc::clone(&self.shown),
        }
    }
}

impl<W: Wire> fmt::Debug for Session<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("shown", &self.shown)
            .finish_non_exhaustive()
    }
}

impl<W: Wire> Session<W> {
    /// `shown`: the server's URL without a password.
    pub(super) fn new(pool: Pool<W::Server>, wire: W, shown: &str) -> Self {
        Self {
            pool,
            wire: Arc::new(wire),
            shown: shown.into(),
        }
    }

    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// For the engine's own statements about schema.
    pub(super) fn pool(&self) -> &Pool<W::Server> {
        &self.pool
    }

    pub(super) async fn run(
        &self,
        sql: &str,
        limits: &RunLimits,
        cancel: &CancellationToken,
    ) -> Result<Fetched, EngineError> {
        if !W::OPENING_WORDS.contains(&opening_word(sql).as_str()) {
            return Err(EngineError::NotReadOnly(format!(
                "it opens with none of {}",
                W::OPENING_WORDS.join(", ")
            )));
        }
        let (session, sql, limits) = (self.clone(), sql.to_owned(), *limits);
        let work = |stop| async move { session.run_until(&sql, &limits, &stop).await };
        server::stoppable(cancel, work).await
    }

    async fn run_until(&self, sql: &str, limits: &RunLimits, stop: &CancellationToken) -> Result<Fetched, EngineError> {
        let failed = |error| server::failure(error, &self.shown);
        let mut connection = tokio::select! {
            connection = self.pool.acquire() => connection.map_err(failed)?,
            () = stop.cancelled() => return Err(EngineError::Cancelled),
        };
        let number = self.wire.begin(&mut connection, limits.timeout).await.map_err(failed)?;
        let work = self.wire.fetch(&mut connection, sql, limits);
        let outcome = server::watched(work, stop, limits.timeout, self.stop(number)).await;
        if server::is_usable_after(&outcome) && self.wire.end(&mut connection).await.is_ok() {
            drop(connection);
        } else {
            // More rows are on their way: the server is told to stop, and nobody waits for what it has sent. Nor is a
            // farewell said, since with TLS that would wait for an answer.
            self.stop(number).await;
            drop(connection.detach());
        }
        server::conclude(outcome, stop, limits, &self.shown)
    }

    async fn stop(&self, number: u64) {
        // The statement's own timeout on the server ends it too, if this fails.
        let _ = tokio::time::timeout(GRACE, self.wire.stop(number)).await;
    }
}

/// Errors where a certificate that a connection names cannot be read: the drivers would only say that there is no file.
pub(super) fn check_certificates(tls: &Tls, shown: &str) -> Result<(), EngineError> {
    for path in [&tls.ca, &tls.certificate, &tls.key].into_iter().flatten() {
        std::fs::metadata(path).map_err(|error| EngineError::Open {
            database: shown.to_owned(),
            reason: format!("cannot read the certificate {}: {error}", path.display()),
        })?;
    }
    Ok(())
}
