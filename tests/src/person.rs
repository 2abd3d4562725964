//! Operators who sign in to the dashboard.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::http::{Request, Response};
use crate::installation::Installation;
use crate::server::Server;
use crate::site::Site;

/// The password of every person.
pub const PASSWORD: &str = "a horse and a battery";

/// A person with a browser: a cookie jar, and the CSRF token of the last page's form.
#[derive(Debug)]
pub struct Person<'s> {
    server: &'s Server,
    /// The address and the name of a proxy in front of the server.
    proxy: Option<(SocketAddr, String)>,
    /// The path below which the proxy serves the server; empty at its root.
    below: String,
    pub cookies: Vec<(String, String)>,
    pub token: String,
    /// The path of the page that was fetched last, from which forms are sent.
    page: String,
}

impl<'s> Person<'s> {
    /// A person whose browser has no cookies.
    pub fn new(server: &'s Server) -> Self {
        Self {
            server,
            proxy: None,
            below: String::new(),
            cookies: Vec::new(),
            token: String::new(),
            page: String::new(),
        }
    }

    /// The same browser at another server, which takes its cookies.
    #[must_use]
    pub fn at<'o>(&self, server: &'o Server) -> Person<'o> {
        Person { cookies: self.cookies.clone(), token: self.token.clone(), ..Person::new(server) }
    }

    /// The person reaches the server as `https://NAME`, through a proxy at this address.
    #[must_use]
    pub fn through(self, address: SocketAddr, name: &str) -> Self {
        Self { proxy: Some((address, name.to_owned())), ..self }
    }

    /// The proxy serves the server below this path, such as `/docent`. The paths of requests are still the server's own.
    #[must_use]
    pub fn below(self, path: &str) -> Self {
        Self { below: path.to_owned(), ..self }
    }

    /// Signs up with a link that the command line created.
    ///
    /// # Panics
    /// When the sign-up is refused.
    pub fn joins(server: &'s Server, installation: &Installation, name: &str, role: &str) -> Self {
        let mut person = Self::new(server);
        person.signs_up(installation, name, role);
        person
    }

    /// As [`joins`](Self::joins), for a person whose browser is set up.
    ///
    /// # Panics
    /// When the sign-up is refused.
    pub fn signs_up(&mut self, installation: &Installation, name: &str, role: &str) {
        let link = installation.must(&["operator", "link", "--role", role]).stdout;
        let path = link.trim().split_once("/dashboard/").map(|(_, rest)| format!("/dashboard/{rest}")).expect("a link");
        assert_eq!(self.gets(&path).status, 200);
        let form = [("name", name), ("password", PASSWORD), ("repeated", PASSWORD)];
        let joined = self.posts(&path, &form);
        let home = format!("{}/dashboard", self.below);
        assert_eq!((joined.status, joined.header("location")), (303, Some(home.as_str())), "{}", joined.text());
        self.gets("/dashboard/-/account");
    }

    fn sends(&self, request: Request) -> Response {
        match &self.proxy {
            None => self.server.send(&request),
            Some((address, name)) => request.header("host", name).send(*address).expect("the proxy answers"),
        }
    }

    /// The page at the end of a link's redirects, for a new editor.
    ///
    /// # Panics
    /// When there are more than three redirects.
    pub fn follows(site: &'s Site, link: &str) -> Response {
        static PEOPLE: AtomicUsize = AtomicUsize::new(0);
        let name = format!("editor-{}", PEOPLE.fetch_add(1, Ordering::Relaxed));
        let mut person = Self::joins(&site.server, &site.installation, &name, "editor");
        let mut path = link.to_owned();
        for _ in 0..4 {
            let response = person.gets(&path);
            match response.header("location") {
                Some(next) if response.status == 303 => path = next.to_owned(),
                _ => return response,
            }
        }
        panic!("{link} leads in a circle");
    }

    fn cookie_header(&self) -> String {
        self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }

    pub fn gets(&mut self, path: &str) -> Response {
        path.clone_into(&mut self.page);
        let path = format!("{}{path}", self.below);
        let response = self.sends(Request::get(path).header("cookie", self.cookie_header()));
        self.keeps(&response);
        response
    }

    /// Sends a form like a browser on a page of the server.
    pub fn posts(&mut self, path: &str, fields: &[(&str, &str)]) -> Response {
        let origin = match &self.proxy {
            None => format!("http://{}", self.server.address()),
            Some((_, name)) => format!("https://{name}"),
        };
        let referer = format!("{origin}{}{}", self.below, self.page);
        let request = self.form(path, fields).header("origin", origin).header("sec-fetch-site", "same-origin");
        let request = request.header("referer", referer);
        let response = self.sends(request);
        self.keeps(&response);
        response
    }

    /// A form with the token, but without the headers by which a browser names the origin.
    pub fn form(&self, path: &str, fields: &[(&str, &str)]) -> Request {
        let fields = [("token", self.token.as_str())].into_iter().chain(fields.iter().copied());
        let body: Vec<String> = fields.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        Request::post(format!("{}{path}", self.below))
            .header("cookie", self.cookie_header())
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body.join("&"))
    }

    /// Stores the cookies of a response in the jar, and the token of its form.
    fn keeps(&mut self, response: &Response) {
        for (_, value) in response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")) {
            let (name, rest) = value.split_once('=').expect("a cookie");
            let (value, attributes) = rest.split_once(';').expect("attributes");
            assert!(attributes.contains("HttpOnly") && attributes.contains("SameSite=Lax"), "{attributes}");
            self.cookies.retain(|(known, _)| known != name);
            if !attributes.contains("Max-Age=0;") && !attributes.ends_with("Max-Age=0") {
                self.cookies.push((name.to_owned(), value.to_owned()));
            }
        }
        if let Some((_, rest)) = response.text().split_once("name=\"token\" value=\"") {
            self.token = rest.split('"').next().unwrap_or_default().to_owned();
        }
    }

    /// The session cookie in the jar.
    pub fn session(&self) -> Option<&str> {
        self.cookies.iter().find(|(name, _)| name == "docent-session").map(|(_, value)| value.as_str())
    }
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
