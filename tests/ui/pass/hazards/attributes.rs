//! Other attributes, above and below.

#![deny(warnings)]

use tasklock_runtime::{LeaseContext, locked_task};

use std::future::ready;

#[cfg(not(all()))]
#[locked_task]
async fn gone_above(_lease: NoSuchType) {}

#[locked_task]
#[cfg(not(all()))]
async fn gone_below(_lease: NoSuchType) {}

#[cfg(all())]
#[deprecated]
#[locked_task]
#[doc = "Documented."]
#[inline]
#[must_use = "for no reason"]
async fn here(_lease: LeaseContext) {
    ready(()).await;
}

fn main() {
    assert_eq!(here::NAME, "here");
}
