#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# space.sh COMMAND...: runs COMMAND where guests can be: in a network of its own with
# two bridges, brm for management (10.77.0.1/24) and brr for RDMA, in mounts and
# processes of its own. Nothing in it can be reached from outside. Needs no root where
# the kernel lets users make namespaces. All ends with COMMAND, and with who runs this.
set -eu
user=
[ "$(id -u)" = 0 ] || user="--user --map-current-user --keep-caps"
# shellcheck disable=SC2086 # words
exec setpriv --pdeathsig KILL unshare $user --net --mount --pid --fork --kill-child=KILL \
	--mount-proc sh -euc '
ip link set lo up
ip link add brm type bridge
ip address add 10.77.0.1/24 dev brm
ip link set brm up
ip link add brr type bridge
ip link set brr mtu 9000 up
mount -t tmpfs none /run
mkdir /run/munge
exec "$@"' sh "$@"
