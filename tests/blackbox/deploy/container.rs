//! The files that the Containerfile puts into the container.

use std::process::Command;

use docent_tests::binary;

use super::{file, succeeds};

#[test]
#[ignore = "needs root: cargo xtask test --only deploy"]
fn the_container_has_all_files_that_its_programs_need() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root may change the root folder");
        return;
    }
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let root = folder.path().join("files");
    succeeds(Command::new("sh").arg(file("container-files.sh")).arg(&root).arg(binary::docent()));
    // What a container runtime brings.
    succeeds(Command::new("mknod").args(["-m", "666"]).arg(root.join("dev/null")).args(["c", "1", "3"]));
    let docent = binary::docent().to_str().expect("a path");
    for (program, argument, said) in [
        (docent, "--version", "docent "),
        ("/usr/bin/git", "--version", "git version "),
        ("/usr/bin/git-upload-pack", "-h", "[--stateless-rpc]"),
        ("/usr/bin/ssh", "-V", "OpenSSH"),
    ] {
        let output =
            Command::new("chroot").args(["--userspec=10001:10001"]).arg(&root).args([program, argument]).output();
        let output = output.expect("start chroot");
        let all = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(all.contains(said), "{program} {argument}: {all}");
    }
    // git and ssh find the user by this, and names of hosts by what is in the folder of libraries.
    let who = Command::new("chroot").args(["--userspec=docent:docent"]).arg(&root).args([docent, "--version"]).output();
    assert!(who.expect("start chroot").status.success());
}
