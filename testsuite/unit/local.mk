# SPDX-License-Identifier: GPL-2.0-or-later
# One program per subject. Automake's defaults serve most of them: test_SUBJECT
# is made of test_SUBJECT.c, with AM_CPPFLAGS and AM_CFLAGS, and linked with
# LDADD; so their name in a list is enough. LDADD is that of every program
# that has none of its own.
unit_ldadd = src/common/libvs_core.la $(CMOCKA_LIBS) -lpthread
LDADD = testsuite/unit/libstage.la $(unit_ldadd) $(MUNGE_LIBS)

# What several of them share; of it they link what they call.
check_LTLIBRARIES += testsuite/unit/libstage.la
testsuite_unit_libstage_la_SOURCES = testsuite/unit/plan_world.c \
	testsuite/unit/control_stage.c testsuite/unit/svf_stage.c
EXTRA_DIST += testsuite/unit/check_stage.h testsuite/unit/cmocka_range.h \
	testsuite/unit/control_stage.h \
	testsuite/unit/engine_stage.h testsuite/unit/guest_stage.h \
	testsuite/unit/node_state.h \
	testsuite/unit/inv_stage.h testsuite/unit/clone_source_stage.h \
	testsuite/unit/plan_stage.h \
	testsuite/unit/plan_world.h testsuite/unit/prefetch_stage.h \
	testsuite/unit/scratch.h \
	testsuite/unit/svf_stage.h testsuite/unit/vc_spec_stage.h \
	testsuite/unit/vmotion_stage.h

# util, plan, vcenter, the control channel; and svf, whose tests run
# src/svf/svf, which `make check` has built by then.
check_PROGRAMS += testsuite/unit/test_adapter testsuite/unit/test_nics \
	testsuite/unit/test_check testsuite/unit/test_check_capacity \
	testsuite/unit/test_check_site \
	testsuite/unit/test_control testsuite/unit/test_devices \
	testsuite/unit/test_shared \
	testsuite/unit/test_gains \
	testsuite/unit/test_gang testsuite/unit/test_hostlist \
	testsuite/unit/test_inventory testsuite/unit/test_ipv4 \
	testsuite/unit/test_json testsuite/unit/test_ledger \
	testsuite/unit/test_level testsuite/unit/test_metrics \
	testsuite/unit/test_name \
	testsuite/unit/test_numa testsuite/unit/test_place \
	testsuite/unit/test_place_clone_source \
	testsuite/unit/test_policy testsuite/unit/test_pool \
	testsuite/unit/test_profile testsuite/unit/test_rails \
	testsuite/unit/test_place_capacity testsuite/unit/test_seal \
	testsuite/unit/test_share \
	testsuite/unit/test_step testsuite/unit/test_stores \
	testsuite/unit/test_svf testsuite/unit/test_svf_adapters \
	testsuite/unit/test_svf_check testsuite/unit/test_svf_filter \
	testsuite/unit/test_svf_complete \
	testsuite/unit/test_svf_view testsuite/unit/test_svf_where \
	testsuite/unit/test_timeline testsuite/unit/test_util \
	testsuite/unit/test_vc_barred testsuite/unit/test_vc_capacity \
	testsuite/unit/test_vc_certificate testsuite/unit/test_vc_cluster \
	testsuite/unit/test_vc_facts testsuite/unit/test_vc_fault \
	testsuite/unit/test_vc_spec_instant \
	testsuite/unit/test_vc_inv testsuite/unit/test_vc_spec \
	testsuite/unit/test_vc_states \
	testsuite/unit/test_vc_stats testsuite/unit/test_vc_task \
	testsuite/unit/test_vc_template testsuite/unit/test_vc_unread \
	testsuite/unit/test_vc_where

testsuite_unit_test_vc_states_SOURCES = testsuite/unit/test_vc_states.c \
	testsuite/fuzz/fake_curl.h testsuite/fuzz/scripted_vc.h

# The engine on a fake vCenter, which stands in for the client at link time:
# before the core, and compiled once.
check_LTLIBRARIES += testsuite/unit/libfake_vc.la
engine_stage = testsuite/unit/engine_stage.h testsuite/unit/node_state.h \
	testsuite/unit/core_access.h testsuite/unit/fake_vc.h
fake_vc = testsuite/unit/fake_vc.c testsuite/unit/fake_vc_beat.c \
	testsuite/unit/fake_vc_nics.c testsuite/unit/fake_vc_late.c \
	testsuite/unit/fake_vc_clone_sources.c testsuite/unit/fake_vc_trace.c \
	testsuite/unit/core_access.h testsuite/unit/fake_vc.h \
	testsuite/unit/fake_vc_i.h
testsuite_unit_libfake_vc_la_SOURCES = $(fake_vc)
engine_ldadd = testsuite/unit/libfake_vc.la $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_engine testsuite/unit/test_engine_all \
	testsuite/unit/test_engine_shared_node \
	testsuite/unit/test_engine_boot testsuite/unit/test_engine_removal_limit \
	testsuite/unit/test_engine_calls testsuite/unit/test_engine_poll \
	testsuite/unit/test_engine_check testsuite/unit/test_engine_clones \
	testsuite/unit/test_engine_clone_way \
	testsuite/unit/test_engine_doubt testsuite/unit/test_engine_drift \
	testsuite/unit/test_engine_directpath \
	testsuite/unit/test_engine_capability testsuite/unit/test_engine_leave \
	testsuite/unit/test_engine_vmotion \
	testsuite/unit/test_engine_asleep testsuite/unit/test_engine_claims \
	testsuite/unit/test_engine_conditions \
	testsuite/unit/test_engine_vmotion_mishaps testsuite/unit/test_engine_vmotion_to \
	testsuite/unit/test_engine_drs testsuite/unit/test_engine_fail \
	testsuite/unit/test_engine_faults testsuite/unit/test_engine_gone \
	testsuite/unit/test_engine_guest \
	testsuite/unit/test_engine_health testsuite/unit/test_engine_host \
	testsuite/unit/test_engine_jobs testsuite/unit/test_engine_limits \
	testsuite/unit/test_engine_pause \
	testsuite/unit/test_engine_metrics \
	testsuite/unit/test_engine_foreign \
	testsuite/unit/test_engine_missing testsuite/unit/test_engine_noclient \
	testsuite/unit/test_engine_instant \
	testsuite/unit/test_engine_vm_actions testsuite/unit/test_engine_outbox \
	testsuite/unit/test_engine_clone_source \
	testsuite/unit/test_engine_clone_source_blocked \
	testsuite/unit/test_engine_clone_source_end \
	testsuite/unit/test_engine_clone_source_plan \
	testsuite/unit/test_engine_plan \
	testsuite/unit/test_engine_prefetch \
	testsuite/unit/test_engine_prefetch_end \
	testsuite/unit/test_engine_prefetch_capacity \
	testsuite/unit/test_engine_hardware \
	testsuite/unit/test_engine_preflight testsuite/unit/test_engine_rails \
	testsuite/unit/test_engine_reclaim \
	testsuite/unit/test_engine_reconcile testsuite/unit/test_engine_report \
	testsuite/unit/test_engine_restart testsuite/unit/test_engine_capacity \
	testsuite/unit/test_engine_spec testsuite/unit/test_engine_tasks testsuite/unit/test_engine_stores \
	testsuite/unit/test_engine_submit testsuite/unit/test_engine_template \
	testsuite/unit/test_engine_template_host \
	testsuite/unit/test_engine_leadership testsuite/unit/test_engine_victims \
	testsuite/unit/test_engine_forecast testsuite/unit/test_engine_window \
	testsuite/unit/test_engine_pending_text
testsuite_unit_test_engine_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_all_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_foreign_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_shared_node_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_boot_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_removal_limit_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_calls_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_poll_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_check_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_clones_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_clone_way_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_doubt_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_drift_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_capability_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_directpath_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_leave_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_drs_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_vmotion_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_vmotion_mishaps_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_vmotion_to_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_asleep_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_conditions_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_fail_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_faults_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_gone_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_guest_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_health_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_host_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_jobs_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_limits_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_pause_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_metrics_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_missing_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_noclient_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_vm_actions_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_clone_source_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_clone_source_blocked_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_clone_source_end_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_clone_source_plan_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_instant_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_lent
testsuite_unit_test_engine_lent_SOURCES = testsuite/unit/test_engine_lent.c \
	$(engine_stage) $(fake_vc)
testsuite_unit_test_engine_lent_CPPFLAGS = $(AM_CPPFLAGS) -DMAX_VMS=512 \
	-DMAX_CALLS=1024
testsuite_unit_test_engine_lent_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_lent_LDADD = $(unit_ldadd) -lpthread
testsuite_unit_test_engine_plan_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_prefetch_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_prefetch_end_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_prefetch_capacity_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_preflight_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_hardware_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_rails_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_reclaim_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_claims_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_tasks_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_outbox_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_reconcile_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_report_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_restart_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_capacity_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_spec_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_stores_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_submit_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_template_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_template_host_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_leadership_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_victims_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_forecast_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_window_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_pending_text_LDADD = $(engine_ldadd)

# Larger arrays than the others': a fake of their own.
check_PROGRAMS += testsuite/unit/test_engine_breaker \
	testsuite/unit/test_engine_model
testsuite_unit_test_engine_breaker_SOURCES = \
	testsuite/unit/test_engine_breaker.c $(fake_vc)
testsuite_unit_test_engine_breaker_CFLAGS = $(AM_CFLAGS) -DMAX_VMS=64 \
	-DMAX_CALLS=2048
testsuite_unit_test_engine_model_SOURCES = testsuite/unit/test_engine_model.c \
	testsuite/unit/model.c testsuite/unit/model_life.c testsuite/unit/model_rows.c \
	testsuite/unit/model.h $(fake_vc)
testsuite_unit_test_engine_model_CFLAGS = $(AM_CFLAGS) -DMAX_VMS=64 \
	-DMAX_CALLS=4096

# Not tests themselves: a driver for system/test_vcenter*.py, the request bodies
# for golden/run.sh, and the decoder of golden/faults.sh.
noinst_PROGRAMS += testsuite/unit/vc_live testsuite/unit/vc_bodies \
	testsuite/unit/vc_faults
testsuite_unit_vc_live_SOURCES = testsuite/unit/vc_live.c \
	testsuite/unit/vc_live_say.c testsuite/unit/vc_live.h
testsuite_unit_vc_live_LDADD = src/common/libvs_core.la -lpthread
testsuite_unit_vc_bodies_LDADD = src/common/libvs_core.la -lpthread
testsuite_unit_vc_faults_LDADD = src/common/libvs_core.la -lpthread
EXTRA_DIST += testsuite/golden/go.mod testsuite/golden/go.sum \
	testsuite/golden/main.go testsuite/golden/run.sh \
	testsuite/golden/faults.go testsuite/golden/faults.sh \
	testsuite/mutation/accepted.txt testsuite/mutation/changes.py \
	testsuite/mutation/mutate.py testsuite/mutation/vs_mutation.h \
	testsuite/unit/run.sh

# Files of the plugins, of svf and of the guest's program, as they are.
check_PROGRAMS += testsuite/unit/test_device testsuite/unit/test_assignment \
	testsuite/unit/test_port testsuite/unit/test_scrub \
	testsuite/unit/test_svf_plan testsuite/unit/test_svf_top \
	testsuite/unit/test_svf_top_screen \
	testsuite/unit/test_svf_when testsuite/unit/test_svf_scrub
testsuite_unit_test_device_SOURCES = testsuite/unit/test_device.c \
	src/plugins/guest_files.c src/plugins/prep/vsphere/device_check.c \
	src/plugins/prep/vsphere/check_process.c
testsuite_unit_test_device_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/src
testsuite_unit_test_scrub_SOURCES = testsuite/unit/test_scrub.c \
	contribs/probe/scrub.c
testsuite_unit_test_scrub_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/contribs/probe
testsuite_unit_test_assignment_SOURCES = testsuite/unit/test_assignment.c src/plugins/job_assignment.c \
	src/plugins/guest_files.c src/plugins/spank/task_env.c
testsuite_unit_test_assignment_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_port_SOURCES = testsuite/unit/test_port.c \
	contribs/guest/port.h contribs/guest/port_judge.c
testsuite_unit_test_port_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
testsuite_unit_test_port_CFLAGS = $(AM_CFLAGS) $(IBVERBS_CFLAGS)
testsuite_unit_test_svf_plan_SOURCES = testsuite/unit/test_svf_plan.c \
	src/svf/verbs/sbatch.c
testsuite_unit_test_svf_plan_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src
svf_top = src/svf/map/xml.c src/svf/list/notes.c src/svf/list/table.c \
	src/svf/rpc/clean.c \
	src/svf/top/cells.c \
	src/svf/top/draw.c src/svf/top/hosts.c src/svf/top/line.c \
	src/svf/top/model.c src/svf/top/search.c src/svf/top/side.c \
	src/svf/list/view.c testsuite/unit/top_stage.h
testsuite_unit_test_svf_top_SOURCES = testsuite/unit/test_svf_top.c $(svf_top)
testsuite_unit_test_svf_top_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src
testsuite_unit_test_svf_top_screen_SOURCES = \
	testsuite/unit/test_svf_top_screen.c $(svf_top)
testsuite_unit_test_svf_top_screen_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/src
testsuite_unit_test_svf_scrub_SOURCES = testsuite/unit/test_svf_scrub.c \
	src/svf/local/scrub.c src/svf/local/scrub.h
testsuite_unit_test_svf_scrub_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src
testsuite_unit_test_svf_when_SOURCES = testsuite/unit/test_svf_when.c \
	src/svf/verbs/when.c
testsuite_unit_test_svf_when_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src

# The plugins' own parts, with the records and parsers of the real libslurmfull.
if HAVE_SLURMFULL
slurm_unit_ldadd = src/plugins/libvs_conf.la $(unit_ldadd) $(SLURMFULL_LIBS)
conf_stage = testsuite/unit/conf_stage.c testsuite/unit/conf_stage.h \
	src/plugins/slurm/conf_check.c src/plugins/conf/nodes.c \
	src/plugins/conf/load.c
select_stage = testsuite/unit/select_stage.c testsuite/unit/select_stage.h \
	src/plugins/select/cons_tres_vsphere/static_capacity.c \
	src/plugins/select/cons_tres_vsphere/job_test.c \
	src/plugins/select/cons_tres_vsphere/candidates.c \
	src/plugins/select/cons_tres_vsphere/preemption.c \
	src/plugins/select/cons_tres_vsphere/pending_reason.c \
	src/plugins/select/cons_tres_vsphere/trim_answer.c \
	src/plugins/select/cons_tres_vsphere/node_weights.c \
	src/plugins/select/cons_tres_vsphere/start_time.c \
	src/plugins/select/cons_tres_vsphere/stock.c \
	src/plugins/job_assignment.c src/plugins/job_env.c \
	src/plugins/slurm/call_timing.c
check_PROGRAMS += testsuite/unit/test_account \
	testsuite/unit/test_account_grows \
	testsuite/unit/test_account_random \
	testsuite/unit/test_bits testsuite/unit/test_conf \
	testsuite/unit/test_conf_adapter testsuite/unit/test_conf_hardware \
	testsuite/unit/test_conf_nodes \
	testsuite/unit/test_job_env testsuite/unit/test_job_nodes \
	testsuite/unit/test_job_test \
	testsuite/unit/test_job_start_time testsuite/unit/test_preempt \
	testsuite/unit/test_prep testsuite/unit/test_submit \
	testsuite/unit/test_repair testsuite/unit/test_widen \
	testsuite/unit/test_written
testsuite_unit_test_account_SOURCES = testsuite/unit/test_account.c \
	testsuite/unit/account_stage.h \
	src/plugins/select/cons_tres_vsphere/vf_accounting.c
testsuite_unit_test_account_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_account_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_account_grows_SOURCES = testsuite/unit/test_account_grows.c \
	testsuite/unit/account_stage.h \
	src/plugins/select/cons_tres_vsphere/vf_accounting.c
testsuite_unit_test_account_grows_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_account_grows_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_account_random_SOURCES = \
	testsuite/unit/test_account_random.c testsuite/unit/account_stage.h \
	src/plugins/select/cons_tres_vsphere/vf_accounting.c
testsuite_unit_test_account_random_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_account_random_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_bits_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_bits_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_conf_SOURCES = testsuite/unit/test_conf.c $(conf_stage)
testsuite_unit_test_conf_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_conf_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_conf_adapter_SOURCES = \
	testsuite/unit/test_conf_adapter.c $(conf_stage)
testsuite_unit_test_conf_adapter_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_conf_adapter_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_conf_hardware_SOURCES = \
	testsuite/unit/test_conf_hardware.c $(conf_stage)
testsuite_unit_test_conf_hardware_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_conf_hardware_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_conf_nodes_SOURCES = testsuite/unit/test_conf_nodes.c \
	$(conf_stage)
testsuite_unit_test_conf_nodes_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_conf_nodes_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_job_env_SOURCES = testsuite/unit/test_job_env.c \
	src/plugins/job_assignment.c src/plugins/job_env.c
testsuite_unit_test_job_env_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_job_env_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_job_test_SOURCES = testsuite/unit/test_job_test.c \
	$(select_stage)
testsuite_unit_test_job_test_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_job_test_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_job_start_time_SOURCES = testsuite/unit/test_job_start_time.c \
	$(select_stage)
testsuite_unit_test_job_start_time_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_job_start_time_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_preempt_SOURCES = testsuite/unit/test_preempt.c \
	$(select_stage)
testsuite_unit_test_preempt_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_preempt_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_prep_SOURCES = testsuite/unit/test_prep.c \
	src/plugins/job_assignment.c src/plugins/guest_files.c \
	src/plugins/prep/vsphere/prep_vsphere.c src/plugins/slurm/call_timing.c
testsuite_unit_test_prep_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_prep_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_submit_SOURCES = testsuite/unit/test_submit.c \
	testsuite/unit/submit_stage.c testsuite/unit/submit_stage.h \
	src/plugins/job_submit/vsphere/constraint.c \
	src/plugins/job_submit/vsphere/job_submit_vsphere.c \
	src/plugins/job_submit/vsphere/feasibility.c \
	src/plugins/job_submit/vsphere/constraint_names.c \
	src/plugins/job_submit/vsphere/node_map.c \
	src/plugins/job_submit/vsphere/request.c \
	src/plugins/job_submit/vsphere/messages.c \
	src/plugins/job_submit/vsphere/partition_fit.c \
	src/plugins/job_assignment.c src/plugins/job_env.c \
	src/plugins/slurm/call_timing.c
testsuite_unit_test_submit_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_submit_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_job_nodes_SOURCES = testsuite/unit/test_job_nodes.c \
	src/plugins/slurm_ops/job_nodes.c
testsuite_unit_test_job_nodes_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_job_nodes_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_repair_SOURCES = testsuite/unit/test_repair.c \
	src/plugins/slurm_ops/node_repair.c
testsuite_unit_test_repair_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_repair_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_widen_SOURCES = testsuite/unit/test_widen.c \
	$(select_stage)
testsuite_unit_test_widen_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_widen_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_written_SOURCES = testsuite/unit/test_written.c \
	src/plugins/job_assignment.c src/plugins/job_env.c src/plugins/slurm/compat.c \
	src/plugins/slurm_ops/ops.c src/plugins/slurm_ops/planned_jobs.c \
	src/plugins/slurm_ops/job_nodes.c \
	src/plugins/slurm_ops/job_record.c \
	src/plugins/slurm_ops/jobs.c src/plugins/slurm_ops/node_repair.c \
	src/plugins/slurm_ops/node_state.c \
	src/plugins/slurm_ops/reservations.c \
	src/plugins/slurm/suspend_exclusions.c src/plugins/slurm/conf_check.c \
	src/plugins/slurm/conf_check_locked.c \
	src/plugins/slurm/call_timing.c
testsuite_unit_test_written_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_written_LDADD = $(slurm_unit_ldadd)
endif
