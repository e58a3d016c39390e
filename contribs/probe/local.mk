# SPDX-License-Identifier: GPL-2.0-or-later
# svf-probe, for administrators. It links the client itself, for the core lets
# out one name alone.
bin_PROGRAMS += contribs/probe/svf-probe
contribs_probe_svf_probe_SOURCES = \
	contribs/probe/checks.c \
	contribs/probe/contact.c \
	contribs/probe/forms.c \
	contribs/probe/link.c \
	contribs/probe/main.c \
	contribs/probe/options.c \
	contribs/probe/power.c \
	contribs/probe/probe.h \
	contribs/probe/read.c \
	contribs/probe/record.c \
	contribs/probe/report.c \
	contribs/probe/scrub.c \
	contribs/probe/vm.c \
	contribs/probe/vms.c \
	contribs/probe/watch.c \
	contribs/probe/wire.c
contribs_probe_svf_probe_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src
contribs_probe_svf_probe_LDADD = src/plugins/libvs_conf.la \
	src/common/libvs_core.la
EXTRA_DIST += contribs/probe/README.md
