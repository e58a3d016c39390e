# SPDX-License-Identifier: GPL-2.0-or-later
core_sources += \
	src/common/engine/act.c \
	src/common/engine/adopt.c \
	src/common/engine/ask.c \
	src/common/engine/avail.c \
	src/common/engine/avoid.c src/common/engine/avoid_i.h \
	src/common/engine/beside.c \
	src/common/engine/boot.c src/common/engine/boot_i.h \
	src/common/engine/brake.c src/common/engine/brake_i.h \
	src/common/engine/build.c \
	src/common/engine/changes.c \
	src/common/engine/clone_hosts.c \
	src/common/engine/clones.c src/common/engine/clones_i.h \
	src/common/engine/claim_events.h src/common/engine/cluster_id.c \
	src/common/engine/cordon.c \
	src/common/engine/file_replace.c \
	src/common/engine/findings.c \
	src/common/engine/hosts.h \
	src/common/engine/job_ended.c \
	src/common/engine/lock.c \
	src/common/engine/match.c \
	src/common/engine/node_queries.c \
	src/common/engine/order_wish.c \
	src/common/engine/persist.h \
	src/common/engine/state.h \
	src/common/engine/stores.c src/common/engine/stores_i.h \
	src/common/engine/breaker.c \
	src/common/engine/calm.c \
	src/common/engine/cards.c \
	src/common/engine/check.c src/common/engine/check_facts.c \
	src/common/engine/check_i.h src/common/engine/check_log.c \
	src/common/engine/check_share.c \
	src/common/engine/conf.c \
	src/common/engine/connect.c \
	src/common/engine/control.c src/common/engine/control.h \
	src/common/engine/control_i.h src/common/engine/control_listen.c \
	src/common/engine/control_msg.c src/common/engine/control_msg.h \
	src/common/engine/core.c src/common/engine/core.h \
	src/common/engine/core_i.h \
	src/common/engine/devices.c src/common/engine/devices_i.h \
	src/common/engine/door.c \
	src/common/engine/devices_named.c \
	src/common/engine/host_rows.c \
	src/common/engine/drift.c \
	src/common/engine/tasks.c \
	src/common/engine/tasks.h \
	src/common/engine/vcenter_state.c \
	src/common/engine/viewer.c \
	src/common/engine/vm_devices.c \
	src/common/engine/vmotion.c src/common/engine/vmotion_i.h \
	src/common/engine/vmotion_hint.c \
	src/common/engine/vmotion_plan.c src/common/engine/vmotion_to.c \
	src/common/engine/expect.c \
	src/common/engine/drs.c src/common/engine/drs_i.h \
	src/common/engine/fail.c src/common/engine/found_i.h src/common/engine/job_i.h \
	src/common/engine/got.c \
	src/common/engine/foreign.c \
	src/common/engine/guest_words.c src/common/engine/guest_words.h \
	src/common/engine/guard.c \
	src/common/engine/hardware.c src/common/engine/hardware_i.h \
	src/common/engine/hints.c \
	src/common/engine/hold.c src/common/engine/hold_i.h \
	src/common/engine/job.c \
	src/common/engine/login.c \
	src/common/engine/login_i.h \
	src/common/engine/lost.c \
	src/common/engine/loop.c \
	src/common/engine/health.c src/common/engine/leaving.c \
	src/common/engine/mac_shared.c \
	src/common/engine/maintain.c src/common/engine/maintain_i.h \
	src/common/engine/move.c src/common/engine/move_i.h \
	src/common/engine/ended.c src/common/engine/ended_i.h \
	src/common/engine/metrics.h src/common/engine/metrics_facts.c \
	src/common/engine/metrics_http.c src/common/engine/metrics_http.h \
	src/common/engine/metrics_i.h src/common/engine/metrics_keep.c \
	src/common/engine/metrics_note.c src/common/engine/metrics_serve.c src/common/engine/serve.c src/common/engine/serve.h \
	src/common/engine/metrics_text.c \
	src/common/engine/missing.c \
	src/common/engine/node.c src/common/engine/node_i.h \
	src/common/engine/observe.c \
	src/common/engine/offer.c src/common/engine/offer_i.h \
	src/common/engine/ops.c \
	src/common/engine/orders.c src/common/engine/orders_i.h \
	src/common/engine/orphan.c \
	src/common/engine/pace.c src/common/engine/pace_i.h \
	src/common/engine/outbox.h \
	src/common/engine/parents.c src/common/engine/parents_i.h \
	src/common/engine/parents_bar.c src/common/engine/parents_call.c \
	src/common/engine/parents_keep.c src/common/engine/parents_place.c \
	src/common/engine/parents_report.c src/common/engine/parents_seen.c \
	src/common/engine/took.c src/common/engine/took_i.h \
	src/common/engine/plan_i.h src/common/engine/plan_place.c \
	src/common/engine/plan_report.c \
	src/common/engine/port.h \
	src/common/engine/prefetch.c src/common/engine/prefetch_i.h \
	src/common/engine/prefetch_place.c \
	src/common/engine/preflight.c \
	src/common/engine/reach.c \
	src/common/engine/reclaim.c \
	src/common/engine/refusal.c \
	src/common/engine/report.c src/common/engine/report.h \
	src/common/engine/report_check.c \
	src/common/engine/report_host.c \
	src/common/engine/report_jobs.c \
	src/common/engine/report_notes.c \
	src/common/engine/send.c \
	src/common/engine/setup.c \
	src/common/engine/slot.c \
	src/common/engine/slow.c \
	src/common/engine/submit.c \
	src/common/engine/tell.c src/common/engine/template_host.c \
	src/common/engine/term.c \
	src/common/engine/victims.c \
	src/common/engine/vmspec.h \
	src/common/engine/wait.c \
	src/common/engine/window.c \
	src/common/engine/watch.c \
	src/common/engine/when.c src/common/engine/when_i.h
