# SPDX-License-Identifier: GPL-2.0-or-later
# One program per subject: check_PROGRAMS += testsuite/unit/test_SUBJECT, with
# _SOURCES, _CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS), _LDADD = $(unit_ldadd).
unit_ldadd = src/common/libvs_core.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += testsuite/unit/test_json
testsuite_unit_test_json_SOURCES = testsuite/unit/test_json.c
testsuite_unit_test_json_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_json_LDADD = $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_util
testsuite_unit_test_util_SOURCES = testsuite/unit/test_util.c
testsuite_unit_test_util_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_util_LDADD = $(unit_ldadd)

# The engine on a fake vCenter, which stands in for the client at link time.
engine_stage = testsuite/unit/engine_stage.h testsuite/unit/fake_vc.c \
	testsuite/unit/fake_vc.h

check_PROGRAMS += testsuite/unit/test_engine
testsuite_unit_test_engine_SOURCES = testsuite/unit/test_engine.c $(engine_stage)
testsuite_unit_test_engine_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_LDADD = $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_faults
testsuite_unit_test_engine_faults_SOURCES = testsuite/unit/test_engine_faults.c \
	$(engine_stage)
testsuite_unit_test_engine_faults_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_faults_LDADD = $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_vc_spec
testsuite_unit_test_vc_spec_SOURCES = testsuite/unit/test_vc_spec.c
testsuite_unit_test_vc_spec_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_vc_spec_LDADD = $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_vc_fault testsuite/unit/test_vc_inv
testsuite_unit_test_vc_fault_SOURCES = testsuite/unit/test_vc_fault.c
testsuite_unit_test_vc_fault_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_vc_fault_LDADD = $(unit_ldadd)
testsuite_unit_test_vc_inv_SOURCES = testsuite/unit/test_vc_inv.c
testsuite_unit_test_vc_inv_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_vc_inv_LDADD = $(unit_ldadd)

# Not tests themselves: a driver for system/test_vcenter*.py, and the request
# bodies for golden/run.sh.
noinst_PROGRAMS += testsuite/unit/vc_live testsuite/unit/vc_bodies
testsuite_unit_vc_live_SOURCES = testsuite/unit/vc_live.c \
	testsuite/unit/vc_live_say.c testsuite/unit/vc_live.h
testsuite_unit_vc_live_LDADD = src/common/libvs_core.la -lpthread
testsuite_unit_vc_bodies_SOURCES = testsuite/unit/vc_bodies.c
testsuite_unit_vc_bodies_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/golden/go.mod testsuite/golden/go.sum \
	testsuite/golden/main.go testsuite/golden/run.sh
