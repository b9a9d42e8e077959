//! The soak: a thousand random trees with random faults, from one seed. It is alone in its process, so that file handles and
//! memory are its own.

use deputize_testkit::soak::soak;

const TREES: u64 = 1_000;

// every run ends with a summary, every request is valid, no cap is broken, nothing is left behind.
//
#[tokio::test(start_paused = true)]
async fn random_trees_with_random_faults_end_and_leave_nothing_behind() {
    let figures = soak(TREES).await.unwrap();
    println!("{figures:#?}");
    assert_eq!(figures.trees, TREES);
    assert!(figures.handles.1 <= figures.handles.0, "file handles are left open: {figures:?}");
    assert!(figures.resumes > 0 && figures.faults > 0 && figures.asked > 0 && figures.runs > TREES, "{figures:?}");
    let (early, late) = figures.resident;
    assert!(
        late * 100 <= early * 120,
        "resident pages grew from {early} after the 100th tree to {late} after the last"
    );
}
