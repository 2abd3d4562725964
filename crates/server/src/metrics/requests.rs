//! Counts and times requests, by the beginning of their path.

use std::collections::BTreeMap;
use std::time::Duration;

use docent_types::Durations;
use docent_web::Request;
use http::StatusCode;
use parking_lot::Mutex;

use super::text::{Exposition, MetricKind};

/// The label of all paths that are not in [`ROUTES`].
const OTHER: &str = "other";

/// Every route label, so that requests cannot add any.
const ROUTES: [&str; 18] = [
    "/discovery/v1/assistant",
    "/discovery/v1/assistant/feedback",
    "/discovery/v1/page",
    "/discovery/v1/search",
    "/discovery/v2/assistant",
    "/discovery/v2/openai",
    "/docs/api",
    "/healthz",
    "/mcp",
    "/metrics",
    "/openapi.json",
    "/readyz",
    "/sites",
    "/v1/agent",
    "/v1/analytics",
    "/v2/agent",
    "/widget",
    OTHER,
];

/// The classes of statuses, from 100 on.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// The requests that were answered.
#[derive(Debug)]
pub(super) struct Requests {
    counts: Mutex<BTreeMap<(&'static str, u16), u64>>,
    /// By route and class of status. The map never changes, so reading it takes no lock.
    durations: BTreeMap<&'static str, [Durations; CLASSES.len()]>,
}

impl Requests {
    pub(super) fn new() -> Self {
        let durations = ROUTES.into_iter().map(|route| (route, Default::default())).collect();
        Self { counts: Mutex::default(), durations }
    }

    /// `took` is the time from the request's head to the answer's.
    pub(super) fn answered(&self, route: &'static str, status: StatusCode, took: Duration) {
        let status = status.as_u16();
        *self.counts.lock().entry((route, status)).or_default() += 1;
        let class = usize::from(status / 100).saturating_sub(1);
        if let Some(durations) = self.durations.get(route).and_then(|classes| classes.get(class)) {
            durations.record(took);
        }
    }

    pub(super) fn write(&self, text: &mut Exposition) {
        let help = "Requests that were answered, by path and status.";
        let mut family = text.family("docent_http_requests_total", MetricKind::Counter, help);
        for ((route, status), count) in &*self.counts.lock() {
            family.sample(&[("route", route), ("status", &status.to_string())], *count);
        }
        let help = "Time from the head of a request to that of its answer, by path and class of status.";
        let mut family = text.family("docent_http_request_duration_seconds", MetricKind::Histogram, help);
        for (route, classes) in &self.durations {
            for (class, durations) in CLASSES.into_iter().zip(classes) {
                let counts = durations.counts();
                // Most paths never have most classes, and each histogram is many lines.
                if counts.count > 0 {
                    family.histogram(&[("route", route), ("status", class)], &counts);
                }
            }
        }
    }
}

/// The route label of a request: one of [`ROUTES`].
pub(crate) fn route_of(request: &Request) -> &'static str {
    // The most frequent path is matched first, without splitting it.
    if request.path().starts_with("/v2/agent/") {
        return "/v2/agent";
    }
    match *request.segments().as_slice() {
        ["v1", "agent", ..] => "/v1/agent",
        ["v1", "analytics", ..] => "/v1/analytics",
        ["v2", "agent", ..] => "/v2/agent",
        ["discovery", "v1", "assistant", _, "feedback"] => "/discovery/v1/assistant/feedback",
        ["discovery", "v1", "assistant", ..] => "/discovery/v1/assistant",
        ["discovery", "v2", "assistant", ..] => "/discovery/v2/assistant",
        ["discovery", "v2", "openai", ..] => "/discovery/v2/openai",
        ["discovery", "v1", "search", ..] => "/discovery/v1/search",
        ["discovery", "v1", "page", ..] => "/discovery/v1/page",
        ["sites", ..] => "/sites",
        ["mcp", ..] => "/mcp",
        ["healthz"] => "/healthz",
        ["readyz"] => "/readyz",
        ["metrics"] => "/metrics",
        ["widget.js"] | ["widget", ..] => "/widget",
        ["openapi.json"] => "/openapi.json",
        ["docs", "api"] => "/docs/api",
        _ => OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_status_and_timed_by_its_class() {
        let requests = Requests::new();
        for (status, millis) in [(200, 3), (204, 3), (404, 40)] {
            let status = StatusCode::from_u16(status).expect("a status");
            requests.answered("/sites", status, Duration::from_millis(millis));
        }
        let mut text = Exposition::default();
        requests.write(&mut text);
        let text = text.into_text();
        for line in [
            "docent_http_requests_total{route=\"/sites\",status=\"204\"} 1",
            "docent_http_request_duration_seconds_bucket{route=\"/sites\",status=\"2xx\",le=\"0.001\"} 0",
            "docent_http_request_duration_seconds_bucket{route=\"/sites\",status=\"2xx\",le=\"0.005\"} 2",
            "docent_http_request_duration_seconds_count{route=\"/sites\",status=\"4xx\"} 1",
        ] {
            assert!(text.contains(&format!("\n{line}\n")), "{line} in {text}");
        }
        assert!(!text.contains("5xx"), "{text}");
    }
}
