//! The soak: a modest one in every test run, the long one on request (`cargo test -p deputize-testkit --test soak -- --ignored`).
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at what it did not expect, and shows its figures"
)]

use deputize_testkit::soak::{Figures, soak};

async fn soaked(trees: u64) -> Figures {
    let figures = soak(trees).await.unwrap();
    println!("{figures:#?}");
    assert_eq!(figures.trees, trees);
    assert!(figures.handles.1 <= figures.handles.0, "file handles are left open: {figures:?}");
    assert!(figures.resumes > 0 && figures.faults > 0 && figures.asked > 0 && figures.runs > trees, "{figures:?}");
    figures
}

// every run ends with a summary, every request is valid, no cap is broken, nothing is left behind.
//
#[tokio::test(start_paused = true)]
async fn random_trees_with_random_faults_end_and_leave_nothing_behind() {
    soaked(150).await;
}

#[tokio::test(start_paused = true)]
#[ignore = "takes minutes; run by hand"]
async fn a_thousand_random_trees_leave_nothing_behind() {
    let figures = soaked(1_000).await;
    let (early, late) = figures.resident;
    assert!(late * 100 <= early * 120, "resident pages grew from {early} to {late}");
}
