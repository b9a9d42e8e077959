//! Which providers are one and the same: the register of limiters. Owns their identity.

use super::{Limited, Limiter};
use crate::provider::config::Config;
use deputize_runtime::TokioClock;
use deputize_runtime::port::{Clock, Model};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

static PROCESS: LazyLock<Limiters> = LazyLock::new(|| Limiters::new(Arc::new(TokioClock::system())));

/// What makes two providers one to the server behind them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Identity {
    name: String,
    address: String,
    /// The variable of the key, which stands for the account.
    key: Option<String>,
}

/// Limiters by provider. Providers of one name, address and key variable that are built with the same register share
/// their limits and the gate, however many trees they serve; of different limits the strictest holds while its provider
/// is there. [`super::super::build`] takes the register of the process, so that trees which know nothing of each other
/// share it, too.
#[derive(Clone)]
pub struct Limiters {
    clock: Arc<dyn Clock>,
    /// Never emptied: a gate stays closed when nobody happens to hold the provider. There are as many as are configured.
    known: Arc<Mutex<BTreeMap<Identity, Arc<Limiter>>>>,
}

impl Limiters {
    /// A register of its own, on this clock.
    pub fn new(clock: Arc<dyn Clock>) -> Limiters {
        Limiters { clock, known: Arc::default() }
    }
    /// The register of the process, on the system's clock.
    pub fn process() -> &'static Limiters {
        &PROCESS
    }
    /// Puts a provider under the limits of its settings.
    pub fn limit(&self, config: &Config, inner: Arc<dyn Model>) -> Arc<dyn Model> {
        let identity = Identity {
            name: config.name.clone(),
            address: config.base_url.trim().trim_end_matches('/').to_string(),
            key: config.api_key_env.clone(),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let limiter = known.entry(identity).or_insert_with(|| Arc::new(Limiter::new(self.clock.clone()))).clone();
        drop(known);
        let limits = Arc::new(config.limits);
        limiter.state().rules.push(Arc::downgrade(&limits));
        Arc::new(Limited { inner, limiter, limits, name: config.name.clone() })
    }
}
