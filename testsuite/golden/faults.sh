#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An instance of each fault type that govmomi knows, all members filled, flat and
# nested, through the vCenter client's decoder. As many must be decoded as were
# generated.
# Usage: faults.sh PATH-TO-vc_faults
set -eu
decoder=${1:?usage: faults.sh PATH-TO-vc_faults}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go=${VS_GO:-$(command -v go || echo /usr/local/go/bin/go)}
export GOFLAGS="-mod=readonly -buildvcs=false" GOWORK=off
cd "$here"
types=$("$go" list -f '{{.Dir}}' github.com/vmware/govmomi/vim25/types)
"$go" build -o "$work/golden" .
"$work/golden" -faults "$types" >"$work/faults" 2>"$work/said"
cat "$work/said"
generated=$(sed -n 's/^\([0-9]*\) fault types generated.*/\1/p' "$work/said")
"$decoder" <"$work/faults" >"$work/decoded" || { cat "$work/decoded"; exit 1; }
cat "$work/decoded"
decoded=$(sed -n 's/^\([0-9]*\) faults decoded.*/\1/p' "$work/decoded")
test "$decoded" = $((2 * generated))
