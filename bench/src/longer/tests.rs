//! A log that was made longer is the one that a longer run would have written.

use super::{Tail, longer};
use crate::scene::Scene;
use deputize_core::context;
use deputize_core::id::Label;
use deputize_core::run::RunState;

#[tokio::test]
async fn a_longer_log_leads_to_the_same_request_as_a_longer_run() {
    let (short, long) = (Scene::alone(1, 1, "look").await.unwrap(), Scene::alone(6, 1, "look").await.unwrap());
    let made = longer(short.root_log(), 6, Tail::Asked).unwrap();
    assert_eq!(made.len(), 1 + 6 * 4 + 1);
    let state = RunState::fold(&made);
    assert_eq!(state.open(), [&Label::under("", "t7")]);
    let request = context::render(&state, &short.team, &Label::under("", "t7")).unwrap();
    let real = &long.talks.values().next().unwrap().last;
    assert_eq!(request.messages.len(), real.messages.len());
    let bytes = |request| serde_json::to_vec(request).unwrap().len();
    assert_eq!(bytes(&request), bytes(real));
    let again = longer(long.root_log(), 6, Tail::Whole).unwrap();
    assert_eq!(RunState::fold(&again).next_seq(), long.root_log().len() as u64 - 3);
}
