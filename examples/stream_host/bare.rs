//! The same frames without Docent: a hyper server that writes them from a template. What it costs is what streaming costs
//! at least, so it is the floor that Docent is measured against.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use docent_llm::Event;
use futures::Stream;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::BoxError;
use crate::paced::{Paced, Words};

struct Frames(Words);

impl Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let word = std::task::ready!(Pin::new(&mut self.0).poll_next(context));
        Poll::Ready(word.map(|word| {
            let frame = match word {
                Some(Event::TextDelta(text)) => {
                    format!("data: {{\"type\":\"text-delta\",\"id\":\"text-1\",\"delta\":\"{text}\"}}\n\n").into()
                }
                _ => Bytes::from_static(b"data: [DONE]\n\n"),
            };
            Ok(Frame::data(frame))
        }))
    }
}

/// Answers whatever is asked.
pub(crate) async fn serve(listener: TcpListener, pace: Paced) -> Result<(), BoxError> {
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        tokio::spawn(async move {
            let service = service_fn(move |request: http::Request<Incoming>| async move {
                let _ = request.into_body().collect().await;
                let response = http::Response::builder().header("content-type", "text/event-stream");
                response.body(Frames(Words::of(pace)))
            });
            // Whoever hangs up has heard enough.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), service).await;
        });
    }
}
