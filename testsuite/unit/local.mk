# SPDX-License-Identifier: GPL-2.0-or-later
# One program per subject: check_PROGRAMS += testsuite/unit/test_SUBJECT, with
# _SOURCES, _CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS), _LDADD = $(unit_ldadd).
unit_ldadd = src/common/libvs_core.la $(CMOCKA_LIBS) -lpthread

check_PROGRAMS += testsuite/unit/test_json
testsuite_unit_test_json_SOURCES = testsuite/unit/test_json.c
testsuite_unit_test_json_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_json_LDADD = $(unit_ldadd)

# util and plan
check_PROGRAMS += testsuite/unit/test_util testsuite/unit/test_name \
	testsuite/unit/test_ipv4 \
	testsuite/unit/test_adapter testsuite/unit/test_profile \
	testsuite/unit/test_inventory testsuite/unit/test_cards \
	testsuite/unit/test_ledger testsuite/unit/test_place \
	testsuite/unit/test_room testsuite/unit/test_policy \
	testsuite/unit/test_gang testsuite/unit/test_step \
	testsuite/unit/test_pool testsuite/unit/test_share \
	testsuite/unit/test_stores \
	testsuite/unit/test_level testsuite/unit/test_numa \
	testsuite/unit/test_timeline testsuite/unit/test_rails \
	testsuite/unit/test_gains
plan_world = testsuite/unit/plan_world.c testsuite/unit/plan_world.h \
	testsuite/unit/plan_stage.h
testsuite_unit_test_util_SOURCES = testsuite/unit/test_util.c
testsuite_unit_test_util_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_util_LDADD = $(unit_ldadd)
testsuite_unit_test_name_SOURCES = testsuite/unit/test_name.c
testsuite_unit_test_name_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_name_LDADD = $(unit_ldadd)
testsuite_unit_test_ipv4_SOURCES = testsuite/unit/test_ipv4.c
testsuite_unit_test_ipv4_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_ipv4_LDADD = $(unit_ldadd)
testsuite_unit_test_adapter_SOURCES = testsuite/unit/test_adapter.c
testsuite_unit_test_adapter_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_adapter_LDADD = $(unit_ldadd)
testsuite_unit_test_profile_SOURCES = testsuite/unit/test_profile.c
testsuite_unit_test_profile_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_profile_LDADD = $(unit_ldadd)
testsuite_unit_test_inventory_SOURCES = testsuite/unit/test_inventory.c $(plan_world)
testsuite_unit_test_inventory_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_inventory_LDADD = $(unit_ldadd)
testsuite_unit_test_cards_SOURCES = testsuite/unit/test_cards.c $(plan_world)
testsuite_unit_test_cards_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_cards_LDADD = $(unit_ldadd)
testsuite_unit_test_ledger_SOURCES = testsuite/unit/test_ledger.c $(plan_world)
testsuite_unit_test_ledger_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_ledger_LDADD = $(unit_ldadd)
testsuite_unit_test_place_SOURCES = testsuite/unit/test_place.c $(plan_world)
testsuite_unit_test_place_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_place_LDADD = $(unit_ldadd)
testsuite_unit_test_room_SOURCES = testsuite/unit/test_room.c $(plan_world)
testsuite_unit_test_room_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_room_LDADD = $(unit_ldadd)
testsuite_unit_test_policy_SOURCES = testsuite/unit/test_policy.c $(plan_world)
testsuite_unit_test_policy_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_policy_LDADD = $(unit_ldadd)
testsuite_unit_test_gang_SOURCES = testsuite/unit/test_gang.c $(plan_world)
testsuite_unit_test_gang_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_gang_LDADD = $(unit_ldadd)
testsuite_unit_test_rails_SOURCES = testsuite/unit/test_rails.c $(plan_world)
testsuite_unit_test_rails_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_rails_LDADD = $(unit_ldadd)
testsuite_unit_test_pool_SOURCES = testsuite/unit/test_pool.c $(plan_world)
testsuite_unit_test_pool_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_pool_LDADD = $(unit_ldadd)
testsuite_unit_test_stores_SOURCES = testsuite/unit/test_stores.c $(plan_world)
testsuite_unit_test_stores_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_stores_LDADD = $(unit_ldadd)
testsuite_unit_test_level_SOURCES = testsuite/unit/test_level.c $(plan_world)
testsuite_unit_test_level_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_level_LDADD = $(unit_ldadd)
testsuite_unit_test_numa_SOURCES = testsuite/unit/test_numa.c $(plan_world)
testsuite_unit_test_numa_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_numa_LDADD = $(unit_ldadd)
testsuite_unit_test_share_SOURCES = testsuite/unit/test_share.c $(plan_world)
testsuite_unit_test_share_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_share_LDADD = $(unit_ldadd)
testsuite_unit_test_timeline_SOURCES = testsuite/unit/test_timeline.c
testsuite_unit_test_timeline_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_timeline_LDADD = $(unit_ldadd)
testsuite_unit_test_gains_SOURCES = testsuite/unit/test_gains.c $(plan_world)
testsuite_unit_test_gains_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_gains_LDADD = $(unit_ldadd)
testsuite_unit_test_step_SOURCES = testsuite/unit/test_step.c
testsuite_unit_test_step_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_step_LDADD = $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_check testsuite/unit/test_check_site
testsuite_unit_test_check_site_SOURCES = testsuite/unit/test_check_site.c \
	testsuite/unit/check_stage.h
testsuite_unit_test_check_site_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_check_site_LDADD = $(unit_ldadd)
testsuite_unit_test_check_SOURCES = testsuite/unit/test_check.c \
	testsuite/unit/check_stage.h
testsuite_unit_test_check_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_check_LDADD = $(unit_ldadd)

# The engine on a fake vCenter, which stands in for the client at link time:
# before the core, and compiled once.
check_LTLIBRARIES += testsuite/unit/libfake_vc.la
engine_stage = testsuite/unit/engine_stage.h testsuite/unit/fake_vc.h
fake_vc = testsuite/unit/fake_vc.c testsuite/unit/fake_vc_beat.c \
	testsuite/unit/fake_vc_cards.c \
	testsuite/unit/fake_vc_late.c testsuite/unit/fake_vc.h \
	testsuite/unit/fake_vc_i.h
testsuite_unit_libfake_vc_la_SOURCES = $(fake_vc)
testsuite_unit_libfake_vc_la_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
engine_ldadd = testsuite/unit/libfake_vc.la $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_engine
testsuite_unit_test_engine_SOURCES = testsuite/unit/test_engine.c $(engine_stage)
testsuite_unit_test_engine_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_prefetch \
	testsuite/unit/test_engine_prefetch_end \
	testsuite/unit/test_engine_prefetch_room
testsuite_unit_test_engine_prefetch_room_SOURCES = \
	testsuite/unit/test_engine_prefetch_room.c \
	testsuite/unit/prefetch_stage.h $(engine_stage)
testsuite_unit_test_engine_prefetch_room_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_prefetch_room_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_prefetch_end_SOURCES = \
	testsuite/unit/test_engine_prefetch_end.c \
	testsuite/unit/prefetch_stage.h $(engine_stage)
testsuite_unit_test_engine_prefetch_end_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_prefetch_end_LDADD = $(engine_ldadd)
testsuite_unit_test_engine_prefetch_SOURCES = \
	testsuite/unit/test_engine_prefetch.c \
	testsuite/unit/prefetch_stage.h $(engine_stage)
testsuite_unit_test_engine_prefetch_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_prefetch_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_jobs testsuite/unit/test_hostlist
testsuite_unit_test_engine_jobs_SOURCES = \
	testsuite/unit/test_engine_jobs.c $(engine_stage)
testsuite_unit_test_engine_jobs_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_jobs_LDADD = $(engine_ldadd)
testsuite_unit_test_hostlist_SOURCES = testsuite/unit/test_hostlist.c
testsuite_unit_test_hostlist_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_hostlist_LDADD = $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_submit
testsuite_unit_test_engine_submit_SOURCES = \
	testsuite/unit/test_engine_submit.c $(engine_stage)
testsuite_unit_test_engine_submit_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_submit_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_check
testsuite_unit_test_engine_check_SOURCES = testsuite/unit/test_engine_check.c \
	$(engine_stage)
testsuite_unit_test_engine_check_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_check_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_gone
testsuite_unit_test_engine_gone_SOURCES = testsuite/unit/test_engine_gone.c \
	$(engine_stage)
testsuite_unit_test_engine_gone_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_gone_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_when
testsuite_unit_test_engine_when_SOURCES = testsuite/unit/test_engine_when.c \
	$(engine_stage)
testsuite_unit_test_engine_when_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_when_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_words
testsuite_unit_test_engine_words_SOURCES = testsuite/unit/test_engine_words.c \
	$(engine_stage)
testsuite_unit_test_engine_words_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_words_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_missing
testsuite_unit_test_engine_missing_SOURCES = \
	testsuite/unit/test_engine_missing.c $(engine_stage)
testsuite_unit_test_engine_missing_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_missing_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_reconcile
testsuite_unit_test_engine_reconcile_SOURCES = \
	testsuite/unit/test_engine_reconcile.c $(engine_stage)
testsuite_unit_test_engine_reconcile_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_reconcile_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_term
testsuite_unit_test_engine_term_SOURCES = testsuite/unit/test_engine_term.c \
	$(engine_stage)
testsuite_unit_test_engine_term_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_term_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_noclient
testsuite_unit_test_engine_noclient_SOURCES = \
	testsuite/unit/test_engine_noclient.c $(engine_stage)
testsuite_unit_test_engine_noclient_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_noclient_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_faults
testsuite_unit_test_engine_faults_SOURCES = testsuite/unit/test_engine_faults.c \
	$(engine_stage)
testsuite_unit_test_engine_faults_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_faults_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_calls
testsuite_unit_test_engine_calls_SOURCES = testsuite/unit/test_engine_calls.c \
	$(engine_stage)
testsuite_unit_test_engine_calls_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_calls_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_plan
testsuite_unit_test_engine_plan_SOURCES = testsuite/unit/test_engine_plan.c \
	$(engine_stage)
testsuite_unit_test_engine_plan_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_plan_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_fail
testsuite_unit_test_engine_fail_SOURCES = testsuite/unit/test_engine_fail.c \
	$(engine_stage)
testsuite_unit_test_engine_fail_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_fail_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_window
testsuite_unit_test_engine_window_SOURCES = testsuite/unit/test_engine_window.c \
	$(engine_stage)
testsuite_unit_test_engine_window_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_window_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_breaker
# Larger arrays than the others': a fake of its own.
testsuite_unit_test_engine_breaker_SOURCES = testsuite/unit/test_engine_breaker.c \
	$(engine_stage) $(fake_vc)
testsuite_unit_test_engine_breaker_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) \
	-DMAX_VMS=64 -DMAX_CALLS=2048
testsuite_unit_test_engine_breaker_LDADD = $(unit_ldadd)

# The same, for it makes as many calls.
check_PROGRAMS += testsuite/unit/test_engine_model
testsuite_unit_test_engine_model_SOURCES = testsuite/unit/test_engine_model.c \
	testsuite/unit/model.c testsuite/unit/model_life.c \
	testsuite/unit/model.h $(engine_stage) $(fake_vc)
testsuite_unit_test_engine_model_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) \
	-DMAX_VMS=64 -DMAX_CALLS=4096
testsuite_unit_test_engine_model_LDADD = $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_drift
testsuite_unit_test_engine_drift_SOURCES = testsuite/unit/test_engine_drift.c \
	$(engine_stage)
testsuite_unit_test_engine_drift_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_drift_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_calm
testsuite_unit_test_engine_calm_SOURCES = testsuite/unit/test_engine_calm.c \
	$(engine_stage)
testsuite_unit_test_engine_calm_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_calm_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_clones
testsuite_unit_test_engine_clones_SOURCES = testsuite/unit/test_engine_clones.c \
	$(engine_stage)
testsuite_unit_test_engine_clones_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_clones_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_stores
testsuite_unit_test_engine_stores_SOURCES = testsuite/unit/test_engine_stores.c \
	$(engine_stage)
testsuite_unit_test_engine_stores_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_stores_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_limits
testsuite_unit_test_engine_limits_SOURCES = testsuite/unit/test_engine_limits.c \
	$(engine_stage)
testsuite_unit_test_engine_limits_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_limits_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_room
testsuite_unit_test_engine_room_SOURCES = testsuite/unit/test_engine_room.c \
	$(engine_stage)
testsuite_unit_test_engine_room_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_room_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_drs
testsuite_unit_test_engine_drs_SOURCES = testsuite/unit/test_engine_drs.c \
	$(engine_stage)
testsuite_unit_test_engine_drs_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_drs_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_spec
testsuite_unit_test_engine_spec_SOURCES = testsuite/unit/test_engine_spec.c \
	$(engine_stage)
testsuite_unit_test_engine_spec_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_spec_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_report
testsuite_unit_test_engine_report_SOURCES = testsuite/unit/test_engine_report.c \
	$(engine_stage)
testsuite_unit_test_engine_report_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_report_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_boot
testsuite_unit_test_engine_boot_SOURCES = testsuite/unit/test_engine_boot.c \
	$(engine_stage)
testsuite_unit_test_engine_boot_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_boot_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_brake
testsuite_unit_test_engine_brake_SOURCES = testsuite/unit/test_engine_brake.c \
	$(engine_stage)
testsuite_unit_test_engine_brake_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_brake_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_beside
testsuite_unit_test_engine_beside_SOURCES = testsuite/unit/test_engine_beside.c \
	$(engine_stage)
testsuite_unit_test_engine_beside_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_beside_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_doubt
testsuite_unit_test_engine_doubt_SOURCES = testsuite/unit/test_engine_doubt.c \
	$(engine_stage)
testsuite_unit_test_engine_doubt_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_doubt_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_orders
testsuite_unit_test_engine_orders_SOURCES = \
	testsuite/unit/test_engine_orders.c $(engine_stage)
testsuite_unit_test_engine_orders_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_orders_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_health
testsuite_unit_test_engine_health_SOURCES = testsuite/unit/test_engine_health.c \
	$(engine_stage)
testsuite_unit_test_engine_health_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_health_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_host
testsuite_unit_test_engine_host_SOURCES = testsuite/unit/test_engine_host.c \
	$(engine_stage)
testsuite_unit_test_engine_host_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_host_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_vc_cluster
testsuite_unit_test_vc_cluster_SOURCES = testsuite/unit/test_vc_cluster.c
testsuite_unit_test_vc_cluster_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_vc_cluster_LDADD = $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_preflight
testsuite_unit_test_engine_preflight_SOURCES = \
	testsuite/unit/test_engine_preflight.c $(engine_stage)
testsuite_unit_test_engine_preflight_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_preflight_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_rails
testsuite_unit_test_engine_rails_SOURCES = \
	testsuite/unit/test_engine_rails.c $(engine_stage)
testsuite_unit_test_engine_rails_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_rails_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_reclaim
testsuite_unit_test_engine_reclaim_SOURCES = \
	testsuite/unit/test_engine_reclaim.c $(engine_stage)
testsuite_unit_test_engine_reclaim_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_reclaim_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_victims
testsuite_unit_test_engine_victims_SOURCES = \
	testsuite/unit/test_engine_victims.c $(engine_stage)
testsuite_unit_test_engine_victims_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_victims_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_restart
testsuite_unit_test_engine_restart_SOURCES = testsuite/unit/test_engine_restart.c \
	$(engine_stage)
testsuite_unit_test_engine_restart_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_restart_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_engine_template
testsuite_unit_test_engine_template_SOURCES = \
	testsuite/unit/test_engine_template.c $(engine_stage)
testsuite_unit_test_engine_template_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_engine_template_LDADD = $(engine_ldadd)

check_PROGRAMS += testsuite/unit/test_vc_spec
testsuite_unit_test_vc_spec_SOURCES = testsuite/unit/test_vc_spec.c
testsuite_unit_test_vc_spec_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_vc_spec_LDADD = $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_vc_facts
testsuite_unit_test_vc_facts_SOURCES = testsuite/unit/test_vc_facts.c \
	testsuite/unit/inv_stage.h
testsuite_unit_test_vc_facts_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_vc_facts_LDADD = $(unit_ldadd)
check_PROGRAMS += testsuite/unit/test_vc_fault testsuite/unit/test_vc_inv \
	testsuite/unit/test_vc_template
testsuite_unit_test_vc_template_SOURCES = testsuite/unit/test_vc_template.c
testsuite_unit_test_vc_template_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_vc_template_LDADD = $(unit_ldadd)
testsuite_unit_test_vc_fault_SOURCES = testsuite/unit/test_vc_fault.c
testsuite_unit_test_vc_fault_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_vc_fault_LDADD = $(unit_ldadd)
testsuite_unit_test_vc_inv_SOURCES = testsuite/unit/test_vc_inv.c \
	testsuite/unit/inv_stage.h
testsuite_unit_test_vc_inv_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_vc_inv_LDADD = $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_vc_stats
testsuite_unit_test_vc_stats_SOURCES = testsuite/unit/test_vc_stats.c
testsuite_unit_test_vc_stats_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_vc_stats_LDADD = $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_vc_where
testsuite_unit_test_vc_where_SOURCES = testsuite/unit/test_vc_where.c
testsuite_unit_test_vc_where_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_vc_where_LDADD = $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_vc_barred testsuite/unit/test_vc_task
testsuite_unit_test_vc_barred_SOURCES = testsuite/unit/test_vc_barred.c \
	testsuite/unit/inv_stage.h
testsuite_unit_test_vc_barred_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_vc_barred_LDADD = $(unit_ldadd)
testsuite_unit_test_vc_task_SOURCES = testsuite/unit/test_vc_task.c \
	testsuite/unit/inv_stage.h
testsuite_unit_test_vc_task_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_vc_task_LDADD = $(unit_ldadd)

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

# The plugins' own parts, with the records and parsers of the real libslurmfull.
check_PROGRAMS += testsuite/unit/test_device
testsuite_unit_test_device_SOURCES = testsuite/unit/test_device.c \
	testsuite/unit/guest_stage.h \
	src/plugins/guest.c src/plugins/prep/vsphere/device.c \
	src/plugins/prep/vsphere/port_ask.c
testsuite_unit_test_device_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src/plugins
testsuite_unit_test_device_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_device_LDADD = $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_port
testsuite_unit_test_port_SOURCES = testsuite/unit/test_port.c \
	contribs/guest/port.h contribs/guest/port_judge.c
testsuite_unit_test_port_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
testsuite_unit_test_port_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) \
	$(IBVERBS_CFLAGS)
testsuite_unit_test_port_LDADD = $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_got
testsuite_unit_test_got_SOURCES = testsuite/unit/test_got.c \
	testsuite/unit/guest_stage.h \
	src/plugins/got.c src/plugins/guest.c src/plugins/spank/env.c
testsuite_unit_test_got_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src/plugins
testsuite_unit_test_got_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_got_LDADD = $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_control
testsuite_unit_test_control_SOURCES = testsuite/unit/test_control.c \
	testsuite/unit/control_stage.c testsuite/unit/control_stage.h
testsuite_unit_test_control_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_control_LDADD = $(unit_ldadd) $(MUNGE_LIBS)

# These run src/svf/svf, which `make check` has built by then.
check_PROGRAMS += testsuite/unit/test_svf testsuite/unit/test_svf_where
svf_stage = testsuite/unit/svf_stage.c testsuite/unit/svf_stage.h \
	testsuite/unit/control_stage.c testsuite/unit/control_stage.h
testsuite_unit_test_svf_SOURCES = testsuite/unit/test_svf.c $(svf_stage)
testsuite_unit_test_svf_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_svf_LDADD = $(unit_ldadd) $(MUNGE_LIBS)
testsuite_unit_test_svf_where_SOURCES = testsuite/unit/test_svf_where.c \
	$(svf_stage)
testsuite_unit_test_svf_where_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_svf_where_LDADD = $(unit_ldadd) $(MUNGE_LIBS)

check_PROGRAMS += testsuite/unit/test_svf_view
testsuite_unit_test_svf_view_SOURCES = testsuite/unit/test_svf_view.c \
	$(svf_stage)
testsuite_unit_test_svf_view_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_svf_view_LDADD = $(unit_ldadd) $(MUNGE_LIBS)

check_PROGRAMS += testsuite/unit/test_svf_complete
testsuite_unit_test_svf_complete_SOURCES = testsuite/unit/test_svf_complete.c \
	$(svf_stage)
testsuite_unit_test_svf_complete_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_svf_complete_LDADD = $(unit_ldadd) $(MUNGE_LIBS)

check_PROGRAMS += testsuite/unit/test_svf_import
testsuite_unit_test_svf_import_SOURCES = testsuite/unit/test_svf_import.c \
	src/svf/import_read.c src/svf/import_vms.c $(svf_stage)
testsuite_unit_test_svf_import_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src
testsuite_unit_test_svf_import_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_svf_import_LDADD = $(unit_ldadd) $(MUNGE_LIBS)

check_PROGRAMS += testsuite/unit/test_svf_when
testsuite_unit_test_svf_when_SOURCES = testsuite/unit/test_svf_when.c \
	src/svf/when.c
testsuite_unit_test_svf_when_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src
testsuite_unit_test_svf_when_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_svf_when_LDADD = $(unit_ldadd)

check_PROGRAMS += testsuite/unit/test_svf_plan
testsuite_unit_test_svf_plan_SOURCES = testsuite/unit/test_svf_plan.c \
	src/svf/job.c src/svf/partition.c src/svf/sbatch.c $(svf_stage)
testsuite_unit_test_svf_plan_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src
testsuite_unit_test_svf_plan_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_svf_plan_LDADD = $(unit_ldadd) $(MUNGE_LIBS)

if HAVE_SLURMFULL
conf_stage = testsuite/unit/conf_stage.c testsuite/unit/conf_stage.h \
	src/plugins/slurm_check.c src/plugins/vs_conf_nodes.c \
	src/plugins/vs_conf_slurm.c
slurm_unit_ldadd = src/plugins/libvs_conf.la $(unit_ldadd) $(SLURMFULL_LIBS)

check_PROGRAMS += testsuite/unit/test_submit
testsuite_unit_test_submit_SOURCES = testsuite/unit/test_submit.c \
	testsuite/unit/submit_stage.c testsuite/unit/submit_stage.h \
	src/plugins/job_submit/vsphere/constraint.c \
	src/plugins/job_submit/vsphere/job_submit_vsphere.c \
	src/plugins/job_submit/vsphere/judge.c \
	src/plugins/job_submit/vsphere/names.c \
	src/plugins/job_submit/vsphere/ours.c \
	src/plugins/job_submit/vsphere/wish.c \
	src/plugins/job_submit/vsphere/words.c \
	src/plugins/timed.c
testsuite_unit_test_submit_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_submit_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_submit_LDADD = $(slurm_unit_ldadd)
check_PROGRAMS += testsuite/unit/test_conf testsuite/unit/test_conf_nodes \
	testsuite/unit/test_bits testsuite/unit/test_job_test \
	testsuite/unit/test_prep
testsuite_unit_test_prep_SOURCES = testsuite/unit/test_prep.c \
	src/plugins/got.c src/plugins/guest.c \
	src/plugins/prep/vsphere/prep_vsphere.c src/plugins/timed.c
testsuite_unit_test_prep_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_prep_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_prep_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_bits_SOURCES = testsuite/unit/test_bits.c
testsuite_unit_test_bits_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_bits_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_bits_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_conf_SOURCES = testsuite/unit/test_conf.c $(conf_stage)
testsuite_unit_test_conf_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_conf_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_conf_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_conf_nodes_SOURCES = testsuite/unit/test_conf_nodes.c \
	$(conf_stage)
testsuite_unit_test_conf_nodes_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_conf_nodes_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_conf_nodes_LDADD = $(slurm_unit_ldadd)
select_stage = testsuite/unit/select_stage.c testsuite/unit/select_stage.h \
	src/plugins/select/cons_tres_vsphere/ever.c \
	src/plugins/select/cons_tres_vsphere/job_test.c \
	src/plugins/select/cons_tres_vsphere/offer.c \
	src/plugins/select/cons_tres_vsphere/preempt.c \
	src/plugins/select/cons_tres_vsphere/refuse.c \
	src/plugins/select/cons_tres_vsphere/surplus.c \
	src/plugins/select/cons_tres_vsphere/weights.c \
	src/plugins/select/cons_tres_vsphere/when.c \
	src/plugins/select/cons_tres_vsphere/widen.c \
	src/plugins/timed.c
check_PROGRAMS += testsuite/unit/test_job_when testsuite/unit/test_widen \
	testsuite/unit/test_preempt
testsuite_unit_test_job_test_SOURCES = testsuite/unit/test_job_test.c $(select_stage)
testsuite_unit_test_job_test_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_job_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_job_test_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_job_when_SOURCES = testsuite/unit/test_job_when.c $(select_stage)
testsuite_unit_test_job_when_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_job_when_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_job_when_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_widen_SOURCES = testsuite/unit/test_widen.c $(select_stage)
testsuite_unit_test_widen_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_widen_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_widen_LDADD = $(slurm_unit_ldadd)
testsuite_unit_test_preempt_SOURCES = testsuite/unit/test_preempt.c $(select_stage)
testsuite_unit_test_preempt_CPPFLAGS = $(plugin_cppflags)
testsuite_unit_test_preempt_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_test_preempt_LDADD = $(slurm_unit_ldadd)
endif
