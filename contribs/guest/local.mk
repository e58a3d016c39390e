# SPDX-License-Identifier: GPL-2.0-or-later
# slurm-vsphere-port, for the template: needs libibverbs, and no Slurm.
sbin_PROGRAMS += contribs/guest/slurm-vsphere-port
port_sources = contribs/guest/port.h \
	contribs/guest/port_find.c \
	contribs/guest/port_judge.c \
	contribs/guest/port_random.c \
	src/common/util/err.c src/common/util/mem.c
contribs_guest_slurm_vsphere_port_SOURCES = contribs/guest/port.c \
	$(port_sources)
contribs_guest_slurm_vsphere_port_CFLAGS = $(AM_CFLAGS) $(IBVERBS_CFLAGS)
contribs_guest_slurm_vsphere_port_LDADD = $(IBVERBS_LIBS)

# The same program over a libibverbs that a file tells what to show: for
# simulator-hook, in tests and in the demo.
noinst_PROGRAMS += testsuite/guest/simulated-port
testsuite_guest_simulated_port_SOURCES = contribs/guest/port.c \
	testsuite/guest/fake_verbs.c $(port_sources)
testsuite_guest_simulated_port_CFLAGS = $(AM_CFLAGS) $(IBVERBS_CFLAGS)
