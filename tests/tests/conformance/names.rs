//! Whatever a task may be called.

use tasklock_runtime::{Next, Triggered};

use crate::steps::{LONG, claim, claim_all, end, sorted, standing, task};
use crate::world::World;

pub(crate) async fn any_name_is_itself_and_no_other(world: &World) {
    let longest = "é".repeat(64);
    let nearly = format!("{}e\u{301}x", "é".repeat(62));
    assert_eq!((longest.len(), nearly.len()), (128, 128));
    let names = [
        &*longest,
        &nearly,
        "task",
        "Task",
        "TASK",
        "task ",
        " task",
        "ta%",
        "ta_k",
        "%",
        "_",
        "'",
        "\"",
        "`",
        "\\",
        "\\\\",
        "a'b''c",
        "a\"b",
        "'; DROP TABLE tasklock_job; --",
        "$1",
        "?1",
        "{s}{p}job",
        "$.a",
        "[0]",
        "a.b",
        "null",
        "NULL",
        "{}",
        "{a,b}",
        "1",
        "01",
        "1.0",
        "true",
        "straße",
        "strasse",
        "é",
        "e\u{301}",
        "İ",
        "i",
        "ﬁ",
        "fi",
        "名前",
        "👩‍👩‍👧",
        "\u{202e}x",
    ];
    let store = world.store().await;
    let declarations: Vec<_> = names.iter().map(|name| task(name, None)).collect();
    store.declare(&declarations).await.unwrap();
    // Nothing else is there yet, whatever the name looks like.
    assert_eq!(store.trigger("ta%k").await.unwrap(), None);
    assert_eq!(store.standing("tas_").await.unwrap(), None);

    for name in names {
        assert_eq!(
            store.trigger(name).await.unwrap(),
            Some(Triggered::Queued),
            "{name:?}"
        );
        let batch = claim(&*store, &names, LONG, names.len()).await;
        assert_eq!(
            batch.claims.len(),
            1,
            "{name:?} alone is due: {:?}",
            batch.claims
        );
        let claim = &batch.claims[0];
        assert_eq!(claim.task, name);
        assert_eq!(standing(&*store, name).await.job, claim.key.job);
        assert_eq!(
            store
                .finish(&[end(&claim.key, Next::Dormant)])
                .await
                .unwrap()
                .len(),
            1
        );
    }
    // Each by its name alone; then all of them.
    for name in names {
        store.trigger(name).await.unwrap();
    }
    for name in names {
        let claims = claim(&*store, &[name], LONG, 9).await.claims;
        assert_eq!(claims.len(), 1, "{name:?}");
        assert_eq!(claims[0].task, name);
        store.release(&[claims[0].key.clone()]).await.unwrap();
    }
    let claims = claim_all(&*store, &names, LONG).await;
    let found: Vec<_> = claims.iter().map(|claim| &*claim.task).collect();
    assert_eq!(sorted(found), sorted(names.to_vec()));
}
