//! What is sent.

use super::{call_with, request, says, seen};
use crate::dialect::{Dialect, Said, all};
use crate::fake::Sent;
use deputize_adapters::provider::Timeouts;
use deputize_core::message::{Message, Request, SentCall};
use serde_json::{Value, json};

async fn sent(dialect: &dyn Dialect, request: &Request) -> Sent {
    call_with(dialect, dialect.given(&says(&["ok"]), true), true, request, Timeouts::default()).await.sent
}

#[tokio::test]
async fn the_same_request_has_the_same_bytes_and_two_briefs_share_their_beginning() {
    // covers U-09
    for dialect in all() {
        let request = request(&*dialect);
        assert_eq!(sent(&*dialect, &request).await.text, sent(&*dialect, &request).await.text);
        let brief = |text: &str| {
            let messages = vec![Message::User { text: text.to_string() }];
            Request { messages, ..request.clone() }
        };
        let (one, two) = (brief("read the LEFT file"), brief("read the RIGHT file"));
        let (one, two) = (sent(&*dialect, &one).await.text, sent(&*dialect, &two).await.text);
        let shared: Vec<u8> = one.bytes().zip(two.bytes()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
        let shared = String::from_utf8(shared).unwrap();
        assert!(shared.ends_with("read the "), "{:?}: {shared}", dialect.kind());
        assert!(shared.contains("Be brief.") && shared.contains("Lists."), "{:?}: {shared}", dialect.kind());
    }
}

#[tokio::test]
async fn results_stand_behind_their_calls_in_order_and_nothing_is_empty() {
    //
    for dialect in all() {
        let mut asked = request(&*dialect);
        let ids: Vec<String> = (0..25).map(|n| format!("t2_c{n}")).collect();
        let call =
            |id: &String| SentCall { id: id.clone(), name: "ls".into(), arguments: format!("{{\"id\":\"{id}\"}}") };
        let calls = ids.iter().map(call).collect();
        asked.messages.push(Message::Assistant { text: String::new(), calls, reasoning: Vec::new() });
        let result = |id: &String| Message::Tool { call: id.clone(), name: "ls".into(), text: format!("of {id}") };
        asked.messages.extend(ids.iter().map(result));
        let mut expect = seen(&*dialect, true);
        let calls = ids.iter().map(|id| ("ls".to_string(), json!({ "id": id }))).collect();
        expect.talk.push(Said::Assistant { text: String::new(), calls, reasoning: Vec::new() });
        let result = |id: &String| Said::Result { name: "ls".to_string(), text: format!("of {id}") };
        expect.talk.extend(ids.iter().map(result));
        assert_eq!(dialect.read(&sent(&*dialect, &asked).await), expect);
    }
}

#[tokio::test]
async fn a_schema_is_asked_for_where_one_is_set() {
    let schema = json!({"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"],
        "additionalProperties": false});
    for dialect in all() {
        let asked = Request { schema: Some(schema.clone()), tools: Vec::new(), ..request(&*dialect) };
        let seen = dialect.read(&sent(&*dialect, &asked).await);
        let asked_for = seen.schema.unwrap();
        let at = |pointer: &str| asked_for.pointer(pointer).and_then(Value::as_str).map(str::to_lowercase);
        assert_eq!(at("/properties/answer/type").as_deref(), Some("string"), "{:?}: {asked_for}", dialect.kind());
        assert_eq!(asked_for["required"], json!(["answer"]));
        assert!(seen.tools.is_empty());
        assert_eq!(dialect.read(&sent(&*dialect, &request(&*dialect)).await).schema, None);
    }
}
