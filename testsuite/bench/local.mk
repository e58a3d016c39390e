# SPDX-License-Identifier: GPL-2.0-or-later
# Measurements, built and run by contribs/bench.sh; never a part of the tests.
bench_programs = testsuite/bench/boundary testsuite/bench/locks testsuite/bench/place
testsuite_bench_locks_SOURCES = testsuite/bench/locks.c \
	testsuite/bench/locks_devices.h testsuite/bench/locks_vmotion.h \
	testsuite/bench/locks_world.h $(engine_stage) $(fake_vc)
testsuite_bench_locks_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/testsuite \
	-DMAX_VMS=6000 -DMAX_CALLS=60000
testsuite_bench_locks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_bench_locks_LDADD = $(unit_ldadd)

testsuite_bench_boundary_SOURCES = testsuite/bench/boundary.c \
	testsuite/bench/locks_devices.h testsuite/bench/locks_vmotion.h \
	testsuite/bench/locks_world.h $(engine_stage) $(fake_vc)
testsuite_bench_boundary_CPPFLAGS = $(testsuite_bench_locks_CPPFLAGS)
testsuite_bench_boundary_CFLAGS = $(testsuite_bench_locks_CFLAGS)
testsuite_bench_boundary_LDADD = $(unit_ldadd)

testsuite_bench_place_SOURCES = testsuite/bench/place.c \
	testsuite/bench/place.h testsuite/bench/place_quality.c \
	testsuite/bench/exact.c testsuite/bench/exact.h \
	testsuite/unit/plan_world.c testsuite/unit/plan_world.h \
	$(engine_stage) $(fake_vc)
testsuite_bench_place_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/testsuite \
	-DMAX_VMS=6000 -DMAX_CALLS=60000
testsuite_bench_place_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_bench_place_LDADD = $(unit_ldadd) -lm

if HAVE_SLURMFULL
bench_programs += testsuite/bench/submit
testsuite_bench_submit_SOURCES = testsuite/bench/submit.c
testsuite_bench_submit_CPPFLAGS = $(AM_CPPFLAGS) -I$(SLURM_SOURCE)
testsuite_bench_submit_LDADD = $(SLURMFULL_LIBS)
endif
EXTRA_PROGRAMS = $(bench_programs)

# They follow what they measure: the unit part builds them.
benches: $(bench_programs)
.PHONY: benches

EXTRA_DIST += testsuite/bench/boundary.sh
