//! The same traffic without Docent: a hyper server that says back what it is told, and answers `GET /N` with N bytes. What it
//! costs is what a request costs at least.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

use crate::BoxError;

/// No answer of Docent's that it stands for is longer.
static FILLER: [u8; 4096] = [b'a'; 4096];

pub(crate) async fn serve(listener: TcpListener) -> Result<(), BoxError> {
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        tokio::spawn(async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(socket), service_fn(answer));
            // Whoever hangs up has heard enough.
            let _ = connection.await;
        });
    }
}

async fn answer(request: http::Request<Incoming>) -> Result<http::Response<Full<Bytes>>, Infallible> {
    let bytes = if request.method() == Method::GET {
        let length = request.uri().path().trim_start_matches('/').parse().unwrap_or(0);
        Bytes::from_static(&FILLER[..FILLER.len().min(length)])
    } else {
        request.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default()
    };
    let mut response = http::Response::new(Full::new(bytes));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
