//! Names of resources that are made of all kinds of fields, whatever the parameter is called.

#![deny(warnings)]

use serde::{Deserialize, Serialize};
use tasklock_runtime::{Client, LeaseContext, Payload, State, locked_task};

#[derive(Serialize, Deserialize)]
pub struct Customer {
    pub id: (u32, String),
}

#[derive(Serialize, Deserialize)]
pub struct Invoice {
    pub r#type: char,
    pub customer: Customer,
}

#[locked_task(resource = "{r#type}/{customer.id.1}{{}}")]
async fn nested(_lease: LeaseContext, payload: Payload<Invoice>, _names: State<String>) {
    let _ = payload;
}

#[locked_task(resource = "{0}", handle = false)]
fn blocking(_lease: LeaseContext, json: Payload<(u64, String)>) {
    let _ = json;
}

#[locked_task(resource = "{}", priority = 3)]
async fn whole(_lease: LeaseContext, names: Payload<String>) {
    let _ = names;
}

#[locked_task(resource = "ledger", every = "1h")]
async fn fixed(_lease: LeaseContext) {}

#[locked_task(resource = "ledger")]
async fn unused(_lease: LeaseContext, _payload: Payload<Invoice>) {}

fn main() {
    fn _enqueued(client: &Client, invoices: Vec<Invoice>) {
        let _ = nested::enqueue_many(client, invoices);
        let _ = whole::enqueue(client, "name".to_owned());
        let _ = unused::enqueue_many(client, []);
    }
}
