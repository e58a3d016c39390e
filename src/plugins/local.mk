# SPDX-License-Identifier: GPL-2.0-or-later
# The plugins. What both of them link lies in a convenience library; the files
# of the core's util that they need are compiled in (libc only), so that client
# commands, which load the select plugin, load neither curl nor json-c.
# Never -z now: clients lack slurmctld's functions. nodelete: the core's thread
# calls into the plugins even when slurmctld has closed them.
noinst_LTLIBRARIES += src/plugins/libvs_conf.la src/plugins/libvs_plugin.la

# vsphere.conf without Slurm: svf links it too.
src_plugins_libvs_conf_la_SOURCES = \
	src/plugins/vs_conf_adapter.c src/plugins/vs_conf_adapter.h \
	src/plugins/vs_conf_file.h \
	src/plugins/vs_conf_fill.c \
	src/plugins/vs_conf_hardware.c src/plugins/vs_conf_hardware.h \
	src/plugins/vs_conf_net.c src/plugins/vs_conf_net.h \
	src/plugins/vs_conf_scan.c \
	src/plugins/vs_conf_table.c src/plugins/vs_conf_table.h

plugin_cppflags = $(AM_CPPFLAGS) -I$(SLURM_SOURCE) \
	-I$(top_srcdir)/src/plugins
plugin_ldflags = $(AM_LDFLAGS) -module -avoid-version -shared \
	-Wl,-z,lazy -Wl,-z,nodelete

src_plugins_libvs_plugin_la_SOURCES = \
	src/common/engine/conf.c \
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
	src/plugins/bits.h \
	src/plugins/core_open.c src/plugins/core_open.h \
	src/plugins/slurm_compat.c src/plugins/slurm_compat.h \
	src/plugins/timed.c src/plugins/timed.h
src_plugins_libvs_plugin_la_CPPFLAGS = $(plugin_cppflags)

slurmplugin_LTLIBRARIES += src/plugins/select_cons_tres_vsphere.la \
	src/plugins/prep_vsphere.la src/plugins/spank_vsphere.la \
	src/plugins/job_submit_vsphere.la

src_plugins_select_cons_tres_vsphere_la_SOURCES = \
	src/plugins/got.c src/plugins/got.h \
	src/plugins/job_env.c src/plugins/job_env.h \
	src/plugins/license_text.h \
	src/plugins/release_check.c \
	src/plugins/select/cons_tres_vsphere/account.c \
	src/plugins/select/cons_tres_vsphere/account.h \
	src/plugins/select/cons_tres_vsphere/cluster.c \
	src/plugins/select/cons_tres_vsphere/cluster.h \
	src/plugins/select/cons_tres_vsphere/ever.c \
	src/plugins/select/cons_tres_vsphere/ever.h \
	src/plugins/select/cons_tres_vsphere/job_test.c \
	src/plugins/select/cons_tres_vsphere/job_test.h \
	src/plugins/select/cons_tres_vsphere/offer.c \
	src/plugins/select/cons_tres_vsphere/offer.h \
	src/plugins/select/cons_tres_vsphere/preempt.c \
	src/plugins/select/cons_tres_vsphere/preempt.h \
	src/plugins/select/cons_tres_vsphere/refuse.c \
	src/plugins/select/cons_tres_vsphere/refuse.h \
	src/plugins/select/cons_tres_vsphere/select_cons_tres_vsphere.c \
	src/plugins/select/cons_tres_vsphere/surplus.c \
	src/plugins/select/cons_tres_vsphere/surplus.h \
	src/plugins/select/cons_tres_vsphere/weights.c \
	src/plugins/select/cons_tres_vsphere/weights.h \
	src/plugins/select/cons_tres_vsphere/when.c \
	src/plugins/select/cons_tres_vsphere/when.h \
	src/plugins/select/cons_tres_vsphere/widen.c \
	src/plugins/select/cons_tres_vsphere/widen.h \
	src/plugins/slurm_check.c src/plugins/slurm_check.h \
	src/plugins/slurm_port_check.c \
	src/plugins/slurm_port.c src/plugins/slurm_port.h \
	src/plugins/slurm_port_resv.c src/plugins/slurm_port_stays.c \
	src/plugins/slurm_port_ahead.c src/plugins/slurm_port_i.h \
	src/plugins/slurm_port_got.c \
	src/plugins/slurm_port_jobs.c \
	src/plugins/slurm_port_repair.c \
	src/plugins/slurm_port_node.c \
	src/plugins/vs_conf_nodes.c \
	src/plugins/vs_conf_slurm.c src/plugins/vs_conf_slurm.h
src_plugins_select_cons_tres_vsphere_la_CPPFLAGS = $(plugin_cppflags)
src_plugins_select_cons_tres_vsphere_la_LDFLAGS = $(plugin_ldflags)
src_plugins_select_cons_tres_vsphere_la_LIBADD = \
	src/plugins/libvs_conf.la src/plugins/libvs_plugin.la

src_plugins_prep_vsphere_la_SOURCES = \
	src/plugins/got.c src/plugins/got.h \
	src/plugins/guest.c src/plugins/guest.h \
	src/plugins/release_check.c \
	src/plugins/prep/vsphere/device.c src/plugins/prep/vsphere/device.h \
	src/plugins/prep/vsphere/port_ask.c \
	src/plugins/prep/vsphere/port_ask.h \
	src/plugins/prep/vsphere/prep_vsphere.c \
	src/plugins/prep/vsphere/unlaunched.c \
	src/plugins/prep/vsphere/unlaunched.h
src_plugins_prep_vsphere_la_CPPFLAGS = $(plugin_cppflags)
src_plugins_prep_vsphere_la_LDFLAGS = $(plugin_ldflags)
src_plugins_prep_vsphere_la_LIBADD = src/plugins/libvs_plugin.la

src_plugins_job_submit_vsphere_la_SOURCES = \
	src/plugins/got.c src/plugins/got.h \
	src/plugins/job_env.c src/plugins/job_env.h \
	src/plugins/license_text.h \
	src/plugins/release_check.c \
	src/plugins/job_submit/vsphere/constraint.c \
	src/plugins/job_submit/vsphere/constraint.h \
	src/plugins/job_submit/vsphere/job_submit_vsphere.c \
	src/plugins/job_submit/vsphere/judge.c \
	src/plugins/job_submit/vsphere/judge.h \
	src/plugins/job_submit/vsphere/names.c \
	src/plugins/job_submit/vsphere/names.h \
	src/plugins/job_submit/vsphere/ours.c \
	src/plugins/job_submit/vsphere/ours.h \
	src/plugins/job_submit/vsphere/wish.c \
	src/plugins/job_submit/vsphere/wish.h \
	src/plugins/job_submit/vsphere/words.c
src_plugins_job_submit_vsphere_la_CPPFLAGS = $(plugin_cppflags)
src_plugins_job_submit_vsphere_la_LDFLAGS = $(plugin_ldflags)
src_plugins_job_submit_vsphere_la_LIBADD = src/plugins/libvs_plugin.la

# Alone: of Slurm it needs what spank.h promises, of the rest libc.
src_plugins_spank_vsphere_la_SOURCES = \
	src/plugins/got.h \
	src/plugins/guest.c src/plugins/guest.h \
	src/plugins/spank/env.c src/plugins/spank/env.h \
	src/plugins/spank/spank_vsphere.c
src_plugins_spank_vsphere_la_CPPFLAGS = $(plugin_cppflags)
src_plugins_spank_vsphere_la_LDFLAGS = $(plugin_ldflags)
