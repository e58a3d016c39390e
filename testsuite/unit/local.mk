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
