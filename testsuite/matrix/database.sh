# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# This machine's MariaDB in a chroot. Sourced after chroot.sh.

# This machine's MariaDB, as its package mariadb-server-core has it (since 11: in
# share/mariadb).
VS_MARIADB=/usr/sbin/mariadbd
VS_MARIADB_SHARE="/usr/share/mysql /usr/share/mariadb"

# This machine's MariaDB for the accounting tests of a chroot, with the libraries
# and tables that belong to it: slurmdbd 24.11 refuses that of its own Debian 13
# ("_check_mysql_concat_is_sane") whenever a first connection to it has failed.
database_into() { # DIR
	local to=$1/usr/local/lib/slurm-vsphere-mariadb libs share
	need_packages mariadb-server-core
	libs=$(ldd "$VS_MARIADB" | grep -o '/[^ ]*')
	as_root rm -rf "$to" "$1/usr/local/share/mysql"
	as_root mkdir -p "$to" "$1/usr/local/sbin" "$1/usr/local/share/mysql"
	for share in $VS_MARIADB_SHARE; do
		[ ! -d "$share" ] || as_root cp -rL "$share/." "$1/usr/local/share/mysql/"
	done
	# shellcheck disable=SC2086 # paths of libraries
	as_root cp -L "$VS_MARIADB" $libs "$to/"
	as_root tee "$1/usr/local/sbin/mariadbd" >/dev/null <<-'EOT'
	#!/bin/sh
	# Made by testsuite/matrix/database.sh: the MariaDB of the machine outside.
	here=${0%/sbin/*}
	lib=$here/lib/slurm-vsphere-mariadb
	for loader in "$lib"/ld-*.so*; do
		exec "$loader" --library-path "$lib" "$lib/mariadbd" "$@" \
			--lc-messages-dir="$here/share/mysql" \
			--character-sets-dir="$here/share/mysql/charsets"
	done
	EOT
	as_root chmod 755 "$1/usr/local/sbin/mariadbd"
}
