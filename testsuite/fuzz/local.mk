# SPDX-License-Identifier: GPL-2.0-or-later

# Each target is a test of the normal run (corpus and fixed mutations); for
# libFuzzer: clang -fsanitize=fuzzer,address without VS_FUZZ_STANDALONE.
check_PROGRAMS += testsuite/fuzz/test_fuzz_vc
testsuite_fuzz_test_fuzz_vc_SOURCES = testsuite/fuzz/fuzz_vc.c \
	testsuite/fuzz/fuzz_main.h
testsuite_fuzz_test_fuzz_vc_CPPFLAGS = $(AM_CPPFLAGS) -DVS_FUZZ_STANDALONE
testsuite_fuzz_test_fuzz_vc_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/vc

check_PROGRAMS += testsuite/fuzz/test_fuzz_plan
testsuite_fuzz_test_fuzz_plan_SOURCES = testsuite/fuzz/fuzz_plan.c \
	testsuite/fuzz/fuzz_main.h testsuite/fuzz/plan_model.c \
	testsuite/fuzz/plan_model.h testsuite/fuzz/plan_run.h \
	testsuite/fuzz/plan_steps.c
testsuite_fuzz_test_fuzz_plan_CPPFLAGS = $(AM_CPPFLAGS) -DVS_FUZZ_STANDALONE
testsuite_fuzz_test_fuzz_plan_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/plan

check_PROGRAMS += testsuite/fuzz/test_fuzz_control
testsuite_fuzz_test_fuzz_control_SOURCES = testsuite/fuzz/fuzz_control.c \
	testsuite/fuzz/fuzz_main.h
testsuite_fuzz_test_fuzz_control_CPPFLAGS = $(AM_CPPFLAGS) -DVS_FUZZ_STANDALONE
testsuite_fuzz_test_fuzz_control_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/control

check_PROGRAMS += testsuite/fuzz/test_fuzz_hints
testsuite_fuzz_test_fuzz_hints_SOURCES = testsuite/fuzz/fuzz_hints.c \
	testsuite/fuzz/fuzz_main.h
testsuite_fuzz_test_fuzz_hints_CPPFLAGS = $(AM_CPPFLAGS) -DVS_FUZZ_STANDALONE
testsuite_fuzz_test_fuzz_hints_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/hints
