# SPDX-License-Identifier: GPL-2.0-or-later
# Measurements, built and run by contribs/bench.sh; never a part of the tests.
EXTRA_PROGRAMS = testsuite/bench/locks
testsuite_bench_locks_SOURCES = testsuite/bench/locks.c $(engine_stage) \
	$(fake_vc)
testsuite_bench_locks_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/testsuite \
	-DMAX_VMS=6000 -DMAX_CALLS=60000
testsuite_bench_locks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_bench_locks_LDADD = $(unit_ldadd)
