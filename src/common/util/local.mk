# SPDX-License-Identifier: GPL-2.0-or-later
core_sources += \
	src/common/util/buf.c src/common/util/buf.h \
	src/common/util/crash.h \
	src/common/util/err.c src/common/util/err.h \
	src/common/util/hash.h \
	src/common/util/hostlist.c src/common/util/hostlist.h \
	src/common/util/json.c src/common/util/json.h \
	src/common/util/log.c src/common/util/log.h \
	src/common/util/mem.c src/common/util/mem.h \
	src/common/util/host.h src/common/util/nic.h src/common/util/name.c src/common/util/name.h \
	src/common/util/ipv4.c src/common/util/ipv4.h \
	src/common/util/seal.c src/common/util/seal.h \
	src/common/util/secret_file.c src/common/util/secret_file.h \
	src/common/util/time.c src/common/util/time.h \
	src/common/util/times.c src/common/util/times.h

# In no release: see crash.h.
if CRASH_POINTS
AM_CPPFLAGS += -DVS_CRASH_POINTS
core_sources += src/common/util/crash.c
noinst_PROGRAMS += testsuite/crash/points
testsuite_crash_points_SOURCES = testsuite/crash/points.c
testsuite_crash_points_LDADD = src/common/libvs_core.la -lpthread
endif
EXTRA_DIST += src/common/util/crash.c testsuite/crash/points.c
