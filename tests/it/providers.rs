//! Providers against streams of the shape that real servers send, from a server on this machine.

use std::time::{Duration, Instant};

use analyst::model::anthropic::Anthropic;
use analyst::model::chat::{
    Arguments, ChatContext, ChatError, ChatModel, ChatProgress, ChatReply, ChatRequest, Message, StopReason, ToolCall,
    ToolSpec,
};
use analyst::model::openai::OpenAi;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

const KEY: &str = "sk-test-0123456789abcdefghijklmnop";

/// A stream of OpenAI chunks, each with one `choices[0]` of `delta`.
pub fn openai_stream(deltas: &[Value], finish: &str) -> ResponseTemplate {
    let mut body = String::new();
    for delta in deltas {
        let chunk = json!({"id": "c1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
        body.push_str(&format!("data: {chunk}\n\n"));
    }
    let last = json!({"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]});
    let usage = json!({"id": "c1", "choices": [], "usage": {"prompt_tokens": 120, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 100}}});
    body.push_str(&format!("data: {last}\n\ndata: {usage}\n\ndata: [DONE]\n\n"));
    ResponseTemplate::new(200).set_body_raw(body, "text/event-stream")
}

/// A stream of Anthropic events around `blocks`: (block start, its deltas).
pub fn anthropic_stream(blocks: &[(Value, Vec<Value>)], stop: &str) -> ResponseTemplate {
    let mut events = vec![
        json!({"type": "message_start", "message": {"id": "m1", "role": "assistant", "content": [],
            "usage": {"input_tokens": 20, "cache_read_input_tokens": 100, "output_tokens": 1}}}),
        json!({"type": "ping"}),
    ];
    for (at, (start, deltas)) in blocks.iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": at, "content_block": start}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": at, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": at}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 7}}));
    events.push(json!({"type": "message_stop"}));
    let body: String = events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect();
    ResponseTemplate::new(200).set_body_raw(body, "text/event-stream")
}

fn request() -> ChatRequest {
    ChatRequest {
        system: "You are an analyst.".into(),
        messages: vec![Message::user("how many?")],
        tools: ["sql_execute", "glossary"]
            .map(|name| ToolSpec {
                name: name.into(),
                description: "…".into(),
                schema: json!({"type": "object", "properties": {}}),
            })
            .to_vec(),
        ..ChatRequest::default()
    }
}

fn context() -> (ChatContext, UnboundedReceiver<ChatProgress>) {
    let (progress, heard) = unbounded_channel();
    let context = ChatContext {
        progress,
        cancel: CancellationToken::new(),
    };
    (context, heard)
}

async fn server(replies: Vec<ResponseTemplate>) -> MockServer {
    let server = MockServer::start().await;
    let count = replies.len();
    for (at, reply) in replies.into_iter().enumerate() {
        let mock = Mock::given(method("POST")).respond_with(reply);
        let mock = if at + 1 < count { mock.up_to_n_times(1) } else { mock };
        mock.mount(&server).await;
    }
    server
}

async fn ask_openai(replies: Vec<ResponseTemplate>) -> Result<ChatReply, ChatError> {
    let server = server(replies).await;
    let model = OpenAi::new("test", &format!("{}/v1", server.uri()), Some(KEY)).unwrap();
    model.reply(&request(), &context().0).await
}

async fn ask_anthropic(replies: Vec<ResponseTemplate>) -> Result<ChatReply, ChatError> {
    let server = server(replies).await;
    let model = Anthropic::new("test", &server.uri(), KEY).unwrap();
    model.reply(&request(), &context().0).await
}

#[tokio::test]
async fn openai_text_and_calls_are_put_together_from_many_chunks() {
    let reply = ask_openai(vec![openai_stream(
        &[
            json!({"role": "assistant", "content": "I "}),
            json!({"content": "look."}),
            json!({"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "sql_execute", "arguments": ""}}]}),
            json!({"tool_calls": [{"index": 1, "id": "b", "type": "function", "function": {"name": "glossary", "arguments": "{\"ter"}}]}),
            json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"sql\": \"SEL"}}]}),
            json!({"tool_calls": [{"index": 1, "function": {"arguments": "ms\": [\"销售额\"]}"}}]}),
            json!({"tool_calls": [{"index": 0, "function": {"arguments": "ECT 1\"}"}}]}),
        ],
        "tool_calls",
    )])
    .await
    .unwrap();
    assert_eq!(reply.message.text, "I look.");
    assert_eq!(
        reply.message.tool_calls,
        [
            ToolCall {
                id: "a".into(),
                name: "sql_execute".into(),
                arguments: Arguments::Parsed(json!({"sql": "SELECT 1"}))
            },
            ToolCall {
                id: "b".into(),
                name: "glossary".into(),
                arguments: Arguments::Parsed(json!({"terms": ["销售额"]}))
            },
        ]
    );
    assert_eq!(reply.stop, StopReason::ToolCalls);
    assert_eq!(
        (reply.usage.input, reply.usage.cached, reply.usage.output),
        (120, 100, 7)
    );
}

#[tokio::test]
async fn anthropic_text_and_calls_are_put_together_from_many_chunks() {
    let reply = ask_anthropic(vec![anthropic_stream(
        &[
            (
                json!({"type": "thinking", "thinking": ""}),
                vec![
                    json!({"type": "thinking_delta", "thinking": "hm"}),
                    json!({"type": "signature_delta", "signature": "s1"}),
                ],
            ),
            (
                json!({"type": "text", "text": ""}),
                vec![
                    json!({"type": "text_delta", "text": "I "}),
                    json!({"type": "text_delta", "text": "look."}),
                ],
            ),
            (
                json!({"type": "tool_use", "id": "a", "name": "sql_execute", "input": {}}),
                vec![
                    json!({"type": "input_json_delta", "partial_json": "{\"sql\": \"SEL"}),
                    json!({"type": "input_json_delta", "partial_json": "ECT 1\"}"}),
                ],
            ),
            (
                json!({"type": "tool_use", "id": "b", "name": "glossary", "input": {}}),
                vec![],
            ),
        ],
        "tool_use",
    )])
    .await
    .unwrap();
    assert_eq!(reply.message.text, "I look.");
    let calls: Vec<(&str, &Arguments)> = reply
        .message
        .tool_calls
        .iter()
        .map(|call| (call.name.as_str(), &call.arguments))
        .collect();
    assert_eq!(
        calls,
        [
            ("sql_execute", &Arguments::Parsed(json!({"sql": "SELECT 1"}))),
            ("glossary", &Arguments::Parsed(json!({}))),
        ]
    );
    assert_eq!(
        reply.message.provider_blocks,
        Some(json!({"thinking": [{"type": "thinking", "thinking": "hm", "signature": "s1"}]}))
    );
    assert_eq!(
        (reply.usage.input, reply.usage.cached, reply.usage.output),
        (120, 100, 7)
    );
}

#[tokio::test]
async fn arguments_that_are_no_json_are_kept_as_text_and_never_sent_back() {
    let broken = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "sql_execute", "arguments": "{sql: SELECT"}}]});
    let server = server(vec![openai_stream(&[broken], "tool_calls")]).await;
    let model = OpenAi::new("test", &format!("{}/v1", server.uri()), None).unwrap();
    let reply = model.reply(&request(), &context().0).await.unwrap();
    assert!(
        matches!(&reply.message.tool_calls[0].arguments, Arguments::Malformed { text, .. } if text == "{sql: SELECT")
    );
    let mut again = request();
    again.messages.push(reply.message);
    again
        .messages
        .push(Message::tool("a", "the arguments are no JSON", true));
    model.reply(&again, &context().0).await.unwrap();
    let sent = server.received_requests().await.unwrap();
    let body: Value = sent[1].body_json().unwrap();
    assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["arguments"], "{}");
}

#[rstest]
#[case("<tool_call>\n{\"name\": \"sql_execute\", \"arguments\": {\"sql\": \"SELECT 1\"}}\n</tool_call>")]
#[case("<tools>\n{\"name\": \"sql_execute\", \"arguments\": {\"sql\": \"SELECT 1\"}}\n</tools>")]
#[case("```json\n{\"name\": \"sql_execute\", \"arguments\": {\"sql\": \"SELECT 1\"}}\n```")]
#[case("{\"name\": \"sql_execute\", \"arguments\": {\"sql\": \"SELECT 1\"}}")]
#[tokio::test]
async fn calls_written_as_plain_text_are_calls(#[case] text: &str) {
    let reply = ask_openai(vec![openai_stream(&[json!({"content": text})], "stop")])
        .await
        .unwrap();
    assert_eq!(
        reply.message.tool_calls[0].arguments,
        Arguments::Parsed(json!({"sql": "SELECT 1"}))
    );
    assert_eq!(reply.stop, StopReason::ToolCalls);
    assert_eq!(reply.message.text, "");
}

#[tokio::test]
async fn a_call_cut_off_by_the_length_limit_is_malformed() {
    let cut = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "sql_execute", "arguments": "{\"sql\": \"SELECT"}}]});
    let reply = ask_openai(vec![openai_stream(&[cut], "length")]).await.unwrap();
    assert_eq!(reply.stop, StopReason::Length);
    assert!(
        matches!(&reply.message.tool_calls[0].arguments, Arguments::Malformed { problem, .. } if problem.contains("cut off"))
    );
    let block = (
        json!({"type": "tool_use", "id": "a", "name": "sql_execute", "input": {}}),
        vec![json!({"type": "input_json_delta", "partial_json": "{\"sql\": \"SELECT"})],
    );
    let reply = ask_anthropic(vec![anthropic_stream(&[block], "max_tokens")])
        .await
        .unwrap();
    assert_eq!(reply.stop, StopReason::Length);
    assert!(matches!(
        &reply.message.tool_calls[0].arguments,
        Arguments::Malformed { .. }
    ));
}

#[tokio::test]
async fn an_empty_reply_is_an_empty_reply() {
    let reply = ask_openai(vec![openai_stream(&[], "stop")]).await.unwrap();
    assert_eq!(
        (reply.message.text.as_str(), reply.message.tool_calls.len(), reply.stop),
        ("", 0, StopReason::End)
    );
}

#[tokio::test]
async fn a_refusal_is_told_apart() {
    let reply = ask_openai(vec![openai_stream(&[json!({"refusal": "I will not."})], "stop")])
        .await
        .unwrap();
    assert_eq!(
        (reply.message.text.as_str(), reply.stop),
        ("I will not.", StopReason::Refusal)
    );
    let block = (
        json!({"type": "text", "text": ""}),
        vec![json!({"type": "text_delta", "text": "No."})],
    );
    let reply = ask_anthropic(vec![anthropic_stream(&[block], "refusal")])
        .await
        .unwrap();
    assert_eq!(reply.stop, StopReason::Refusal);
}

#[tokio::test]
async fn too_many_requests_are_retried_when_the_server_says() {
    let server = server(vec![
        ResponseTemplate::new(429)
            .insert_header("retry-after", "1")
            .set_body_json(json!({"error": {"message": "slow down"}})),
        openai_stream(&[json!({"content": "12"})], "stop"),
    ])
    .await;
    let model = OpenAi::new("test", &format!("{}/v1", server.uri()), Some(KEY)).unwrap();
    let (context, mut heard) = context();
    let began = Instant::now();
    let reply = model.reply(&request(), &context).await.unwrap();
    assert_eq!(reply.message.text, "12");
    assert!(began.elapsed() >= Duration::from_secs(1));
    let told = heard.recv().await.unwrap();
    assert!(
        matches!(told, ChatProgress::Retry { attempt: 2, after, ref reason } if after == Duration::from_secs(1) && reason.contains("slow down"))
    );
}

#[tokio::test]
async fn a_stream_that_breaks_half_way_is_tried_again() {
    let half = ResponseTemplate::new(200).set_body_raw(
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"1\"}}]}\n\n",
        "text/event-stream",
    );
    let whole = openai_stream(&[json!({"content": "12"})], "stop");
    assert_eq!(ask_openai(vec![half, whole]).await.unwrap().message.text, "12");
    let half = ResponseTemplate::new(200).set_body_raw(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n",
        "text/event-stream",
    );
    let block = (json!({"type": "text", "text": "12"}), vec![]);
    let whole = anthropic_stream(&[block], "end_turn");
    assert_eq!(ask_anthropic(vec![half, whole]).await.unwrap().message.text, "12");
}

#[tokio::test]
async fn a_server_error_passes_and_an_overload_event_too() {
    let whole = || openai_stream(&[json!({"content": "12"})], "stop");
    let reply = ask_openai(vec![ResponseTemplate::new(503), whole()]).await.unwrap();
    assert_eq!(reply.message.text, "12");
    let overloaded = ResponseTemplate::new(200).set_body_raw(
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
        "text/event-stream",
    );
    let block = (json!({"type": "text", "text": "12"}), vec![]);
    let reply = ask_anthropic(vec![overloaded, anthropic_stream(&[block], "end_turn")])
        .await
        .unwrap();
    assert_eq!(reply.message.text, "12");
}

#[tokio::test]
async fn an_over_long_context_is_told_apart_from_other_faults() {
    let too_long = ResponseTemplate::new(400)
        .set_body_json(json!({"error": {"message": "This model's maximum context length is 8192 tokens", "code": "context_length_exceeded"}}));
    let error = ask_openai(vec![too_long]).await.unwrap_err();
    assert!(matches!(error, ChatError::ContextOverflow { .. }), "{error}");
    let too_long = ResponseTemplate::new(400)
        .set_body_json(json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}}));
    let error = ask_anthropic(vec![too_long]).await.unwrap_err();
    assert!(matches!(error, ChatError::ContextOverflow { .. }), "{error}");
}

#[tokio::test]
async fn a_wrong_key_is_final_and_not_repeated() {
    let wrong = ResponseTemplate::new(401)
        .set_body_json(json!({"error": {"message": format!("Incorrect API key provided: {KEY}")}}));
    let error = ask_openai(vec![wrong]).await.unwrap_err().to_string();
    assert!(error.contains("401") && error.contains("check the key"), "{error}");
    assert!(!error.contains(KEY), "{error}");
}

#[tokio::test]
async fn the_same_history_gives_the_same_request_with_cache_marks() {
    let block = || (json!({"type": "text", "text": "12"}), vec![]);
    let server = server(vec![anthropic_stream(&[block()], "end_turn")]).await;
    let model = Anthropic::new("test", &server.uri(), KEY).unwrap();
    let mut request = request();
    request.messages.push(Message::assistant(
        "",
        vec![
            ToolCall {
                id: "a".into(),
                name: "glossary".into(),
                arguments: Arguments::Parsed(json!({})),
            },
            ToolCall {
                id: "b".into(),
                name: "glossary".into(),
                arguments: Arguments::Parsed(json!({})),
            },
        ],
    ));
    request.messages.push(Message::tool("a", "one", false));
    request.messages.push(Message::tool("b", "two", true));
    request.ephemeral = Some("<reminder>plan</reminder>".into());
    model.reply(&request, &context().0).await.unwrap();
    model.reply(&request, &context().0).await.unwrap();
    let sent = server.received_requests().await.unwrap();
    assert_eq!(sent[0].body, sent[1].body);
    let body: Value = sent[0].body_json().unwrap();
    assert_eq!(body["system"][0]["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(body["tools"][1]["cache_control"], json!({"type": "ephemeral"}));
    let last = body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["role"], "user");
    let kinds: Vec<&str> = last["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["tool_result", "tool_result", "text"]);
    assert_eq!(last["content"][1]["is_error"], true);
    assert!(
        last["content"][2].get("cache_control").is_none(),
        "what changes is not cached"
    );
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_read_too() {
    let whole = ResponseTemplate::new(200).set_body_json(
        json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "12"}, "finish_reason": "stop"}]}),
    );
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/v1/chat/completions"))
        .respond_with(whole)
        .mount(&server)
        .await;
    let model = OpenAi::new("test", &format!("{}/v1", server.uri()), None).unwrap();
    assert_eq!(model.reply(&request(), &context().0).await.unwrap().message.text, "12");
}
