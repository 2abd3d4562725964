#!/bin/sh
# Copies the programs of the container, and all files that they need, to the folder $1. Run by the Containerfile. $2 is where
# docent is, if it is elsewhere.
set -eu
to=$1

docent=${2:-/usr/local/bin/docent}
programs="$docent /usr/bin/git /usr/bin/ssh /usr/bin/ssh-keygen"
# Names of hosts and users are looked up by libraries that no program names.
names=$(ls /lib/*/libnss_files.so.2 /lib/*/libnss_dns.so.2 /lib/*/libresolv.so.2)

mkdir -p "$to/dev" "$to/proc" "$to/sys" "$to/etc" "$to/tmp" "$to/var/lib/docent" "$to/usr/bin" "$to/usr/lib" "$to/usr/lib64"
ln -s usr/bin "$to/bin"
ln -s usr/lib "$to/lib"
ln -s usr/lib64 "$to/lib64"
for program in $programs; do
    # `ldd` prints `NAME => PATH (ADDRESS)`, and the loader as `PATH (ADDRESS)`.
    echo "$program"
    ldd "$program" | sed -n 's/^.* => \(\/[^ ]*\) .*$/\1/p; s/^\t\(\/[^ ]*\) .*$/\1/p'
done | sort -u | while read -r path; do
    install -D "$path" "$to$path"
done
for library in $names; do
    install -D "$library" "$to$library"
done
install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$to/etc/ssl/certs/ca-certificates.crt"
# git calls itself by other names: git-upload-pack, git-receive-pack.
ln -s git "$to/usr/bin/git-upload-pack"
ln -s git "$to/usr/bin/git-receive-pack"

printf 'root:x:0:0:root:/:/usr/sbin/nologin\ndocent:x:10001:10001:docent:/var/lib/docent:/usr/sbin/nologin\n' >"$to/etc/passwd"
printf 'root:x:0:\ndocent:x:10001:\n' >"$to/etc/group"
printf 'hosts: files dns\n' >"$to/etc/nsswitch.conf"
chmod 1777 "$to/tmp"
chmod 700 "$to/var/lib/docent"
chown -R 10001:10001 "$to/var/lib/docent"
