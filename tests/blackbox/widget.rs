//! The files of the reader's chat, as pages of other sites load them. What the chat does is tried in [`browser`](crate::browser).

use docent_tests::{Request, Server, Site};

const FILES: [&str; 3] = ["/widget.js", "/widget/panel.js", "/widget/texts/en.js"];

#[test]
fn pages_of_any_site_load_the_chat_and_ask_for_it_again_only_when_it_is_another() {
    let site = Site::start();
    let get = |path: &str| Request::get(path).header("Origin", "https://docs.example.com");
    for path in FILES {
        let plain = site.server.send(&get(path));
        assert_eq!(plain.status, 200, "{path}");
        for (name, value) in [
            ("Content-Type", "text/javascript; charset=utf-8"),
            ("Access-Control-Allow-Origin", "*"),
            ("Cross-Origin-Resource-Policy", "cross-origin"),
            ("X-Content-Type-Options", "nosniff"),
            ("Vary", "Accept-Encoding"),
        ] {
            assert_eq!(plain.header(name), Some(value), "{path}");
        }
        assert!(plain.header("Cache-Control").is_some_and(|value| value.contains("max-age")), "{path}");
        let compressed = site.server.send(&get(path).header("Accept-Encoding", "gzip, deflate, br"));
        assert_eq!(compressed.header("Content-Encoding"), Some("gzip"), "{path}");
        assert!(compressed.body.len() < plain.body.len() && compressed.body.starts_with(&[0x1f, 0x8b]), "{path}");
        let tag = compressed.header("ETag").expect("a tag");
        assert_ne!(Some(tag), plain.header("ETag"), "{path}");
        let known = get(path).header("Accept-Encoding", "gzip").header("If-None-Match", tag);
        let known = site.server.send(&known);
        assert_eq!((known.status, known.body.len()), (304, 0), "{path}");
    }
    says_what_it_takes(&site.server);
}

fn says_what_it_takes(server: &Server) {
    let refused = server.send(&Request::post("/widget.js"));
    assert_eq!((refused.status, refused.header("Allow")), (405, Some("GET, HEAD, OPTIONS")));
    assert_eq!(server.send(&Request::get("/widget/texts/xx.js")).status, 404);
}
