//! Server-sent events: where a stream is cut into pieces changes nothing of what is read out of it.

use deputize_adapters::provider::Sse;

/// Takes the first byte as the length of pieces and the rest as a stream.
///
/// # Panics
/// On a finding.
pub fn sse(bytes: &[u8]) {
    let Some((size, stream)) = bytes.split_first() else { return };
    let whole = read([stream]);
    assert_eq!(read(stream.chunks(usize::from(size % 16) + 1)), whole, "it depends on where the stream is cut");
    assert_eq!(read(stream.chunks(1)), whole, "it depends on where the stream is cut");
    for event in &whole {
        assert!(!event.contains('\r'), "a line ending is left in {event:?}");
        assert!(event.len() <= stream.len() * 3, "an event is longer than the stream");
    }
}

fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let mut sse = Sse::default();
    let mut events: Vec<String> = pieces.into_iter().flat_map(|piece| sse.push(piece)).collect();
    events.extend(sse.finish());
    events
}
