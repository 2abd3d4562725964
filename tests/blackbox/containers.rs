//! The container that `deploy/Containerfile` builds: by itself, and as the three nodes of `examples/three_nodes/compose.yml`.
//!
//! podman runs them. The images that the compose file takes from a registry are made here of the same programs; what is special
//! about them is their ports, variables and folders.

use std::ffi::OsStr;
use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::Instant;

use docent_tests::agent::{branch, id};
use docent_tests::third_party::free_port;
use docent_tests::{Repository, Request, Response, binary, eventually};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::deploy::certificate::{Certificate, SERVER};
use crate::deploy::reader::Reader;
use crate::deploy::{changed, program, project_file, succeeds};

/// The user of the image.
const USER: u32 = 10001;

const BALANCER: &str = r#"FROM localhost/debian
RUN apt-get update && apt-get install --yes --no-install-recommends haproxy
USER 99:99
CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
"#;

const DATABASE: &str = r#"FROM localhost/debian
COPY postgres /opt/postgres
COPY start.sh /
RUN mkdir /var/lib/postgresql && chown 999:999 /var/lib/postgresql
USER 999:999
VOLUME /var/lib/postgresql
CMD ["sh", "/start.sh"]
"#;

const START_DATABASE: &str = r#"set -eu
programs=/opt/postgres/bin data=/var/lib/postgresql/data
if ! [ -d $data ]; then
    echo "$POSTGRES_PASSWORD" >/tmp/password
    $programs/initdb -D $data.new -U "$POSTGRES_USER" -E UTF8 -A scram-sha-256 --pwfile /tmp/password
    echo "host all all all scram-sha-256" >>$data.new/pg_hba.conf
    echo "CREATE DATABASE $POSTGRES_DB" | $programs/postgres --single -D $data.new postgres
    mv $data.new $data
fi
exec $programs/postgres -D $data -c listen_addresses='*' -c unix_socket_directories=/tmp
"#;

/// podman, whose images, containers and volumes are in a folder of the test's own.
struct Podman {
    folder: TempDir,
}

impl Podman {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("make a temporary folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        // With the limits of this process, because root may not raise them everywhere, and by runc, which takes more kinds of cgroups than crun.
        let limits = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum.unwrap_or(1024);
        let settings = format!(
            "[containers]\ndefault_ulimits = [\"nofile={limits}:{limits}\", \"nproc=4096:4096\"]\nlog_driver = \"k8s-file\"\n\
             [engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\n\
             [network]\nnetwork_backend = \"netavark\"\nnetwork_config_dir = \"{}\"\n",
            path("networks"),
        );
        fs::write(path("containers.conf"), settings).expect("configure podman");
        let storage = format!(
            "[storage]\ndriver = \"overlay\"\ngraphroot = \"{}\"\nrunroot = \"{}\"\n",
            path("images"),
            path("run")
        );
        fs::write(path("storage.conf"), storage).expect("configure podman's storage");
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command<A: AsRef<OsStr>>(&self, program: impl AsRef<OsStr>, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.path());
        command.env("CONTAINERS_CONF", self.path().join("containers.conf"));
        command.env("CONTAINERS_STORAGE_CONF", self.path().join("storage.conf"));
        command
    }

    fn podman<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        self.command(program("DOCENT_PODMAN"), args)
    }

    fn output(&self, args: &[&str]) -> Output {
        self.podman(args).output().expect("start podman")
    }

    /// What a command prints that must succeed.
    fn says(&self, args: &[&str]) -> String {
        let output = self.output(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "podman {args:?}:\n{said}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Builds an image from the folder `of`.
    fn builds(&self, image: &str, file: &Path, of: &Path, arguments: &[&str]) {
        let mut build = self.podman(["build", "--format", "docker", "--network", "host", "-t", image, "-f"]);
        succeeds(build.arg(file).args(arguments).arg(of));
    }

    /// The image of Debian that others are built on, and `docent` of the program under test.
    fn builds_docent(&self) {
        succeeds(self.podman(["import"]).arg(program("DOCENT_DEBIAN")).arg("localhost/debian"));
        let sources = self.path().join("sources");
        fs::create_dir_all(sources.join("deploy")).expect("make a folder");
        fs::copy(project_file("deploy/container-files.sh"), sources.join("deploy/container-files.sh")).expect("copy");
        fs::copy(binary::docent(), sources.join("docent")).expect("copy the program");
        let given = ["--build-arg", "BINARY=given", "--build-arg", "BASE=localhost/debian"];
        self.builds("docent", &project_file("deploy/Containerfile"), &sources, &given);
        fs::remove_dir_all(&sources).expect("remove the copy");
    }

    /// What stands for the images that compose.yml takes from a registry.
    fn builds_balancer_and_database(&self) {
        let of = self.path().join("stand-ins");
        fs::create_dir(&of).expect("make a folder");
        fs::write(of.join("Containerfile"), BALANCER).expect("write");
        self.builds("docker.io/library/haproxy:2.8", &of.join("Containerfile"), &of, &[]);
        let programs = Path::new(&program("DOCENT_TEST_POSTGRES_PROGRAMS")).parent().expect("a folder").to_owned();
        succeeds(Command::new("cp").arg("-r").arg(programs).arg(of.join("postgres")));
        fs::write(of.join("start.sh"), START_DATABASE).expect("write");
        fs::write(of.join("Containerfile"), DATABASE).expect("write");
        self.builds("docker.io/library/postgres:18", &of.join("Containerfile"), &of, &[]);
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        if thread::panicking() {
            let all = self.output(&["ps", "--all", "--format", "{{.Names}}"]).stdout;
            for container in String::from_utf8_lossy(&all).lines() {
                let Output { stdout, stderr, .. } = self.output(&["logs", "--tail", "20", container]);
                eprintln!("{container}:\n{}", String::from_utf8_lossy(&[stdout, stderr].concat()));
            }
        }
        // A container on which others depend goes after them, and without systemd podman gives up at the first health check.
        drop(self.output(&["stop", "--all", "--time", "0"]));
        for _ in 0..3 {
            drop(self.output(&["rm", "--all", "--force", "--time", "0"]));
        }
        for args in [&["network", "prune", "--force"][..], &["image", "unmount", "--all", "--force"]] {
            drop(self.output(args));
        }
        // Where podman keeps its images mounted, the folder could not be removed.
        drop(Command::new("umount").arg(self.path().join("images/overlay")).output());
    }
}

#[test]
#[ignore = "needs podman: cargo xtask test --only containers"]
fn the_image_serves_alone_and_as_three_nodes_behind_a_balancer() {
    let (podman, began) = (Podman::new(), Instant::now());
    podman.builds_docent();
    println!("the image is built after {:.0?}", began.elapsed());
    serves_from_a_root_that_nobody_can_write_to(&podman);
    println!("it served alone after {:.0?}", began.elapsed());
    podman.builds_balancer_and_database();
    println!("a balancer and a database are built after {:.0?}", began.elapsed());
    three_nodes_are_one_server(&podman);
}

fn serves_from_a_root_that_nobody_can_write_to(podman: &Podman) {
    let port = free_port();
    let publish = format!("127.0.0.1:{port}:8080");
    let run = ["run", "-d", "--name", "docent", "--read-only", "--tmpfs", "/tmp", "-v", "docent:/var/lib/docent", "-p"];
    podman.says(&[&run[..], &[&publish, "docent"]].concat());
    let address = ([127, 0, 0, 1], port).into();
    eventually("the server to answer", || {
        Request::get("/readyz").send(address).ok().filter(|answer| answer.status == 200)
    });
    podman.says(&["healthcheck", "run", "docent"]);
    podman.says(&["exec", "docent", "docent", "doctor"]);
    let process = podman.says(&["inspect", "--format", "{{.State.Pid}}", "docent"]);
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("read about the process");
    assert!(status.contains(&format!("Uid:\t{USER}\t{USER}\t{USER}\t{USER}\n")), "{status}");
    // All that is called there is in the image; nothing can be written but the data and what is temporary.
    for (called, said) in [
        (&["git", "--version"][..], "git version "),
        (&["git-upload-pack", "-h"], "[--stateless-rpc]"),
        (&["ssh", "-V"], "OpenSSH"),
        (&["git", "init", "/repository"], "Read-only file system"),
        (&["git", "init", "/tmp/repository"], "Initialized"),
        (&["sh"], "not found"),
    ] {
        let output = podman.output(&[&["exec", "docent"], called].concat());
        let all = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(all.contains(said), "{called:?}: {all}");
    }
    // Of the 120 MB that the image may have, these are for the program, whose size is that of the build.
    const OF_DOCENT: u64 = 80_000_000;
    let image = podman.says(&["image", "mount", "docent"]);
    let all = succeeds(
        Command::new("du").args(["--apparent-size", "--block-size=1", "--summarize", "--exclude=docent", &image]),
    );
    let size: u64 = all.split_whitespace().next().and_then(|size| size.parse().ok()).expect("a size");
    assert!(size <= 120_000_000 - OF_DOCENT, "{size} bytes beside docent");
    podman.says(&["stop", "docent"]);
    assert_eq!(podman.says(&["inspect", "--format", "{{.State.ExitCode}}", "docent"]), "0", "it drains");
    // What it keeps is in the volume.
    podman.says(&["rm", "docent"]);
    podman.says(&[&run[..], &[&publish, "docent"]].concat());
    eventually("the server to answer", || {
        Request::get("/readyz").send(address).ok().filter(|answer| answer.status == 200)
    });
}

fn three_nodes_are_one_server(podman: &Podman) {
    let place = podman.path().join("three_nodes");
    fs::create_dir(&place).expect("make a folder");
    let certificate = Certificate::in_folder(&place);
    fs::rename(&certificate.both, place.join("docent.example.com.pem")).expect("rename the certificate");
    // Not every machine lets a container have so many files.
    let balancer = changed("examples/three_nodes/haproxy.cfg", &[("maxconn 20000", "maxconn 1000")]);
    fs::write(place.join("haproxy.cfg"), balancer).expect("write");
    let repository = Repository::create(&place.join("docs.git"), &[("index.md", "# Welcome\n\nPlease sign in.\n")]);
    succeeds(Command::new("chown").args(["-R", &format!("{USER}:{USER}")]).arg(repository.path()));
    // A port and a network that are free here; and the docs, which would be at a forge.
    let port = free_port();
    let network = format!("10.89.{}.0/24", 20 + std::process::id() % 200);
    let changes = [
        ("10.89.7.0/24".to_owned(), network),
        ("[\"80:80\", \"443:443\"]".to_owned(), format!("[\"127.0.0.1:{port}:443\"]")),
        ("a:/var/lib/docent\"".to_owned(), "a:/var/lib/docent\", \"./docs.git:/docs.git\"".to_owned()),
        ("b:/var/lib/docent\"".to_owned(), "b:/var/lib/docent\", \"./docs.git:/docs.git\"".to_owned()),
        ("c:/var/lib/docent\"".to_owned(), "c:/var/lib/docent\", \"./docs.git:/docs.git\"".to_owned()),
    ];
    let changes: Vec<_> = changes.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    fs::write(place.join("compose.yml"), changed("examples/three_nodes/compose.yml", &changes)).expect("write");
    let compose = |args: &[&str]| {
        let mut command = podman.command(program("DOCENT_PODMAN_COMPOSE"), [&["--in-pod", "false"], args].concat());
        command.current_dir(&place).env("DATABASE_PASSWORD", "not/so@secret");
        let podman = Path::new(&program("DOCENT_PODMAN")).parent().expect("a folder").to_owned();
        let path = std::env::var("PATH").unwrap_or_default();
        succeeds(command.env("PATH", format!("{}:{path}", podman.display())))
    };
    compose(&["up", "-d", "--no-build"]);
    let on = |node: &str, args: &[&str]| {
        podman.says(&[&["exec", &format!("three_nodes_{node}_1"), "docent"], args].concat())
    };
    for node in ["a", "b", "c"] {
        let name = format!("three_nodes_{node}_1");
        eventually("a node to be ready", || {
            podman.output(&["exec", &name, "docent", "health"]).status.success().then_some(())
        });
    }
    on("a", &["project", "add", "docs", "--repo", "/docs.git"]);
    let key = on("b", &["key", "create", "--project", "docs", "--kind", "admin"]);
    // The network lets no other address of this machine in.
    let reader = Reader::at(Ipv4Addr::LOCALHOST, port, SERVER, certificate.trusting());
    let sends = |request: Request| -> Option<Response> {
        match request.bearer(&key).header("Host", SERVER).send(reader.address()) {
            Ok(answer) if answer.status == 503 => println!("not yet: {}", answer.text()),
            Ok(answer) => return Some(answer),
            Err(error) => println!("not yet: {error}"),
        }
        None
    };
    let replace =
        || Request::post("/v2/agent/docs/job").json(&json!({ "prompt": "Replace \"sign in\" with \"log in\"" }));
    let completed = |job: &Value| {
        eventually("the job to end", || {
            let job = sends(Request::get(format!("/v2/agent/docs/job/{}", id(job))))?.json();
            (job["status"] == "completed").then_some(job)
        })
    };
    let created = eventually("the balancer to answer", || sends(replace()));
    assert_eq!(created.status, 201, "{}", created.text());
    let job = completed(&created.json());
    let link = job["prLink"].as_str().expect("a pull request");
    assert!(link.starts_with(&format!("https://{SERVER}/")), "{link}");
    let ahead = |job: &Value| {
        let to = format!("main..{}", branch(job));
        succeeds(
            Command::new("git")
                .args(["-c", "safe.directory=*", "rev-list", "--count", &to])
                .current_dir(repository.path()),
        )
    };
    assert_eq!(ahead(&job).trim(), "1", "{job:#}");
    for node in ["a", "b"] {
        podman.says(&["kill", &format!("three_nodes_{node}_1")]);
    }
    let job = completed(&eventually("the last node to answer", || sends(replace())).json());
    assert_eq!(ahead(&job).trim(), "1", "{job:#}");
    compose(&["start", "a"]);
    podman.says(&["stop", "three_nodes_c_1"]);
    let job = completed(&eventually("the node that came back to answer", || sends(replace())).json());
    assert_eq!(ahead(&job).trim(), "1", "{job:#}");
    // The balancer closes what needs no key.
    assert_eq!(sends(Request::get("/metrics").of_others()).map(|answer| answer.status), Some(403));
    compose(&["down"]);
}
