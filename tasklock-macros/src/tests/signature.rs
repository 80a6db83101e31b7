//! The message of each shape of item that is not a task.

use quote::quote;

use super::assert_item_messages;

#[test]
fn shapes_of_functions() {
    let returns = "a task returns nothing or a `Result<(), E>`: write `-> TaskResult`";
    let generic = "a task is not generic, it is registered once: write the types themselves";
    let lease = "the lease is missing: write `(lease: LeaseContext)`";
    let named = "a task's parameter is a named type: write `LeaseContext`";
    let plain = "a task's parameter has a plain name: write `lease: LeaseContext`";
    let is_lease = "a task's first parameter is its lease: write `LeaseContext`";
    let owned = "a task owns its lease: write `LeaseContext` without `&`";
    let free = "a task has no `self`: write a free function outside the `impl`";

    assert_item_messages(
        quote!(
            async fn f() {}
        ),
        &[lease],
    );
    assert_item_messages(
        quote!(
            async fn f(&self) {}
        ),
        &[free],
    );
    assert_item_messages(
        quote!(
            async fn f(self: Box<Self>, l: LeaseContext) {}
        ),
        &[free],
    );
    assert_item_messages(
        quote!(
            async fn f(l: LeaseContext);
        ),
        &["a task has a body: write a free function outside the `trait`"],
    );
    assert_item_messages(
        quote!(
            async fn f<T>(l: LeaseContext) {}
        ),
        &[generic],
    );
    assert_item_messages(
        quote!(
            async fn f<'a, const N: u8>(l: L) {}
        ),
        &[generic],
    );
    assert_item_messages(
        quote!(
            async fn f(l: L)
            where
                L: Copy,
            {
            }
        ),
        &["a task has no `where` clause: remove it"],
    );
    assert_item_messages(
        quote!(
            async fn f(l: &LeaseContext) {}
        ),
        &[owned],
    );
    assert_item_messages(
        quote!(
            async fn f(l: impl Copy) {}
        ),
        &[named],
    );
    assert_item_messages(
        quote!(
            async fn f(l: (LeaseContext,)) {}
        ),
        &[is_lease],
    );
    assert_item_messages(
        quote!(
            async fn f(Lease(l): Lease) {}
        ),
        &[plain],
    );
    assert_item_messages(
        quote!(
            async fn f(ref l: LeaseContext) {}
        ),
        &[plain],
    );
    assert_item_messages(
        quote!(
            async fn f(x: u8, l: LeaseContext) {}
        ),
        &["the lease comes first: move this before the other parameters"],
    );
    assert_item_messages(
        quote!(
            async fn f(#[cfg(test)] l: LeaseContext) {}
        ),
        &["a task's parameter has no `#[cfg]`: put it on the whole function"],
    );
    assert_item_messages(
        quote!(
            async fn f(l: L) -> impl Copy {}
        ),
        &[returns],
    );
    assert_item_messages(
        quote!(
            async fn f(l: L) -> Result<impl Copy, E> {}
        ),
        &[returns],
    );
    assert_item_messages(
        quote!(
            async fn f(l: L) -> ! {}
        ),
        &[returns],
    );
    assert_item_messages(
        quote!(
            unsafe extern "C" fn f(l: L, ...) {}
        ),
        &[
            "a task is not `unsafe`, the runtime calls it: remove it",
            "a task is not `extern`: remove it",
            "a task is not variadic: remove this",
        ],
    );
    assert_item_messages(
        quote!(
            const fn f(l: L) {}
        ),
        &["a task is not `const`: remove it"],
    );
}

#[test]
fn accepted_shapes() {
    for item in [
        quote!(
            async fn f(l: LeaseContext) {}
        ),
        quote!(
            async fn f(_: tasklock_runtime::LeaseContext) -> () {}
        ),
        quote!(
            async fn f(mut l: Alias) -> Result<(), Box<dyn Error + Send + Sync>> {}
        ),
        quote!(
            async fn f(#[allow(unused)] l: LeaseContext) -> Alias {}
        ),
        quote!(
            fn f(l: LeaseContext) {}
        ),
        quote!(
            async fn f(l: L, x: u8, mut y: a::Payload<(u8, Cow<'static, str>)>, _: (State<u8>)) {}
        ),
        quote!(
            fn f(l: L, p: some_type!(), s: State<Box<dyn Fn(&str) + Send + Sync>>) {}
        ),
    ] {
        assert_item_messages(item, &[]);
    }
}

#[test]
fn other_items() {
    let message = "`#[locked_task]` goes on a function: write it above an \
                   `async fn name(lease: LeaseContext)`";
    assert_item_messages(
        quote!(
            pub struct S;
        ),
        &[message],
    );
    assert_item_messages(
        quote!(
            const X: u8 = 1;
        ),
        &[message],
    );
    assert_item_messages(
        quote!(
            mod m {}
        ),
        &[message],
    );
    assert_item_messages(
        quote!(
            extern "C" {}
        ),
        &[message],
    );
}
