# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The guests' kernel, initrd and root file system. Sourced after setup.sh.
#
# need_guests plain|whole builds them once (whole: for the tests of --whole), and sets
# VS_GUESTS to their directory: vmlinux, initrd, base.ext4, and `about`, a text that
# says what is inside. Nothing of slurm-vsphere is inside: template.py adds it.
#
# need_other_slurmd sets VS_OTHER_SLURMD to a tar file with a slurmd that slurmctld
# refuses: of another Debian, with its libraries.
#
# Rules: nothing is mounted on the machine, and root is needed to install packages
# alone. An ordinary user needs ids in /etc/subuid and /etc/subgid. The directory's name is a hash of all that the image depends on, so one that
# exists is right. Images of other kernels and packages are removed.

VS_PACKAGES_GUESTS=(qemu-system-x86 qemu-utils mmdebstrap e2fsprogs cpio xz-utils iproute2)
[ "$(id -u)" = 0 ] || VS_PACKAGES_GUESTS+=(uidmap)	# mmdebstrap's, of an ordinary user
guest_packages=(systemd systemd-sysv udev dbus iproute2 kmod procps rdma-core
	ibverbs-utils ibverbs-providers perftest munge slurmd slurm-client chrony
	busybox-static libjson-c5 iputils-ping libnss-myhostname)
# What the tests of --whole need besides.
guest_packages_whole=(openmpi-bin libucx0 network-manager charliecloud-runtime)
guests_tun=${VS_TUN:-/dev/net/tun}
guests_here=$VS_TOP/testsuite/guests

# Why no guest can run on this machine; prints nothing if guests can.
guests_missing() {
	[ "$(uname -m)" = x86_64 ] || { echo "the machine is no x86_64"; return; }
	{ [ -c "$guests_tun" ] && : <>"$guests_tun"; } 2>/dev/null || { echo "$guests_tun can't be opened"; return; }
	bash "$guests_here/space.sh" true 2>/dev/null ||
		{ echo "no network namespace with a bridge can be made"; return; }
	ids_missing
}

# In the image are files of root, munge and others: an ordinary user's namespace needs
# an id for each.
ids_missing() {
	local user
	[ "$(id -u)" != 0 ] || return 0
	! mmdebstrap --unshare-helper true >/dev/null 2>&1 || return 0
	user=$(id -un)
	echo "$user has no range of ids in /etc/subuid and /etc/subgid for the image's files: as root, usermod --add-subuids 300000-365535 --add-subgids 300000-365535 $user"
}

# The newest generic kernel: Debian's cloud kernel has no rdma_rxe.
guest_kernel() {
	apt-cache depends linux-image-amd64 2>/dev/null |
		awk '$1 == "Depends:" && $2 ~ /^linux-image-[0-9]/ { print $2; exit }'
}

guest_versions() {
	apt-cache policy "$1" slurmd | awk '/^[a-z]/ { p = $1 } /Candidate:/ { print p, $2 }'
	printf 'slurmctld: %s\n' "$(dpkg-query -W -f '${Version}' slurmctld)"
}

# unpack_kernel PACKAGE DIR: the kernel, and the modules that a guest may need.
unpack_kernel() {
	local deb
	mkdir -p "$2/tree"
	(cd "$2" && apt-get -q download "$1") || return 1
	deb=$(echo "$2"/linux-image-*.deb)
	dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$2/tree" --wildcards \
		--exclude='*/drivers/gpu' --exclude='*/drivers/media' --exclude='*/sound' \
		--exclude='*/drivers/staging' --exclude='*/drivers/scsi' --exclude='*/wireless' \
		--exclude='*/drivers/iio' --exclude='*/drivers/usb' './boot/vmlinuz-*' ./lib || return 1
	/usr/bin/python3 "$guests_here/vmlinux.py" "$2"/tree/boot/vmlinuz-* "$2/vmlinux" || return 1
	tar -C "$2/tree" -cf "$2/modules.tar" lib || return 1
	rm -rf "$2/tree" "$deb"
}

# make_image DIR KERNEL PACKAGE...: all but the kernel, by mmdebstrap. What root.sh does
# runs in mmdebstrap's own namespace, where an ordinary user is root too.
make_image() {
	local dir=$1 release include
	include=$(IFS=,; echo "${*:3}")
	# shellcheck disable=SC1091
	release=$(. /etc/os-release && echo "$VERSION_CODENAME")
	unpack_kernel "$2" "$dir" || return 1
	# shellcheck disable=SC2016 # mmdebstrap's shell
	mmdebstrap --variant=minbase --format=null --include="$include" \
		--aptopt='APT::Install-Recommends "false"' \
		--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/info/*' \
		--dpkgopt='path-exclude=/usr/share/i18n/*' \
		--customize-hook="tar-in $dir/modules.tar /usr" \
		--customize-hook="upload $guests_here/init /boot/init" \
		--customize-hook="upload $guests_here/root.sh /boot/root.sh" \
		--customize-hook='sh "$1/boot/root.sh" "$1"' \
		--customize-hook="download /boot/initrd $dir/initrd" \
		--customize-hook="download /boot/about $dir/about" \
		--customize-hook="download /boot/guest.ext4 $dir/base.ext4" \
		"$release" /dev/null || return 1
	fallocate --dig-holes "$dir/base.ext4" || return 1
	rm -f "$dir/modules.tar"
}

need_guests() { # plain or whole
	local kernel key dir packages=("${guest_packages[@]}") began=$SECONDS
	[ "$1" = plain ] || packages+=("${guest_packages_whole[@]}")
	need_packages "${VS_PACKAGES_GUESTS[@]}"
	[ -z "${VS_SLURM_TREE:-}" ] ||
		die "the guests' slurmd is the distribution's, and Slurm here is of $VS_SLURM_TREE"
	kernel=$(guest_kernel)
	if [ -z "$kernel" ]; then
		need_root "reading the package lists"
		apt_update as_root apt-get -q
		kernel=$(guest_kernel)
	fi
	[ -n "$kernel" ] || die "apt knows no package linux-image-amd64"
	key=$({ printf '%s\n' "${packages[@]}"; guest_versions "$kernel"
		declare -f unpack_kernel make_image
		cat "$guests_here"/{root.sh,init,vmlinux.py}; } | sha256sum | cut -c 1-16)
	VS_GUESTS=$VS_CACHE/guests/$1-$key
	export VS_GUESTS
	[ ! -e "$VS_GUESTS/about" ] || return 0
	say "building the guests' image"
	rm -rf "$VS_CACHE/guests/$1"-*
	dir=$VS_GUESTS.new
	mkdir -p "$dir"
	run_logged "$VS_CACHE/log/guests.log" "building the guests' image" \
		make_image "$dir" "$kernel" "${packages[@]}"
	mv "$dir" "$VS_GUESTS"
	say "the image took $((SECONDS - began)) s: $(du -h "$VS_GUESTS/base.ext4" | cut -f 1), $kernel"
}

# Slurm takes messages of its own release and of the two before it.
need_other_slurmd() {
	local suite=trixie
	# shellcheck disable=SC1091
	[ "$(. /etc/os-release && echo "$VERSION_CODENAME")" != trixie ] || suite=bookworm
	VS_OTHER_SLURMD=$VS_CACHE/guests/slurmd-$suite.tar
	export VS_OTHER_SLURMD
	[ ! -e "$VS_OTHER_SLURMD" ] || return 0
	say "fetching the slurmd of $suite"
	run_logged "$VS_CACHE/log/other-slurmd.log" "fetching the slurmd of $suite" \
		mmdebstrap --variant=extract --include=slurmd,slurm-client \
		--aptopt='APT::Install-Recommends "false"' --format=tar "$suite" "$VS_OTHER_SLURMD.new"
	mv "$VS_OTHER_SLURMD.new" "$VS_OTHER_SLURMD"
}

# need_recipe sets VS_RECIPE to a directory with what the Ansible role makes of a root,
# by recipe.py: once for this role and this build. After need_guests and need_cluster.
need_recipe() {
	local key began=$SECONDS
	need_packages "${VS_PACKAGES_CONTRIBS[@]}"
	key=$({ echo "$VS_GUESTS"
		find "$VS_TOP/contribs/guest/ansible" "$VS_ROOT" "$guests_here/recipe.py" \
			"$VS_TOP/testsuite/contribs/template_root.py" -type f -print0 |
			LC_ALL=C sort -z | xargs -0 cat; } | sha256sum | cut -c 1-16)
	VS_RECIPE=$VS_CACHE/guests/recipe-$key
	export VS_RECIPE VS_CACHE
	[ ! -e "$VS_RECIPE/base.ext4" ] || return 0
	say "playing the role of contribs/guest/ansible"
	rm -rf "$VS_CACHE"/guests/recipe-*
	run_logged "$VS_CACHE/log/recipe.log" "playing the role of contribs/guest/ansible" \
		/usr/bin/python3 "$guests_here/recipe.py" "$VS_ROOT" "$VS_GUESTS" "$VS_RECIPE.new"
	mv "$VS_RECIPE.new" "$VS_RECIPE"
	say "the recipe took $((SECONDS - began)) s"
}
