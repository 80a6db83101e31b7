//! A task has no self.

use tasklock_runtime::{LeaseContext, locked_task};

struct Rates;

impl Rates {
    async fn refresh(&self, _lease: LeaseContext) {}
}

static RATES: Rates = Rates;

#[locked_task]
async fn refresh(lease: LeaseContext) {
    RATES.refresh(lease).await;
}

fn main() {}
