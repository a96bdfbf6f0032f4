#!/bin/bash
# machine.sh run DIR NAME COMMAND…: runs COMMAND as process 1 of a machine of its own. Its root at DIR is a fresh Debian with
# the programs of this machine and no accounts, services or state of it. Its control group is NAME. Needs root.
# machine.sh clean NAME: removes that control group.
set -eu
case $1 in
run)
	shift
	exec unshare --mount --propagation private "$0" enter "$@"
	;;
enter)
	group=$(mktemp -d)
	mount -t cgroup2 cgroup2 "$group"
	mkdir -p "$group/$3"
	echo $$ >"$group/$3/cgroup.procs"
	umount "$group"
	rmdir "$group"
	shift
	exec unshare --pid --uts --ipc --net --cgroup --fork --kill-child "$0" boot "$@"
	;;
boot)
	root=$2
	shift 3
	mount -t tmpfs -o mode=755 tmpfs "$root"
	cd "$root"
	mkdir -p usr etc/systemd/system var/lib var/log var/tmp run tmp proc sys dev home root srv old
	chmod 1777 tmp var/tmp
	for link in bin sbin lib lib32 lib64 libx32; do
		if [ -L "/$link" ]; then cp -a "/$link" .; fi
	done
	mount --bind /usr usr
	mount -o remount,bind,ro usr
	mount -t tmpfs -o mode=755 tmpfs usr/local
	mkdir -p usr/local/bin usr/local/sbin
	cp /usr/share/base-passwd/passwd.master etc/passwd
	cp /usr/share/base-passwd/group.master etc/group
	# Users of Debian's packages of the services that run here.
	echo 'messagebus:x:990:990::/nonexistent:/usr/sbin/nologin' >>etc/passwd
	echo 'messagebus:x:990:' >>etc/group
	cp -a /etc/ld.so.cache /etc/pam.d /etc/security /etc/login.defs /etc/adduser.conf /etc/deluser.conf etc/ 2>/dev/null || true
	[ ! -d /etc/alternatives ] || cp -a /etc/alternatives etc/
	: >etc/machine-id
	echo machine >etc/hostname
	echo '127.0.0.1 localhost' >etc/hosts
	# These would change the machine around this one.
	for unit in systemd-remount-fs.service systemd-sysctl.service systemd-modules-load.service systemd-udevd.service \
		systemd-logind.service getty.target dev-hugepages.mount sys-kernel-debug.mount sys-kernel-tracing.mount \
		sys-fs-fuse-connections.mount proc-sys-fs-binfmt_misc.automount modprobe@.service; do
		ln -s /dev/null "etc/systemd/system/$unit"
	done
	mount -t proc proc proc
	mount --bind proc/sys proc/sys
	mount --bind proc/sys/net proc/sys/net # of the machine's own network
	mount -o remount,bind,ro proc/sys
	mount -t sysfs -o ro sysfs sys
	mount -t cgroup2 cgroup2 sys/fs/cgroup
	mount -t tmpfs -o mode=755 tmpfs dev
	for device in null zero full random urandom tty; do
		: >"dev/$device"
		mount --bind "/dev/$device" "dev/$device"
	done
	mkdir dev/pts dev/shm
	mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
	ln -s pts/ptmx dev/ptmx
	mount -t tmpfs tmpfs dev/shm
	mount -t tmpfs -o mode=755 tmpfs run
	pivot_root . old
	umount -l /old
	rmdir /old
	exec env -i container=test PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
	;;
clean)
	exec unshare --mount --propagation private "$0" sweep "$2"
	;;
sweep)
	mount -t cgroup2 cgroup2 /mnt
	[ ! -d "/mnt/$2" ] || find "/mnt/$2" -depth -type d -exec rmdir {} +
	;;
esac
