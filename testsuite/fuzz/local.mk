# SPDX-License-Identifier: GPL-2.0-or-later

# Each target is a test of the normal run (corpus and fixed mutations), and
# with --enable-fuzzing a libFuzzer (contribs/check.sh fuzz).
fuzz_programs = testsuite/fuzz/test_fuzz_vc \
	testsuite/fuzz/test_fuzz_plan \
	testsuite/fuzz/test_fuzz_control \
	testsuite/fuzz/test_fuzz_state_file \
	testsuite/fuzz/test_fuzz_client \
	testsuite/fuzz/test_fuzz_states \
	testsuite/fuzz/test_fuzz_svf \
	testsuite/fuzz/test_fuzz_sbatch \
	testsuite/fuzz/test_fuzz_conf \
	testsuite/fuzz/test_fuzz_names \
	testsuite/fuzz/test_fuzz_files \
	testsuite/fuzz/test_fuzz_submit \
	testsuite/fuzz/test_fuzz_guest \
	testsuite/fuzz/test_fuzz_port \
	testsuite/fuzz/test_fuzz_metrics
check_PROGRAMS += $(fuzz_programs)

if FUZZING
fuzz_cppflags = $(AM_CPPFLAGS)
fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer
else
fuzz_cppflags = $(AM_CPPFLAGS) -DVS_FUZZ_STANDALONE
fuzz_ldflags = $(AM_LDFLAGS)
endif
EXTRA_DIST += testsuite/fuzz/vc.dict
fuzz-targets: $(fuzz_programs)
.PHONY: fuzz-targets

testsuite_fuzz_test_fuzz_vc_SOURCES = testsuite/fuzz/fuzz_vc.c \
	testsuite/fuzz/fuzz_main.h
testsuite_fuzz_test_fuzz_vc_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_test_fuzz_vc_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_test_fuzz_vc_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/vc

testsuite_fuzz_test_fuzz_plan_SOURCES = testsuite/fuzz/fuzz_plan.c \
	testsuite/fuzz/fuzz_main.h testsuite/fuzz/plan_model.c \
	testsuite/fuzz/plan_model.h testsuite/fuzz/plan_run.h \
	testsuite/fuzz/plan_steps.c
testsuite_fuzz_test_fuzz_plan_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_test_fuzz_plan_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_test_fuzz_plan_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/plan

testsuite_fuzz_test_fuzz_control_SOURCES = testsuite/fuzz/fuzz_control.c \
	testsuite/fuzz/fuzz_main.h
testsuite_fuzz_test_fuzz_control_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_test_fuzz_control_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_test_fuzz_control_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/control

testsuite_fuzz_test_fuzz_state_file_SOURCES = testsuite/fuzz/fuzz_state_file.c \
	testsuite/fuzz/fuzz_main.h
testsuite_fuzz_test_fuzz_state_file_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_test_fuzz_state_file_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_test_fuzz_state_file_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/state_file

testsuite_fuzz_test_fuzz_client_SOURCES = testsuite/fuzz/fuzz_client.c \
	testsuite/fuzz/fake_curl.h testsuite/fuzz/fuzz_main.h
testsuite_fuzz_test_fuzz_client_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_test_fuzz_client_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_test_fuzz_client_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/client

testsuite_fuzz_test_fuzz_states_SOURCES = testsuite/fuzz/fuzz_states.c \
	testsuite/fuzz/fake_curl.h testsuite/fuzz/fuzz_main.h \
	testsuite/fuzz/scripted_vc.h
testsuite_fuzz_test_fuzz_states_CPPFLAGS = $(fuzz_cppflags) \
	-DVS_SESSION=\"$(abs_top_srcdir)/testsuite/fuzz/corpus/client/session\"
testsuite_fuzz_test_fuzz_states_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_test_fuzz_states_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/states

# svf's own objects, but for ask.c: the target answers instead.
fuzz_svf = src/svf/list/filter.c src/svf/list/near.c src/svf/list/notes.c \
	src/svf/list/show.c src/svf/list/table.c \
	src/svf/list/view.c \
	src/svf/map/map.c src/svf/map/svg.c src/svf/map/xml.c \
	src/svf/rpc/clean.c src/svf/rpc/usage_error.c src/svf/top/ask.c src/svf/top/cells.c \
	src/svf/top/draw.c src/svf/top/hosts.c src/svf/top/line.c \
	src/svf/top/model.c src/svf/top/search.c src/svf/top/side.c \
	src/svf/verbs/host.c src/svf/verbs/hosts.c src/svf/verbs/jobs.c \
	src/svf/verbs/nodes.c src/svf/verbs/pause.c src/svf/verbs/reconcile.c \
	src/svf/verbs/status.c src/svf/verbs/vm.c src/svf/verbs/when.c \
	src/svf/verbs/why.c

testsuite_fuzz_test_fuzz_svf_SOURCES = testsuite/fuzz/fuzz_svf.c \
	testsuite/fuzz/fuzz_main.h $(fuzz_svf)
testsuite_fuzz_test_fuzz_svf_CPPFLAGS = $(fuzz_cppflags) -I$(top_srcdir)/src
testsuite_fuzz_test_fuzz_svf_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_test_fuzz_svf_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/svf

testsuite_fuzz_test_fuzz_sbatch_SOURCES = testsuite/fuzz/fuzz_sbatch.c \
	testsuite/fuzz/fuzz_main.h src/svf/verbs/sbatch.c src/svf/verbs/sbatch.h
testsuite_fuzz_test_fuzz_sbatch_CPPFLAGS = $(fuzz_cppflags) -I$(top_srcdir)/src
testsuite_fuzz_test_fuzz_sbatch_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_test_fuzz_sbatch_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/sbatch

testsuite_fuzz_test_fuzz_conf_SOURCES = testsuite/fuzz/fuzz_conf.c \
	testsuite/fuzz/fuzz_main.h \
	src/svf/rpc/where.c
testsuite_fuzz_test_fuzz_conf_CPPFLAGS = $(fuzz_cppflags) -I$(top_srcdir)/src
testsuite_fuzz_test_fuzz_conf_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_test_fuzz_conf_LDADD = src/plugins/libvs_conf.la \
	src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/conf

testsuite_fuzz_test_fuzz_names_SOURCES = testsuite/fuzz/fuzz_names.c \
	testsuite/fuzz/fuzz_main.h
testsuite_fuzz_test_fuzz_names_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_test_fuzz_names_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_test_fuzz_names_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/names

testsuite_fuzz_test_fuzz_files_SOURCES = testsuite/fuzz/fuzz_files.c \
	testsuite/fuzz/fuzz_main.h \
	src/plugins/job_assignment.c src/plugins/guest_files.c \
	src/plugins/prep/vsphere/device_check.c
testsuite_fuzz_test_fuzz_files_CPPFLAGS = $(fuzz_cppflags) -I$(top_srcdir)/src
testsuite_fuzz_test_fuzz_files_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_test_fuzz_files_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/files

testsuite_fuzz_test_fuzz_guest_SOURCES = testsuite/fuzz/fuzz_guest.c \
	testsuite/fuzz/fuzz_main.h $(engine_stage)
testsuite_fuzz_test_fuzz_guest_CPPFLAGS = $(fuzz_cppflags) -I$(top_srcdir)/testsuite/unit
testsuite_fuzz_test_fuzz_guest_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_fuzz_test_fuzz_guest_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_test_fuzz_guest_LDADD = $(engine_ldadd)
EXTRA_DIST += testsuite/fuzz/corpus/guest

testsuite_fuzz_test_fuzz_port_SOURCES = testsuite/fuzz/fuzz_port.c \
	testsuite/fuzz/fuzz_main.h \
	contribs/guest/port.h contribs/guest/port_judge.c
testsuite_fuzz_test_fuzz_port_CPPFLAGS = $(fuzz_cppflags) -I$(top_srcdir)
testsuite_fuzz_test_fuzz_port_CFLAGS = $(AM_CFLAGS) $(IBVERBS_CFLAGS)
testsuite_fuzz_test_fuzz_port_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_test_fuzz_port_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/port

testsuite_fuzz_test_fuzz_submit_SOURCES = testsuite/fuzz/fuzz_submit.c \
	testsuite/fuzz/fuzz_main.h src/plugins/job_submit/vsphere/constraint_names.c
testsuite_fuzz_test_fuzz_submit_CPPFLAGS = $(fuzz_cppflags) -I$(top_srcdir)/src
testsuite_fuzz_test_fuzz_submit_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_test_fuzz_submit_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/submit

testsuite_fuzz_test_fuzz_metrics_SOURCES = testsuite/fuzz/fuzz_metrics.c \
	testsuite/fuzz/fuzz_main.h
testsuite_fuzz_test_fuzz_metrics_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_test_fuzz_metrics_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_test_fuzz_metrics_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/fuzz/corpus/metrics
