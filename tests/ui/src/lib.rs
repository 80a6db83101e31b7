//! Empty: the tests are in `tests/ui.rs`, their cases in `pass/` and `fail/`.
