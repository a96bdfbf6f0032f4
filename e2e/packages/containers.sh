#!/bin/bash
# containers.sh prepares a machine for containers: settings of podman, the image of the release from /root/image.oci.tar, an
# image with Debian's PostgreSQL that takes what the official one does, and the API of Docker.
set -eu
mkdir -p /etc/containers /var/tmp /usr/local/bin
echo '{"default":[{"type":"insecureAcceptAnything"}]}' >/etc/containers/policy.json
cat >/etc/containers/storage.conf <<EOF
[storage]
driver = "vfs"
runroot = "/run/containers/storage"
graphroot = "/var/lib/containers/storage"
EOF
# The limits and control groups of containers need rights that a test may not have.
cat >/etc/containers/containers.conf <<EOF
[containers]
cgroups = "disabled"
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
EOF
podman tag "$(podman pull --quiet oci-archive:/root/image.oci.tar)" ghcr.io/sequent-dev/sequent:latest

root=/root/postgres
mkdir -p $root/{bin,etc,tmp,usr/share,proc,dev,sys,var/lib/postgresql/data,var/run/postgresql}
programs=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
version=$(basename "$(dirname "$programs")")
files="/bin/bash $programs/initdb $programs/postgres $programs/pg_isready"
for library in dict_snowball plpgsql libpqwalreceiver; do
	files="$files /usr/lib/postgresql/$version/lib/$library.so"
done
# shellcheck disable=SC2086 # a list
for file in $files $(ldd $files | grep -o '/[^ :]*' | sort -u); do
	mkdir -p "$root$(dirname "$file")"
	cp -L --update "$file" "$root$file"
done
ln -sf bash $root/bin/sh
mkdir -p $root/usr/share/postgresql
cp -a "/usr/share/postgresql/$version" $root/usr/share/postgresql/
cp -a /usr/share/zoneinfo $root/usr/share/
printf 'root:x:0:0::/:/bin/sh\npostgres:x:999:999::/var/lib/postgresql:/bin/sh\n' >$root/etc/passwd
cat >$root/entrypoint.sh <<'EOF'
#!/bin/bash
set -eu
export PGDATA=/var/lib/postgresql/data/cluster
if [ ! -s $PGDATA/PG_VERSION ]; then
	# shellcheck disable=SC2086 # a list
	initdb --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --auth-local=trust \
		--auth-host=scram-sha-256 --locale=C --encoding=UTF8 $POSTGRES_INITDB_ARGS
	echo 'host all all all scram-sha-256' >>$PGDATA/pg_hba.conf
	echo "CREATE DATABASE \"$POSTGRES_USER\"" | postgres --single -D $PGDATA postgres
fi
exec postgres -c 'listen_addresses=*' -c unix_socket_directories=/var/run/postgresql
EOF
chmod 755 $root/entrypoint.sh
chown -R 999:999 $root/var/lib/postgresql
tar -C $root -c . | podman import --quiet --change 'ENTRYPOINT ["/entrypoint.sh"]' \
	--change "ENV PATH=$programs:/usr/bin:/bin" --change 'VOLUME /var/lib/postgresql/data' - docker.io/library/postgres:17
rm -r $root

# The plugin of docker is a program of its own in Debian.
cat >/usr/local/bin/docker <<'EOF'
#!/bin/sh
[ "$1" = compose ] && shift && exec docker-compose "$@"
EOF
chmod 755 /usr/local/bin/docker
systemd-run --unit=docker-api podman system service --time=0 unix:///run/docker.sock
until [ -S /run/docker.sock ]; do sleep 0.1; done
