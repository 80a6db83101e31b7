//! `links` in Cargo.toml wants a build script; and the stores that share something have one name for it: `cfg(sql)`, and
//! `cfg(database)` for all that are not this process's memory.

use std::env::var_os;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(sql, database)");
    let has = |feature: &str| var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let sql = ["SQLITE", "POSTGRES", "MYSQL"].into_iter().any(has);
    if sql {
        println!("cargo::rustc-cfg=sql");
    }
    if sql || has("REDIS") {
        println!("cargo::rustc-cfg=database");
    }
}
