#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# boundary.sh: the figures of doc/dev/process-boundary.md. Builds the core with
# -finstrument-functions beside the other builds (2 min), and runs boundary.py.
# shellcheck source=testsuite/lib/setup.sh
. "$(dirname "$0")/../lib/setup.sh"
lock_cache
need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}"
need_slurm_source
configured boundary \
	CFLAGS="-g -O1 -finstrument-functions -finstrument-functions-exclude-file-list=.h"
run_logged "$VS_CACHE/log/make-boundary.log" "building testsuite/bench/boundary" \
	make -C "$VS_BUILD" -j "$(vs_jobs)" testsuite/bench/boundary
unlock_cache
exec /usr/bin/python3 "$VS_TOP/testsuite/bench/boundary.py" "$VS_BUILD"
