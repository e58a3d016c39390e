#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# root.sh DIR: makes of a Debian root the guests' image. mmdebstrap runs it, as root
# of its own namespace. Leaves initrd, about and guest.ext4 in DIR/boot.
#
# Only what a test's guest does not need is taken away. What slurm-vsphere asks of a
# template (doc/admin/template.md) stays: systemd, udev, networkd, munge, chrony.
set -eu
root=$1
release=$(ls "$root/usr/lib/modules")

# module_files MODULE...: with what they depend on, in the order of loading.
module_files() {
	for module in "$@"; do
		chroot "$root" modprobe -S "$release" --show-depends "$module" || exit 1
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

# rxe finds no checksum without crc32_generic; button and evdev make an ACPI
# power-off an orderly one.
keep_modules() {
	chroot "$root" depmod "$release"
	module_files virtio_pci virtio_blk virtio_net virtio_console virtio_rng ext4 vmxnet3 \
		qemu_fw_cfg rdma_rxe ib_uverbs rdma_ucm autofs4 dummy crc32_generic \
		button evdev >/tmp/guest-modules.$$
	kept=$root/boot/modules
	while read -r file; do
		mkdir -p "$kept/${file%/*}"
		cp "$root$file" "$kept/$file"
	done </tmp/guest-modules.$$
	rm /tmp/guest-modules.$$
	rm -rf "$root/usr/lib/modules/$release/kernel"
	cp -r "$kept/lib/modules/$release/kernel" "$root/usr/lib/modules/$release/" 2>/dev/null ||
		cp -r "$kept/usr/lib/modules/$release/kernel" "$root/usr/lib/modules/$release/"
	rm -rf "$kept"
	chroot "$root" depmod "$release"
}

make_initrd() {
	tree=$root/boot/tree
	mkdir -p "$tree/bin" "$tree/proc" "$tree/sys" "$tree/dev" "$tree/root" "$tree/modules"
	cp "$root/bin/busybox" "$tree/bin/"
	n=100
	for file in $(module_files virtio_pci virtio_blk ext4); do
		cp "$root$file" "$tree/modules/$n-${file##*/}"
		n=$((n + 1))
	done
	mv "$root/boot/init" "$tree/init"
	chmod 755 "$tree/init"
	(cd "$tree" && find . | LC_ALL=C sort | cpio -o -H newc --quiet) >"$root/boot/initrd"
	rm -rf "$tree"
}

mask() {
	for unit in "$@"; do ln -sf /dev/null "$root/etc/systemd/system/$unit"; done
}

quiet_units() {
	mask apt-daily.timer apt-daily-upgrade.timer fstrim.timer e2scrub_all.timer \
		e2scrub_reap.service dpkg-db-backup.timer dpkg-db-backup.service getty.target \
		getty@tty1.service serial-getty@ttyS0.service console-getty.service \
		systemd-pstore.service systemd-update-utmp.service \
		systemd-update-utmp-runlevel.service systemd-random-seed.service ldconfig.service \
		systemd-hwdb-update.service systemd-journal-flush.service \
		systemd-journal-catalog-update.service systemd-boot-system-token.service \
		systemd-firstboot.service systemd-sysusers.service systemd-binfmt.service \
		systemd-network-generator.service rdma-ndd.service kmod-static-nodes.service \
		modprobe@drm.service modprobe@fuse.service modprobe@efi_pstore.service \
		modprobe@dm_mod.service modprobe@loop.service modprobe@configfs.service \
		dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount \
		sys-kernel-tracing.mount sys-kernel-config.mount sys-fs-fuse-connections.mount \
		proc-sys-fs-binfmt_misc.automount systemd-ask-password-console.path \
		systemd-ask-password-wall.path
	chroot "$root" systemctl disable slurmd >/dev/null 2>&1
	# A test that is about NetworkManager enables it.
	rm -f "$root"/etc/systemd/system/*.wants/NetworkManager*.service \
		"$root"/etc/systemd/system/dbus-org.freedesktop.nm-dispatcher.service
	chroot "$root" systemctl enable systemd-networkd munge >/dev/null 2>&1
	# Generators, the hardware database and a coldplug of all devices take seconds.
	rm -f "$root"/usr/lib/systemd/system-generators/* "$root/usr/lib/udev/hwdb.bin"
	unit=$root/etc/systemd/system/systemd-udev-trigger.service.d
	mkdir -p "$unit"
	{
		printf '[Service]\nExecStart=\nExecStart=/bin/udevadm trigger --action=add --type=devices'
		printf ' --subsystem-match=%s' pci net virtio virtio-ports infiniband acpi input misc
		echo
	} >"$unit/few.conf"
}

settle_files() {
	mkdir -p "$root/etc/systemd/journald.conf.d"
	printf '[Journal]\nStorage=volatile\nRateLimitBurst=0\n' \
		>"$root/etc/systemd/journald.conf.d/volatile.conf"
	: >"$root/etc/machine-id"
	echo localhost >"$root/etc/hostname"
	echo '127.0.0.1 localhost' >"$root/etc/hosts"
	echo '/dev/vda / ext4 defaults 0 0' >"$root/etc/fstab"
	rm -rf "$root/etc/slurm/slurm.conf" "$root/etc/resolv.conf" \
		"$root"/var/lib/systemd/random-seed "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*
	mkdir -p "$root/var/spool/slurmd"
	chroot "$root" passwd -d root >/dev/null
}

about() {
	echo "kernel $release"
	# shellcheck disable=SC2016 # dpkg's variables
	chroot "$root" dpkg-query -W -f '${Package} ${Version}\n' slurmd rdma-core perftest systemd
}

# Built beside the tree, because it must not hold itself. A bind mount of the tree
# shows none of the mounts in it, such as /proc.
make_ext4() {
	image=$(mktemp /tmp/guest-ext4.XXXXXX)
	used=$(du -smx "$root" | cut -f 1)
	truncate -s "$((used * 5 / 4 + 200))M" "$image"
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount sh -c 'mount --bind "$1" /mnt && exec mke2fs -q -t ext4 \
		-O ^has_journal,^metadata_csum -E lazy_itable_init=1 -m 0 -d /mnt "$2"' \
		sh "$root" "$image"
	mv "$image" "$root/boot/guest.ext4"
}

keep_modules
make_initrd
quiet_units
settle_files
about >"$root/boot/about"
rm "$root/boot/root.sh"
for file in initrd about; do mv "$root/boot/$file" "/tmp/guest-$file.$$"; done
make_ext4
for file in initrd about; do mv "/tmp/guest-$file.$$" "$root/boot/$file"; done
