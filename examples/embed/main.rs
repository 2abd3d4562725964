//! Docent inside a service of your own.
//!
//! The service owns its socket, its hyper server and a route of its own; everything under `/v2` and `/discovery` it
//! hands to Docent's face. Nothing here comes from the `docent` binary: it is the same library crates, wired by us.
//!
//! To show that it works the program then is its own client over loopback: one agent job, one merge, one question.
//!
//! ```sh
//! cargo run -p docent-examples --example embed
//! ```

mod client;
mod docent;
mod sample;

use std::convert::Infallible;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use docent_types::{ProjectId, RandomIds};
use docent_web::{ServerLimits, answer};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::docent::Docent;

type BoxError = Box<dyn Error + Send + Sync>;

const INSTRUCTION: &str = "Replace \"turnstile\" with \"gate\"";
const QUESTION: &str = "How many requests may pass in a minute?";

/// What our service answers with: a body of its own, or one of Docent's (which may be a stream).
type Body = Either<Full<Bytes>, docent_web::Body>;

/// Our service: whatever it is about, and Docent beside it.
struct Service {
    docent: Docent,
    project: ProjectId,
}

impl Service {
    /// Our own routes come first; what is none of ours is Docent's to answer, and to refuse.
    async fn route(&self, request: Request<Incoming>, peer: SocketAddr) -> Response<Body> {
        if request.method() == Method::GET && request.uri().path() == "/status" {
            return self.status().await.map(Either::Left);
        }
        // `answer` gives the request an id, catches a panic and bounds the time a body may take. The bounds on
        // connections are the server's, so they are ours here: see `serve`.
        answer(&self.docent.api, request, peer, &RandomIds, &ServerLimits::default()).await.map(Either::Right)
    }

    /// A route of our own. It asks Docent's cores directly: no key and no HTTP in between.
    async fn status(&self) -> Response<Full<Bytes>> {
        let (status, body) = match self.docent.newest_jobs(&self.project, 10).await {
            Ok(jobs) => {
                let jobs: Vec<_> = jobs.iter().map(|job| json!({ "id": job.id, "status": job.status })).collect();
                (StatusCode::OK, json!({ "service": "turnstile", "jobs": jobs }))
            }
            Err(error) => (StatusCode::SERVICE_UNAVAILABLE, json!({ "error": error.to_string() })),
        };
        let mut response = Response::new(Full::from(body.to_string()));
        *response.status_mut() = status;
        response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
        response
    }
}

/// A hyper server like any other. Stops accepting when `drain` is cancelled, and lets what runs come to its end.
async fn serve(listener: TcpListener, service: Arc<Service>, drain: CancellationToken) {
    let graceful = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    // Without a timer hyper waits forever for a client that never ends its request head.
    http.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(30));
    loop {
        let (stream, peer) = tokio::select! {
            () = drain.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                // Out of file descriptors, most likely: some become free in a moment.
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let service = Arc::clone(&service);
        let answering = service_fn(move |request| {
            let service = Arc::clone(&service);
            async move { Ok::<_, Infallible>(service.route(request, peer).await) }
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), answering));
        // A connection that breaks off is the client's business.
        tokio::spawn(async move { drop(connection.await) });
    }
    drop(listener);
    graceful.shutdown().await;
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let repository = sample::repository(&folder.path().join("docs.git"))?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;

    // 1. Docent: a folder for its data, and the address its links lead to.
    let docent = Docent::open(&folder.path().join("data"), &format!("http://{address}"))?;
    let project = sample::project(&repository)?;
    let keys = docent.add(project.clone()).await?;
    docent.index(&project).await?;

    // 2. The engine works on jobs until it is told to drain; the server serves until then.
    let drain = CancellationToken::new();
    let engine = docent.start(drain.clone()).await?;
    let service = Arc::new(Service { docent, project: project.id.clone() });
    let server = tokio::spawn(serve(listener, Arc::clone(&service), drain.clone()));
    println!("our service, with Docent in it, listens on http://{address}");

    // 3. From here on a client like any other, apart from the merge.
    let client = Client::new(address);
    let toured = tour(&client, &service.docent, &project, &keys).await;

    // 4. Both stop; what was accepted and is not done would be taken up at the next start.
    drain.cancel();
    server.await?;
    engine.await?;
    service.docent.close().await?;
    toured?;
    println!("all as it should be");
    Ok(())
}

async fn tour(
    client: &Client,
    docent: &Docent,
    project: &docent_types::Project,
    keys: &docent::IssuedKeys,
) -> Result<(), BoxError> {
    let job = client.job_to_its_end(project.id.as_str(), &keys.admin, INSTRUCTION).await?;
    println!("\n> {INSTRUCTION}\njob {} is {}: {}", job["id"], job["status"], job["prLink"]);
    assert_eq!(job["status"], "completed", "{job}");
    assert!(job["prLink"].as_str().is_some_and(|link| link.contains("/pulls/turnstile/")), "{job}");

    // The pull request is on the local forge. We show it and merge it through the library, as a page of ours could.
    let branch = job["source"]["ref"].as_str().unwrap_or_default();
    let changes = docent.merge(project, branch).await?;
    for change in &changes.files {
        println!("{}", change.unified.trim_end());
    }
    assert_eq!(changes.files.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(), ["index.md", "limits.md"]);
    docent.index(project).await?;

    let answer = client.answer(project.domain.as_str(), &keys.assistant, QUESTION).await?;
    println!("\n> {QUESTION}\n{}\nsources: {:?}", answer.text.trim(), answer.sources);
    assert!(answer.text.contains("60 requests pass the gate"), "the answer quotes what was merged: {}", answer.text);
    assert!(answer.sources.iter().any(|source| source.starts_with("/limits")), "{:?}", answer.sources);

    // Our own route needs none of Docent's keys, and Docent's routes do.
    let (status, ours) = client.get("/status", None).await?;
    println!("\nGET /status {status}: {ours}");
    assert_eq!((status, &ours["jobs"][0]["id"]), (200, &job["id"]));
    let (status, refused) = client.get(&format!("/v2/agent/{}/job/{}", project.id, branch), None).await?;
    assert_eq!(status, 404, "a slash in the id makes it another path: {refused}");
    let (status, refused) = client.get(&format!("/v2/agent/{}/job/x", project.id), None).await?;
    assert_eq!(status, 401, "{refused}");
    Ok(())
}
