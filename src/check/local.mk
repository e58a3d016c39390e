# SPDX-License-Identifier: GPL-2.0-or-later
# slurm-vsphere-check, for svf check --standalone, on the controller. It has Slurm's
# parser of slurm.conf, the plugins' parts that need no slurmctld, and the core.
if HAVE_SLURMFULL
pkglibexec_PROGRAMS += src/check/slurm-vsphere-check
src_check_slurm_vsphere_check_SOURCES = \
	src/check/check.h \
	src/check/main.c \
	src/check/slurm_side.c \
	src/plugins/conf/load.c src/plugins/conf/load.h \
	src/plugins/slurm/conf_check.c src/plugins/slurm/conf_check.h
src_check_slurm_vsphere_check_CPPFLAGS = $(plugin_cppflags)
src_check_slurm_vsphere_check_CFLAGS = $(AM_CFLAGS) $(JSONC_CFLAGS)
src_check_slurm_vsphere_check_LDADD = src/plugins/libvs_conf.la \
	src/common/libvs_core.la $(SLURMFULL_LIBS)
endif
