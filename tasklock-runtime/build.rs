//! Exists for `links` in Cargo.toml alone, which wants a build script.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
