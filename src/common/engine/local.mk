# SPDX-License-Identifier: GPL-2.0-or-later
core_sources += \
	src/common/engine/allocation/allocation.h \
	src/common/engine/allocation/availability.c src/common/engine/allocation/capacity.c \
	src/common/engine/allocation/claims.c \
	src/common/engine/allocation/clone_hosts.c src/common/engine/allocation/query.c \
	src/common/engine/checks/checks.h src/common/engine/checks/checks_i.h \
	src/common/engine/checks/cluster_policy.c src/common/engine/checks/findings_log.c \
	src/common/engine/checks/networks.c src/common/engine/checks/other_cluster.c \
	src/common/engine/checks/preflight.c src/common/engine/checks/shared_checks.c \
	src/common/engine/checks/site_checks.c \
	src/common/engine/clone_source/blocked.c src/common/engine/clone_source/build.c \
	src/common/engine/clone_source/clone_source.h \
	src/common/engine/clone_source/clone_source_i.h \
	src/common/engine/clone_source/collect.c src/common/engine/clone_source/host_cost.c \
	src/common/engine/clone_source/unconfirmed_clones.c src/common/engine/clone_source/select.c \
	src/common/engine/clone_source/template_host.c \
	src/common/engine/clone_source/usage.c \
	src/common/engine/control/admin_actions.c src/common/engine/control/control.h \
	src/common/engine/control/server.c \
	src/common/engine/forecast/estimate_text.c src/common/engine/forecast/forecast.h \
	src/common/engine/forecast/forecast_i.h src/common/engine/forecast/occupancy.c \
	src/common/engine/forecast/start_time.c \
	src/common/engine/hosts/circuit_breaker.c src/common/engine/hosts/cordon.c \
	src/common/engine/hosts/drain_counts.c src/common/engine/hosts/exclusions.c \
	src/common/engine/hosts/hosts.h src/common/engine/hosts/hosts_i.h \
	src/common/engine/hosts/maintenance_window.c src/common/engine/hosts/pf_drift.c \
	src/common/engine/inventory/datastores.c \
	src/common/engine/inventory/device_entries.c \
	src/common/engine/inventory/device_ids.c src/common/engine/inventory/from_vcenter.c \
	src/common/engine/inventory/host_devices.c src/common/engine/inventory/host_facts.c \
	src/common/engine/inventory/inventory.h src/common/engine/inventory/named_devices.c \
	src/common/engine/inventory/periodic.c \
	src/common/engine/jobs/assignment.c src/common/engine/jobs/job_ended.c \
	src/common/engine/jobs/jobs.c src/common/engine/jobs/jobs.h \
	src/common/engine/jobs/jobs_i.h src/common/engine/jobs/observe_mode.c \
	src/common/engine/jobs/pending.c src/common/engine/jobs/prolog_wait.c \
	src/common/engine/jobs/startup_times.c \
	src/common/engine/maintenance/evacuate.c \
	src/common/engine/maintenance/evacuate_hints.c \
	src/common/engine/maintenance/maintenance_i.h \
	src/common/engine/maintenance/evacuate_preview.c \
	src/common/engine/maintenance/evacuate_target.c \
	src/common/engine/maintenance/host_progress.c \
	src/common/engine/maintenance/maintenance.h \
	src/common/engine/maintenance/node_drain.c src/common/engine/maintenance/vm_actions.c \
	src/common/engine/metrics/collect.c src/common/engine/metrics/format.c \
	src/common/engine/metrics/http_request.c \
	src/common/engine/metrics/metrics.h src/common/engine/metrics/metrics_i.h \
	src/common/engine/metrics/page_cache.c src/common/engine/metrics/server.c \
	src/common/engine/persist/cluster_id.c src/common/engine/persist/file_replace.c \
	src/common/engine/persist/login_backoff.c src/common/engine/persist/persist.h \
	src/common/engine/persist/state_file.c \
	src/common/engine/preemption/preemption.h \
	src/common/engine/preemption/reclaim_idle.c src/common/engine/preemption/victims.c \
	src/common/engine/prefetch/headroom.c src/common/engine/prefetch/prefetch.c \
	src/common/engine/prefetch/prefetch.h src/common/engine/prefetch/prefetch_i.h \
	src/common/engine/provision/drs_advice.c \
	src/common/engine/provision/provision_i.h src/common/engine/provision/failures.c \
	src/common/engine/provision/operations.c src/common/engine/provision/provision.h \
	src/common/engine/provision/requests.c \
	src/common/engine/reconcile/adopt.c src/common/engine/reconcile/boot.c \
	src/common/engine/reconcile/foreign.c src/common/engine/reconcile/lost_guest.c \
	src/common/engine/reconcile/missing_vm.c src/common/engine/reconcile/node.c \
	src/common/engine/reconcile/orphan_vms.c src/common/engine/reconcile/reconcile.h \
	src/common/engine/report/checks.c src/common/engine/report/clone_sources.c \
	src/common/engine/report/common.c src/common/engine/report/dry_run.c \
	src/common/engine/report/dry_run_places.c src/common/engine/report/hosts.c \
	src/common/engine/report/jobs.c src/common/engine/report/report.h \
	src/common/engine/report/report.c src/common/engine/report/report_i.h \
	src/common/engine/report/status.c \
	src/common/engine/report/why.c \
	src/common/engine/rpc/listen.c src/common/engine/rpc/message.c \
	src/common/engine/rpc/message.h src/common/engine/rpc/poll_server.c \
	src/common/engine/rpc/rpc.h \
	src/common/engine/run/api.c src/common/engine/run/api.h \
	src/common/engine/run/leadership.c src/common/engine/run/loop.c \
	src/common/engine/run/run_i.h src/common/engine/run/reconfigure.c \
	src/common/engine/run/run.h src/common/engine/run/saved_state.c \
	src/common/engine/run/standalone.c \
	src/common/engine/run/slurm_poll.c src/common/engine/run/vcenter_connect.c \
	src/common/engine/run/vcenter_events.c \
	src/common/engine/slurm/lookup.c src/common/engine/slurm/lookup.h \
	src/common/engine/slurm/outbox.c src/common/engine/slurm/outbox.h \
	src/common/engine/slurm/slurm_ops.h \
	src/common/engine/state/activity.c src/common/engine/state/changes.c \
	src/common/engine/state/conditions.c \
	src/common/engine/state/config.c src/common/engine/state/config.h \
	src/common/engine/state/core.h src/common/engine/state/counters.c \
	src/common/engine/state/durations.c \
	src/common/engine/state/each.c \
	src/common/engine/state/findings.c \
	src/common/engine/state/lock.c src/common/engine/state/node.h \
	src/common/engine/state/node_queries.c \
	src/common/engine/state/state.h src/common/engine/state/vcenter_state.c \
	src/common/engine/tasks/clone_quota.c \
	src/common/engine/tasks/tasks_i.h src/common/engine/tasks/removal_guard.c \
	src/common/engine/tasks/pause.c src/common/engine/tasks/retry.c \
	src/common/engine/tasks/tasks.c src/common/engine/tasks/tasks.h \
	src/common/engine/vmspec/build.c src/common/engine/vmspec/capability.c \
	src/common/engine/vmspec/guest_info.c src/common/engine/vmspec/hardware.c \
	src/common/engine/vmspec/mac_shared.c src/common/engine/vmspec/match.c \
	src/common/engine/vmspec/move.c \
	src/common/engine/vmspec/nics.c src/common/engine/vmspec/vm_devices.c \
	src/common/engine/vmspec/vmspec.h
