# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's packages: the tarball, the RPMs' spec, and the Debian packages of the
# releases in testsuite/matrix/releases, built in a chroot of each and installed in
# another. What `lint` checks of a release too is in testsuite/lib/release.sh.
#
# Rules: nothing of it is installed on this machine; a root to install in is
# recreated from one that never had a Slurm; what a package must hold stands here,
# by name, and is not asked of the build.
# shellcheck disable=SC2154,SC2034,SC2153,SC2016 # the caller's; the chroot's shell expands

# ---- RPM -------------------------------------------------------------------------

# Names of the files of a package, without directories and documentation.
files_of() { # PACKAGE
	case $1 in
	*.deb) dpkg-deb -c "$1" | awk '$1 !~ /^d/ { print substr($6, 2) }' ;;
	*) rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$1" | awk '$1 !~ /^d/ { print $2 }' ;;
	esac | grep -vE '^/usr/(share/(doc|licenses|lintian)|lib/[.]build-id)/' |
		sed -E 's,^/usr/lib(64)?/([^/]*-linux-gnu/)?slurm(-wlm)?/,PLUGINS/,; s/[.]gz$//' | sort
}

holds() { # PACKAGE FILE...
	local p=$1
	shift
	diff <(printf '%s\n' "$@" | sort) <(files_of "$p")
}

packages_hold() { # DIRECTORY SUFFIX: name of a package, then SUFFIX, is a pattern
	local d=$1 s=$2 u=/usr/lib/systemd/system h=/usr/share/slurm-vsphere/health rc=0
	local m=/usr/share/man
	# shellcheck disable=SC2086 # patterns
	{
		holds $d/slurm-vsphere$s /usr/bin/svf-probe \
			PLUGINS/job_submit_vsphere.so \
			PLUGINS/libslurm_vsphere.so $m/man1/svf-probe.1 \
			$m/man5/vsphere-health.conf.5 $m/man8/slurm-vsphere-health.8 \
			/usr/libexec/slurm-vsphere/slurm-vsphere-check \
			/usr/sbin/slurm-vsphere-health $u/slurm-vsphere-health.service \
			$u/slurm-vsphere-health.timer $h/README.md $h/choose.py \
			$h/job.py $h/judge.py $h/keep.py $h/perf.py $h/pair.sbatch \
			${h%/*}/vhpc-import/vhpc-import || rc=1
		holds $d/slurm-vsphere-select$s PLUGINS/select_cons_tres_vsphere.so || rc=1
		holds $d/slurm-vsphere-prep$s PLUGINS/prep_vsphere.so \
			PLUGINS/spank_vsphere.so || rc=1
		mapfile -t recipe < <(tracked contribs/guest/ansible contribs/guest/packer |
			sed 's,^contribs/guest/,,')
		holds $d/slurm-vsphere-guest$s /usr/sbin/slurm-vsphere-guest \
			/usr/sbin/slurm-vsphere-port $u/slurm-vsphere-identity.service \
			$u/slurm-vsphere-freeze.service \
			$u/slurm-vsphere-slurmd.service $m/man8/slurm-vsphere-guest.8 \
			"${recipe[@]/#/\/usr\/share\/slurm-vsphere\/template\/}" || rc=1
		mapfile -t schemas < <(cd "$VS_TOP/src/svf/schema" && printf '%s\n' *.json)
		holds $d/slurm-vsphere-client$s /usr/bin/svf $m/man1/svf.1 \
			$m/man5/vsphere.conf.5 $m/man7/slurm-vsphere.7 \
			$m/man7/svf-check-codes.7 \
			/usr/share/bash-completion/completions/svf \
			"${schemas[@]/#/\/usr\/share\/slurm-vsphere\/schema\/}" \
			/usr/share/zsh/site-functions/_svf || rc=1
	}
	return $rc
}

# A plugin that binds all at once opens in no command: they lack what slurmctld has.
never_bound_now() { # DIRECTORY
	local n=0 f
	while IFS= read -r f; do
		n=$((n + 1))
		! readelf -d "$f" | grep -E 'BIND_NOW|FLAGS.*NOW' || { echo "$f"; return 1; }
	done < <(find "$1" -name '*_vsphere.so' -type f)
	[ $n = 5 ] || { echo "$n plugins in $1"; return 1; }
}

# As on a machine whose Slurm came by RPM, but for the compiler's packages.
packages_rpm() { # TARBALL
	local top=$results/rpm release plugins p
	release=$(sed -n 's/^SLURM_RELEASE = //p' "$VS_BUILD/Makefile")
	plugins=$(sed -n 's/^slurmplugindir = //p' "$VS_BUILD/Makefile" | tail -n 1)
	mkdir -p "$top/tmp"
	(cd "$top" && rpmbuild -tb --nodeps --nocheck --define "_topdir $top" \
		--define "_tmppath $top/tmp" --define "slurm_evr $release-1" \
		--define "slurm_source $VS_SLURM_SRC" --define "slurm_plugins $plugins" "$1") || return 1
	mkdir -p "$top/made"
	mv "$top"/RPMS/*/*.rpm "$top/made/"
	packages_hold "$top/made" '-[0-9]*.rpm' || return 1
	for p in "$top"/made/slurm-vsphere-{select,prep,[0-9]}*.rpm; do
		rpm -qp --requires "$p" | grep -qE "^slurm(\(.*\))? = $release-1$" ||
			{ echo "$p goes with any Slurm"; return 1; }
	done
}

# ---- Debian ----------------------------------------------------------------------

# A root that never had a Slurm, and one to build in made from it.
package_roots() { # SUITE: sets base, root and builder
	base=$VS_CACHE/chroot/$1.base builder=$VS_CACHE/chroot/$1.build root=$VS_CACHE/chroot/$1.install
	chroot_made "$1" "$base"
	as_root rm -rf "$root"
	as_root cp -a "$base" "$root"
	[ -e "$builder/.vs-made" ] || as_root cp -a "$base" "$builder"
	for d in "$root" "$builder"; do
		printf '#!/bin/sh\nexit 101\n' | as_root tee "$d/usr/sbin/policy-rc.d" >/dev/null
		as_root chmod 755 "$d/usr/sbin/policy-rc.d"
	done
}

# As on a machine of a user who has the tree and a network.
debs_built() {
	as_root rm -rf "$builder$VS_IN_CHROOT" && tree_into "$builder$VS_IN_CHROOT/tree" || return 1
	in_chroot "$builder" DEBIAN_FRONTEND=noninteractive VS_CACHE=/var/cache/slurm-vsphere \
		"DEB_BUILD_OPTIONS=parallel=$(vs_jobs)" bash -euxc '
		cd "$1"
		apt-get -q update
		apt-get -y -q --no-install-recommends install build-essential fakeroot lintian
		apt-get -y -q --no-install-recommends build-dep ./
		dpkg-buildpackage -us -uc -b' built "$VS_IN_CHROOT/tree"
}

debs_depend_exactly() { # VERSION
	local of on d rc=0
	while read -r of on; do
		d=$(dpkg-deb -f "$debs/${of}_"*.deb Depends) || return 1
		case ", $d," in
		*", $on (= $1),"*) ;;
		*) echo "$of depends on $d; Slurm is $1"; rc=1 ;;
		esac
	done <<-EOT
	slurm-vsphere slurmctld
	slurm-vsphere-select slurm-wlm-basic-plugins
	slurm-vsphere-prep slurm-wlm-basic-plugins
	EOT
	return $rc
}

# Only the administrator who updates slurmctld restarts it: no package script does.
scripts_restart_nothing() {
	local f dir rc=0
	dir=$(mktemp -d) || return 1
	for f in "$debs"/slurm-vsphere*.deb; do
		dpkg-deb -e "$f" "$dir/$(basename "$f")" || rc=1
	done
	if grep -rnE 'systemctl|invoke-rc|service |deb-systemd|scontrol' --exclude=control "$dir"; then
		rc=1
	fi
	rm -rf "$dir"
	return $rc
}

# A package that has a name, a version and dependencies, and nothing in it.
hollow() { # DIRECTORY NAME VERSION [DEPENDS]
	mkdir -p "$1/hollow/DEBIAN"
	printf 'Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: x <x@example.org>\nDescription: x\n%s' \
		"$2" "$3" "$(dpkg --print-architecture)" "${4:+Depends: $4
}" >"$1/hollow/DEBIAN/control"
	dpkg-deb -b "$1/hollow" "$1/${2}_hollow.deb" >/dev/null
	rm -rf "$1/hollow"
}

# A directory with packages becomes an archive that the root's apt knows.
archive() { # DIRECTORY NAME
	(cd "$1" && dpkg-scanpackages -m . >Packages) &&
		as_root rm -rf "$root/$2" && as_root cp -r "$1" "$root/$2" &&
		echo "deb [trusted=yes] file:/$2 ./" |
		as_root tee "$root/etc/apt/sources.list.d/$2.list" >/dev/null
}

# dpkg alone, beside a Slurm of the same upstream release and another revision.
dpkg_refuses() { # VERSION
	local other=${1%-*}-0other d=$results/$suite-other p said rc=0
	mkdir -p "$d" && hollow "$d" slurm-wlm-basic-plugins "$other" || return 1
	as_root cp -r "$d" "$root/other" && as_root cp -r "$debs" "$root/ours" &&
		in_chroot "$root" bash -c 'dpkg -i /other/*.deb' || return 1
	for p in select prep; do
		said=$(in_chroot "$root" bash -c "dpkg -i /ours/slurm-vsphere-${p}_*.deb" 2>&1) &&
			{ echo "$p went in"; rc=1; }
		grep -q "is built for Slurm $1, here is $other: install that Slurm first, or build" <<<"$said" ||
			{ echo "$said"; rc=1; }
	done
	if find "$root/usr/lib" -name '*_vsphere.so' | grep .; then rc=1; fi
	in_chroot "$root" dpkg -P slurm-wlm-basic-plugins || rc=1
	as_root rm -rf "$root/ours" "$root/other"
	return $rc
}

# With their Slurm, and with no slurmd: a controller wants none.
apt_installs() {
	archive "$debs" debs || return 1
	in_chroot "$root" DEBIAN_FRONTEND=noninteractive bash -euxc '
		apt-get -q update
		apt-get -y -q install --no-install-recommends slurm-vsphere
		[ ! -x /usr/sbin/slurmd ]'
}

# A newer Slurm without a matching slurm-vsphere in the archive is not installed.
update_is_held_back() { # VERSION
	local d=$results/$suite-newer said
	mkdir -p "$d" && hollow "$d" slurm-wlm-basic-plugins "$1.1" &&
		hollow "$d" slurm-client "$1.1" "slurm-wlm-basic-plugins (= $1.1)" &&
		hollow "$d" slurmctld "$1.1" "slurm-client (= $1.1)" &&
		archive "$d" newer || return 1
	said=$(in_chroot "$root" bash -euc 'apt-get -q update >&2; apt-get -s upgrade')
	if grep '^Inst slurm' <<<"$said" ||
	   ! grep -A 3 'kept back' <<<"$said" | grep -q slurmctld; then
		echo "$said"
		return 1
	fi
}

# It opens the plugins and the core, and ends for want of what only a site has.
slurmctld_opens_it() {
	local said
	as_root mkdir -p "$root/etc/slurm" "$root/var/lib/slurm"
	as_root tee "$root/etc/slurm/slurm.conf" >/dev/null <<-'EOT'
	ClusterName=packages
	SlurmctldHost=localhost
	SlurmUser=root
	StateSaveLocation=/var/lib/slurm
	SelectType=select/cons_tres_vsphere
	SelectTypeParameters=CR_Core_Memory
	PrEpPlugins=prep/script,prep/vsphere
	SuspendProgram=/bin/true
	ResumeProgram=/bin/true
	SuspendTime=600
	NodeName=vm[001-002] CPUs=8 RealMemory=30000 Features=sriov-roce,vmxnet3 State=CLOUD
	PartitionName=roce Nodes=vm001
	PartitionName=eth Nodes=vm002
	EOT
	as_root cp "$root/usr/share/doc/slurm-vsphere/examples/vsphere.conf" "$root/etc/slurm/" || return 1
	# From 23.11 on auth/munge asks munged at once.
	said=$(in_chroot "$root" bash -c '
		install -d -o munge -g munge /run/munge
		setpriv --reuid munge --regid munge --clear-groups munged --foreground &
		for i in {1..100}; do munge -n >/dev/null 2>&1 && break; sleep 0.1; done
		timeout 60 slurmctld -D
		kill $!
		wait' 2>&1)
	grep -q 'fatal: slurm-vsphere: .*VCenterCAFile=/etc/slurm/vcenter-ca.pem: No such file' <<<"$said" ||
		{ echo "$said"; return 1; }
}

# ---- the template ----------------------------------------------------------------

# The commands of contribs/guest/README.md as they stand there, in a Debian that
# never had a Slurm, with the files that they take from a build. No systemd runs
# there: what is enabled is looked at, and what would stop, or write a journal, is
# left out.
template_is_made() { # DIRECTORY WITH THE PACKAGES
	local tmpl=$root.template f
	as_root rm -rf "$tmpl" && as_root cp -a "$base" "$tmpl" &&
		as_root mkdir -p "$tmpl/recipe/out" || return 1
	for f in "$1"/slurm-vsphere-{select,prep,guest}_*.deb; do
		as_root dpkg -x "$f" "$tmpl/recipe/out" || return 1
	done
	as_root find "$tmpl/recipe/out" -path "*/usr/share" -prune -o -type f -exec cp -t "$tmpl/recipe" {} + &&
		head -c 128 /dev/urandom | as_root tee "$tmpl/recipe/munge.key" >/dev/null &&
		awk '/^## / { on = /^## Make the template/ } on && /^```$/ { exit }
			code; on && /^```sh/ { code = 1 }' "$VS_TOP/contribs/guest/README.md" |
		sed 's/^poweroff$//' | as_root tee "$tmpl/recipe/recipe" >/dev/null || return 1
	grep -q '^systemctl enable slurm-vsphere-identity' "$tmpl/recipe/recipe" ||
		{ echo "README.md has no recipe"; return 1; }
	printf '#!/bin/sh\nexit 101\n' | as_root tee "$tmpl/usr/sbin/policy-rc.d" >/dev/null
	as_root chmod 755 "$tmpl/usr/sbin/policy-rc.d"
	in_chroot "$tmpl" DEBIAN_FRONTEND=noninteractive bash -euxc '
		cd /recipe
		apt-get -q update
		printf "APT::Get::Assume-Yes \"true\";\n" >/etc/apt/apt.conf.d/yes
		apt-get -q install --no-install-recommends systemd systemd-sysv procps	# a VM has them
		systemctl() {
			case $1,$2 in
			stop,*) ;;
			disable,--now) command systemctl disable "$3" ;;
			*) command systemctl "$@" ;;
			esac
		}
		journalctl() { :; }
		. ./recipe
		for unit in munge chrony slurm-vsphere-identity slurm-vsphere-slurmd; do
			[ "$(systemctl is-enabled $unit)" = enabled ]
		done
		[ "$(systemctl is-enabled slurmd)" = disabled ]
		[ -z "$(ldd /usr/sbin/slurm-vsphere-port | grep "not found")" ]
		systemd-analyze verify /usr/lib/systemd/system/slurm-vsphere-*.service
		[ "$(stat -c "%U %a" /etc/munge/munge.key)" = "munge 400" ]
		[ ! -s /etc/machine-id ]
		[ ! -e /etc/slurm/slurm.conf ]
		[ -z "$(find /etc -path "*/ssh/ssh_host_*")" ]'
}

packages_row() { # RELEASE SUITE
	local base builder root version suite=$2 debs=$results/$2-debs
	say "== packages for Slurm $1 of $2"
	package_roots "$2"
	one "$2: dpkg-buildpackage, with the unit tests" debs_built
	mkdir -p "$debs"
	cp "$builder$VS_IN_CHROOT"/slurm-vsphere*_*.deb "$debs/" 2>/dev/null || return 0
	rm -f "$debs"/*-dbgsym_*
	version=$(in_chroot "$builder" dpkg-query -W -f='${Version}' slurm-wlm-basic-plugins)
	case $version in
	"$1".*) ;;
	*) bad "the Slurm of $2 is $version, not $1" ;;
	esac
	one "$2: lintian has neither errors nor warnings" in_chroot "$builder" bash -euc \
		'cd "$1" && lintian --allow-root --fail-on error,warning ./*.changes' lintian "$VS_IN_CHROOT"
	one "$2: each file is in its package" packages_hold "$debs" '_*.deb'
	one "$2: the packages depend on Slurm $version alone" debs_depend_exactly "$version"
	one "$2: no package restarts anything" scripts_restart_nothing
	one "$2: dpkg refuses them beside another Slurm, in a line that helps" dpkg_refuses "$version"
	one "$2: apt installs them with their Slurm, and no slurmd" apt_installs
	one "$2: no plugin is bound at once" never_bound_now "$root/usr/lib"
	one "$2: the example of vsphere.conf is valid" in_chroot "$root" \
		svf conf /usr/share/doc/slurm-vsphere/examples/vsphere.conf
	one "$2: slurmctld opens the plugins" slurmctld_opens_it
	one "$2: the template's recipe makes a template" template_is_made "$debs"
	one "$2: an update of Slurm without ours is held back" update_is_held_back "$version"
}

part_packages() {
	local release suite kind tar
	say "== packages"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}" "${VS_PACKAGES_RPM[@]}" debootstrap
	need_root "making chroots"
	need_slurm_source
	configured main
	one "a release holds what git has" dist_is_whole
	one "a version is said alike everywhere" one_version
	one "rpmlint and the RPMs' dependencies" spec_is_right
	one "make distcheck" make -C "$VS_BUILD" -j "$(vs_jobs)" distcheck
	tar=$VS_BUILD/slurm-vsphere-$(sed -n 's/^VERSION = //p' "$VS_BUILD/Makefile").tar.xz
	[ ! -f "$tar" ] || one "the RPMs" packages_rpm "$tar"
	while read -r release suite kind; do
		[ "$kind" != given ] || continue
		if [ "$kind" = try ] && [ -z "${only_release:-}" ]; then
			say "packages: none for Slurm $release of $suite were built (--release $release does)"
			continue
		fi
		packages_row "$release" "$suite" </dev/null
	done < <(release_rows)
}
