//! How a reply is written, by the query of its request: `?sdk=` and `?parts=`.

use docent_types::Refusal;
use docent_ui_stream::{FinishStyle, UiMessageStream};
use docent_web::Request;

/// The encoder of a reply. `by_sdk` is whether a chat SDK sent the body.
///
/// # Errors
/// 400 when `parts` has an unknown value.
pub(crate) fn reply_stream(request: &Request, by_sdk: bool) -> Result<UiMessageStream, Refusal> {
    let finish = FinishStyle::for_reader(request.headers(), request.query("sdk").as_deref(), by_sdk);
    let stream = UiMessageStream::new(finish);
    match request.query("parts").as_deref() {
        None | Some("" | "text") => Ok(stream),
        Some("blocks") => Ok(stream.with_blocks()),
        Some(_) => Err(Refusal::invalid("parts: it must be `text` or `blocks`; leave it out for `text`")),
    }
}
