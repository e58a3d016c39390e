#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The vCenter client's request bodies, decoded by govmomi's own types.
# Usage: run.sh PATH-TO-vc_bodies [WORKDIR]
set -eu
bodies=${1:?usage: run.sh PATH-TO-vc_bodies [WORKDIR]}
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -gt 1 ]; then
	work=$2
	mkdir -p "$work"
else
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
fi
go=${VS_GO:-$(command -v go || echo /usr/local/go/bin/go)}
(cd "$here" && GOFLAGS="-mod=readonly -buildvcs=false" GOWORK=off "$go" build -o "$work/golden" .)
"$bodies" >"$work/bodies"
"$work/golden" <"$work/bodies"
