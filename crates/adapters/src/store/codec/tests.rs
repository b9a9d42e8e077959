//! Tests of the codec: what is torn, what is damaged, what is newer. Batches are tested by the conformance suite.

use super::{Decoder, is_torn};
use deputize_core::event::Recorded;
use deputize_core::id::RunId;
use deputize_runtime::port::StoreError;

fn woke(seq: u64) -> String {
    format!(r#"{{"v":1,"seq":{seq},"at":7,"type":"woke","now":7}}"#)
}

fn decode(from: u64, rows: &[(u64, &str)]) -> Result<(Vec<Recorded>, Option<StoreError>), StoreError> {
    let run = RunId::new("a");
    let mut decoder = Decoder::new("the place", &run, from);
    for (seq, data) in rows {
        decoder.row(*seq, data.as_bytes())?;
    }
    decoder.finish()
}

fn damaged_at(error: StoreError) -> u64 {
    match error {
        StoreError::Damaged { seq, .. } => seq,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_good_log_is_read_whole() {
    let (events, torn) = decode(3, &[(3, &woke(3)), (4, &woke(4))]).unwrap();
    assert_eq!(events.iter().map(|e| e.seq).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(torn, None);
}

#[test]
fn a_torn_last_record_is_left_out_and_named() {
    let whole = woke(2);
    for cut in 0..whole.len() {
        let (events, torn) = decode(1, &[(1, &woke(1)), (2, whole.get(..cut).unwrap())]).unwrap();
        assert_eq!((events.len(), torn.map(damaged_at)), (1, Some(2)), "cut at {cut}");
        assert!(is_torn(2, &whole.as_bytes()[..cut]));
    }
    assert!(!is_torn(2, whole.as_bytes()));
}

#[test]
fn a_record_out_of_place_is_torn() {
    let (events, torn) = decode(1, &[(1, &woke(2))]).unwrap();
    assert_eq!((events.len(), torn.map(damaged_at)), (0, Some(1)));
}

#[test]
fn bytes_that_are_no_text_are_torn() {
    assert!(is_torn(0, &[0xff, 0xfe]));
}

#[test]
fn a_damaged_record_before_others_is_an_error() {
    let error = decode(1, &[(1, "{"), (2, &woke(2))]).unwrap_err();
    assert_eq!(damaged_at(error), 1);
}

#[test]
fn a_missing_record_is_an_error() {
    assert_eq!(damaged_at(decode(1, &[(1, &woke(1)), (3, &woke(3))]).unwrap_err()), 2);
    assert_eq!(damaged_at(decode(1, &[(2, &woke(2))]).unwrap_err()), 1);
}

#[test]
fn a_damaged_first_record_is_an_error() {
    assert_eq!(damaged_at(decode(0, &[(0, "")]).unwrap_err()), 0);
}

#[test]
fn a_newer_record_is_never_taken_for_torn() {
    let newer = r#"{"v":2,"something":"else"}"#;
    let error = decode(1, &[(1, newer)]).unwrap_err();
    assert_eq!(error, StoreError::Newer { path: "the place".into(), found: 2, known: 1 });
    assert!(!is_torn(1, newer.as_bytes()));
}
