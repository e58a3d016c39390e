# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check.sh's oldest: the unit tests with the oldest compiler and libraries that
# configure.ac takes, which are RHEL 9's: gcc 11, json-c 0.14, curl 7.76. No
# Debian has these libraries any more: they are built from the sources in
# --libraries DIR, DIR/json-c and DIR/curl.
# shellcheck disable=SC2154,SC2034 # the caller's

oldest_packages=(gcc-11 cmake libssl-dev zlib1g-dev)
oldest_versions=("json-c 0.14" "libcurl 7.76")

oldest_json_c() { # SOURCE PREFIX
	cmake -S "$1" -B "$2.json-c" -DCMAKE_INSTALL_PREFIX="$2" -DCMAKE_INSTALL_LIBDIR=lib \
		-DCMAKE_C_COMPILER=gcc-11 -DBUILD_TESTING=OFF -DDISABLE_WERROR=ON &&
		make -C "$2.json-c" -j "$(vs_jobs)" install
}

# Below the prefix, in a copy: autoreconf writes into the source.
oldest_curl() { # SOURCE PREFIX
	cp -a "$1" "$2.curl" && cd "$2.curl" || return 1
	[ -x configure ] || autoreconf -fi || return 1
	./configure CC=gcc-11 --prefix="$2" --with-openssl --disable-ldap --disable-manual \
		--without-{brotli,zstd,nghttp2,libidn2,librtmp,libssh2,libpsl} &&
		make -j "$(vs_jobs)" install
}

# Sets oldest_prefix; builds once for each pair of sources.
oldest_libraries() {
	local want has name
	for name in json-c/json_object.c curl/configure.ac; do
		[ -e "$libraries_given/$name" ] ||
			die "oldest: $libraries_given/$name is missing: unpack the sources of ${oldest_versions[*]} as DIR/json-c and DIR/curl"
	done
	oldest_prefix=$VS_CACHE/oldest/$(cat "$libraries_given"/json-c/json_c_version.h \
		"$libraries_given"/curl/include/curl/curlver.h | sha256sum | cut -c 1-16)
	export PKG_CONFIG_PATH=$oldest_prefix/lib/pkgconfig
	if [ ! -e "$oldest_prefix/built" ]; then
		rm -rf "$VS_CACHE/oldest"
		mkdir -p "$oldest_prefix"
		run_logged "$VS_CACHE/log/oldest-json-c.log" "building json-c" \
			oldest_json_c "$libraries_given/json-c" "$oldest_prefix"
		run_logged "$VS_CACHE/log/oldest-curl.log" "building curl" \
			oldest_curl "$libraries_given/curl" "$oldest_prefix"
		: >"$oldest_prefix/built"
	fi
	for want in "${oldest_versions[@]}"; do
		has=$(pkg-config --modversion "${want% *}")
		[[ $has == "${want#* }"* ]] ||
			die "oldest: $libraries_given holds ${want% *} $has, not ${want#* }"
	done
}

# A program that runs with another library than it was built with shows nothing.
oldest_is_linked() {
	local linked
	linked=$(find "$VS_BUILD/testsuite/unit" -maxdepth 1 -type f -name 'test_*' -perm -u+x \
		-exec ldd {} + | grep -E '(libjson-c|libcurl)\.so')
	if [ -z "$linked" ] || grep -vF "=> $oldest_prefix/lib/" <<<"$linked"; then
		bad "oldest: the programs run with other libraries than $oldest_prefix/lib's"
	fi
}

part_oldest() {
	local oldest_prefix
	say "== unit tests with gcc 11 and ${oldest_versions[*]}"
	[ -n "$libraries_given" ] || die "oldest needs --libraries DIR"
	need_packages "${VS_PACKAGES_BUILD[@]}" "${VS_PACKAGES_RUN[@]}" "${oldest_packages[@]}"
	need_slurm_source
	oldest_libraries
	configured oldest CC=gcc-11 PKG_CONFIG_PATH="$PKG_CONFIG_PATH" \
		LDFLAGS="-Wl,-rpath,$oldest_prefix/lib"
	run_unit_programs "$VS_BUILD" "oldest: " oldest
	oldest_is_linked
}
