# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's sanitize: the unit tests with ASan and UBSan, and with TSan.
# shellcheck disable=SC2154,SC2034 # the caller's

# A sanitizer's shadow lies at fixed addresses: on kernels that randomise by more
# bits than it knows of (vm.mmap_rnd_bits=32) some programs don't start.
part_sanitize() {
	local launch=() other
	if setarch -R true 2>/dev/null; then launch=(setarch -R); fi
	say "== unit tests with ASan and UBSan"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}"
	need_slurm_source
	configured sanitize "${sanitize_options[@]}"
	# configure has one thread: the second runs beside the first build.
	(configured tsan "${tsan_options[@]}") &
	other=$!
	ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1 \
		run_unit_programs "$VS_BUILD" "sanitize: " sanitize
	say "== unit tests with TSan"
	wait "$other" || exit 1
	configured tsan "${tsan_options[@]}"
	# What json-c, libmunge and cmocka do is not seen; the fuzz targets have
	# one thread, and the engine's model has: few of its worlds will do.
	VS_WORLDS=60 TSAN_OPTIONS=exitcode=66:ignore_noninstrumented_modules=1 \
		run_unit_programs "$VS_BUILD" "tsan: " "sanitize with TSan" unit
}
