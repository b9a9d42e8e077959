//! What a model says, streamed and whole.

use super::{USAGE, call, call_with, calls, request, says, seen};
use crate::dialect::{Spoken, all};
use deputize_adapters::provider::Timeouts;
use deputize_core::id::ModelName;
use deputize_core::message::{Arguments, Message, Reasoning, Stop, Turn};
use serde_json::{Value, json};

#[tokio::test]
async fn a_text_is_heard_as_it_comes_and_the_request_says_all() {
    //
    for dialect in all() {
        for stream in [true, false] {
            let said = says(&["Grüße ", "aus der ", "Küche 🦀"]);
            let called = call(&*dialect, dialect.given(&said, stream), stream).await;
            assert_eq!(dialect.read(&called.sent), seen(&*dialect, stream));
            assert_eq!(called.heard.concat(), said.text());
            assert!(called.heard.len() >= if stream { 3 } else { 1 }, "{:?}", called.heard);
            let reply = called.reply();
            let turn = Turn { text: said.text(), ..Turn::default() };
            assert_eq!((reply.turn, reply.usage), (turn, USAGE), "{:?} {stream}", dialect.kind());
        }
    }
}

#[tokio::test]
async fn parallel_calls_keep_their_order_and_arguments() {
    for dialect in all() {
        for stream in [true, false] {
            let list = [
                ("read_file", json!({"path": "ä.txt", "lines": [1, 2]})),
                ("ls", json!({})),
                ("read_file", json!({"path": "ü.txt", "deep": {"a": [null, true]}})),
            ];
            let said = Spoken { pieces: vec!["Let me look."], ..calls(&list) };
            let called = call(&*dialect, dialect.given(&said, stream), stream).await;
            let turn = called.reply().turn;
            assert_eq!((turn.text.as_str(), turn.stop), ("Let me look.", Stop::ToolCalls), "{:?}", dialect.kind());
            let got: Vec<(&str, &Arguments)> = turn.calls.iter().map(|c| (c.name.as_str(), &c.arguments)).collect();
            let expect: Vec<(&str, Arguments)> = list.iter().map(|(n, a)| (*n, Arguments::Json(a.clone()))).collect();
            assert_eq!(got, expect.iter().map(|(n, a)| (*n, a)).collect::<Vec<_>>(), "{:?} {stream}", dialect.kind());
        }
    }
}

#[tokio::test]
async fn every_end_has_its_name() {
    for dialect in all() {
        for stop in [Stop::End, Stop::Length, Stop::Filter, Stop::Refusal].into_iter().filter(|s| dialect.ends(*s)) {
            for stream in [true, false] {
                let said = Spoken { stop, ..says(&["abc"]) };
                let turn = call(&*dialect, dialect.given(&said, stream), stream).await.reply().turn;
                assert_eq!((turn.stop, turn.text.as_str()), (stop, "abc"), "{:?} {stream}", dialect.kind());
            }
        }
    }
}

#[tokio::test]
async fn reasoning_is_kept_with_its_message_and_goes_back_as_it_came() {
    //
    for dialect in all() {
        for stream in [true, false] {
            let said = Spoken { reasoning: true, pieces: vec!["I see."], ..calls(&[("ls", json!({}))]) };
            let called = call(&*dialect, dialect.given(&said, stream), stream).await;
            assert_eq!(called.heard.concat(), "I see.", "reasoning is not the answer");
            let turn = called.reply().turn;
            let blocks = dialect.reasoning();
            let by = ModelName::new(format!("lab:{}", dialect.model()));
            let expect = (!blocks.is_empty()).then(|| Reasoning { by, blocks: blocks.clone() });
            assert_eq!(turn.reasoning, expect, "{:?} {stream}", dialect.kind());
            let mut next = request(&*dialect);
            let Message::Assistant { reasoning, .. } = &mut next.messages[1] else { panic!() };
            reasoning.clone_from(&blocks);
            let given = dialect.given(&says(&["done"]), stream);
            let called = call_with(&*dialect, given, stream, &next, Timeouts::default()).await;
            let mut expect = seen(&*dialect, stream);
            let crate::dialect::Said::Assistant { reasoning, .. } = &mut expect.talk[1] else { panic!() };
            *reasoning = blocks;
            assert_eq!(dialect.read(&called.sent), expect);
        }
    }
}

#[tokio::test]
async fn counts_are_taken_however_they_are_written_and_estimated_when_they_are_none() {
    let huge = json!(u64::MAX);
    type Case = (Option<[Value; 3]>, Option<[u64; 3]>);
    let table: [Case; 9] = [
        (Some([json!("120"), json!("64"), json!("9")]), Some([120, 64, 9])),
        (Some([json!(120.0), json!(64.0), json!(9.0)]), Some([120, 64, 9])),
        (Some([json!(120), json!(null), json!(9)]), Some([120, 0, 9])),
        (Some([json!(120), json!(-4), json!(9)]), Some([120, 0, 9])),
        (Some([json!(-1), json!(0), json!(-1)]), None),
        (Some([huge.clone(), json!(0), huge]), None),
        (Some([json!({}), json!([]), json!("many")]), None),
        (Some([json!(null), json!(null), json!(null)]), None),
        (None, None),
    ];
    for dialect in all() {
        for (usage, expect) in &table {
            for stream in [true, false] {
                let said = Spoken { usage: usage.clone(), ..says(&["some words of an answer"]) };
                let called = call(&*dialect, dialect.given(&said, stream), stream).await;
                let sent = called.sent.text.len() as u64;
                let reply = called.reply();
                let got = [reply.usage.input_tokens, reply.usage.cached_tokens, reply.usage.output_tokens];
                let shown = format!("{:?} {stream} {usage:?}: {got:?}", dialect.kind());
                match expect {
                    // Who counts what was cached apart from the rest says a sum.
                    Some(expect) if got[0] == expect[0] + expect[1] => assert_eq!(got[1..], expect[1..], "{shown}"),
                    Some(expect) => assert_eq!(got, *expect, "{shown}"),
                    None => {
                        assert!((sent / 5..sent).contains(&got[0]), "{shown}, {sent} bytes");
                        assert!((3..20).contains(&got[2]), "{shown}");
                    }
                }
                assert_eq!(reply.turn.text, "some words of an answer");
            }
        }
    }
}

#[tokio::test]
async fn half_of_a_surrogate_pair_spoils_nothing() {
    for dialect in all() {
        for stream in [true, false] {
            let said = Spoken { pieces: vec!["a ", "HALF", " b"], ..calls(&[("ls", json!({"path": "HALF"}))]) };
            let mut given = dialect.given(&said, stream);
            for piece in &mut given.pieces {
                *piece = String::from_utf8(piece.clone()).unwrap().replace("HALF", "\\ud83d").into_bytes();
            }
            let turn = call(&*dialect, given, stream).await.reply().turn;
            assert_eq!(turn.text, "a \u{fffd} b", "{:?} {stream}", dialect.kind());
            let Arguments::Json(arguments) = &turn.calls[0].arguments else { panic!("{:?}", turn.calls) };
            assert_eq!(arguments["path"], "\u{fffd}", "{:?} {stream}", dialect.kind());
        }
    }
}
