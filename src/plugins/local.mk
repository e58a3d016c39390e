# SPDX-License-Identifier: GPL-2.0-or-later
# The plugins. What both of them link lies in a convenience library; the files
# of the core's util that they need are compiled in (libc only), so that client
# commands, which load the select plugin, load neither curl nor json-c.
# Never -z now: clients lack slurmctld's functions. nodelete: the core's thread
# calls into the plugins even when slurmctld has closed them.
noinst_LTLIBRARIES += src/plugins/libvs_conf.la src/plugins/libvs_plugin.la

# vsphere.conf without Slurm: svf links it too.
src_plugins_libvs_conf_la_SOURCES = \
	src/plugins/conf/adapter.c \
	src/plugins/conf/conf.h src/plugins/conf/conf_i.h \
	src/plugins/conf/hardware.c \
	src/plugins/conf/keys.c src/plugins/conf/keys.h \
	src/plugins/conf/network.c \
	src/plugins/conf/parse.c \
	src/plugins/conf/values.c

plugin_cppflags = $(AM_CPPFLAGS) -I$(SLURM_SOURCE) \
	-I$(top_srcdir)/src
plugin_ldflags = $(AM_LDFLAGS) -module -avoid-version -shared \
	-Wl,-z,lazy -Wl,-z,nodelete

src_plugins_libvs_plugin_la_SOURCES = \
	src/common/engine/state/config.c \
	src/common/plan/devices/adapter_type.c \
	src/common/plan/devices/pci_address_list.c \
	src/common/plan/checks/check_codes.c \
	src/common/plan/devices/vgpu_name.c \
	src/common/util/buf.c \
	src/common/util/err.c \
	src/common/util/hostlist.c \
	src/common/util/mem.c \
	src/common/util/name.c \
	src/common/util/ipv4.c \
	src/common/util/secret_file.c \
	src/plugins/core_loader.c src/plugins/core_loader.h \
	src/plugins/slurm/bitmap_iter.h \
	src/plugins/slurm/call_timing.c src/plugins/slurm/call_timing.h \
	src/plugins/slurm/compat.c src/plugins/slurm/compat.h
src_plugins_libvs_plugin_la_CPPFLAGS = $(plugin_cppflags)

slurmplugin_LTLIBRARIES += src/plugins/select_cons_tres_vsphere.la \
	src/plugins/prep_vsphere.la src/plugins/spank_vsphere.la \
	src/plugins/job_submit_vsphere.la

src_plugins_select_cons_tres_vsphere_la_SOURCES = \
	src/plugins/conf/load.c src/plugins/conf/load.h \
	src/plugins/conf/nodes.c \
	src/plugins/job_assignment.c src/plugins/job_assignment.h \
	src/plugins/job_env.c src/plugins/job_env.h \
	src/plugins/license_text.h \
	src/plugins/select/cons_tres_vsphere/candidates.c \
	src/plugins/select/cons_tres_vsphere/candidates.h \
	src/plugins/select/cons_tres_vsphere/controller.c \
	src/plugins/select/cons_tres_vsphere/controller.h \
	src/plugins/select/cons_tres_vsphere/job_test.c \
	src/plugins/select/cons_tres_vsphere/job_test.h \
	src/plugins/select/cons_tres_vsphere/node_weights.c \
	src/plugins/select/cons_tres_vsphere/node_weights.h \
	src/plugins/select/cons_tres_vsphere/pending_reason.c \
	src/plugins/select/cons_tres_vsphere/pending_reason.h \
	src/plugins/select/cons_tres_vsphere/preemption.c \
	src/plugins/select/cons_tres_vsphere/preemption.h \
	src/plugins/select/cons_tres_vsphere/select_cons_tres_vsphere.c \
	src/plugins/select/cons_tres_vsphere/start_time.c \
	src/plugins/select/cons_tres_vsphere/start_time.h \
	src/plugins/select/cons_tres_vsphere/static_capacity.c \
	src/plugins/select/cons_tres_vsphere/static_capacity.h \
	src/plugins/select/cons_tres_vsphere/stock.c \
	src/plugins/select/cons_tres_vsphere/stock.h \
	src/plugins/select/cons_tres_vsphere/trim_answer.c \
	src/plugins/select/cons_tres_vsphere/trim_answer.h \
	src/plugins/select/cons_tres_vsphere/vf_accounting.c \
	src/plugins/select/cons_tres_vsphere/vf_accounting.h \
	src/plugins/slurm/conf_check.c src/plugins/slurm/conf_check.h \
	src/plugins/slurm/conf_check_locked.c \
	src/plugins/slurm/release_check.c \
	src/plugins/slurm/suspend_exclusions.c \
	src/plugins/slurm/suspend_exclusions.h \
	src/plugins/slurm_ops/job_nodes.c \
	src/plugins/slurm_ops/job_record.c \
	src/plugins/slurm_ops/jobs.c \
	src/plugins/slurm_ops/node_repair.c \
	src/plugins/slurm_ops/node_state.c \
	src/plugins/slurm_ops/ops.c src/plugins/slurm_ops/ops.h \
	src/plugins/slurm_ops/ops_i.h \
	src/plugins/slurm_ops/planned_jobs.c \
	src/plugins/slurm_ops/reservations.c
src_plugins_select_cons_tres_vsphere_la_CPPFLAGS = $(plugin_cppflags)
src_plugins_select_cons_tres_vsphere_la_LDFLAGS = $(plugin_ldflags)
src_plugins_select_cons_tres_vsphere_la_LIBADD = \
	src/plugins/libvs_conf.la src/plugins/libvs_plugin.la

src_plugins_prep_vsphere_la_SOURCES = \
	src/plugins/job_assignment.c src/plugins/job_assignment.h \
	src/plugins/guest_files.c src/plugins/guest_files.h \
	src/plugins/slurm/release_check.c \
	src/plugins/prep/vsphere/device_check.c \
	src/plugins/prep/vsphere/device_check.h \
	src/plugins/prep/vsphere/check_process.c \
	src/plugins/prep/vsphere/check_process.h \
	src/plugins/prep/vsphere/prep_vsphere.c \
	src/plugins/prep/vsphere/requeue_now.c \
	src/plugins/prep/vsphere/requeue_now.h
src_plugins_prep_vsphere_la_CPPFLAGS = $(plugin_cppflags)
src_plugins_prep_vsphere_la_LDFLAGS = $(plugin_ldflags)
src_plugins_prep_vsphere_la_LIBADD = src/plugins/libvs_plugin.la

src_plugins_job_submit_vsphere_la_SOURCES = \
	src/plugins/job_assignment.c src/plugins/job_assignment.h \
	src/plugins/job_env.c src/plugins/job_env.h \
	src/plugins/license_text.h \
	src/plugins/job_submit/vsphere/constraint.c \
	src/plugins/job_submit/vsphere/constraint.h \
	src/plugins/job_submit/vsphere/constraint_names.c \
	src/plugins/job_submit/vsphere/constraint_names.h \
	src/plugins/job_submit/vsphere/feasibility.c \
	src/plugins/job_submit/vsphere/feasibility.h \
	src/plugins/job_submit/vsphere/job_submit_vsphere.c \
	src/plugins/job_submit/vsphere/messages.c \
	src/plugins/job_submit/vsphere/node_map.c \
	src/plugins/job_submit/vsphere/node_map.h \
	src/plugins/job_submit/vsphere/partition_fit.c \
	src/plugins/job_submit/vsphere/request.c \
	src/plugins/job_submit/vsphere/request.h \
	src/plugins/slurm/release_check.c
src_plugins_job_submit_vsphere_la_CPPFLAGS = $(plugin_cppflags)
src_plugins_job_submit_vsphere_la_LDFLAGS = $(plugin_ldflags)
src_plugins_job_submit_vsphere_la_LIBADD = src/plugins/libvs_plugin.la

# Alone: of Slurm it needs what spank.h promises, of the rest libc.
src_plugins_spank_vsphere_la_SOURCES = \
	src/plugins/job_assignment.h \
	src/plugins/guest_files.c src/plugins/guest_files.h \
	src/plugins/spank/task_env.c src/plugins/spank/task_env.h \
	src/plugins/spank/spank_vsphere.c
src_plugins_spank_vsphere_la_CPPFLAGS = $(plugin_cppflags)
src_plugins_spank_vsphere_la_LDFLAGS = $(plugin_ldflags)
