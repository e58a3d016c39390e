# SPDX-License-Identifier: GPL-2.0-or-later
# The manual pages. Verbs, options, findings and keys come from the tables of the
# code, which svf prints.
man_pages = man/slurm-vsphere.7 man/slurm-vsphere-guest.8 \
	man/slurm-vsphere-health.8 man/svf.1 man/svf-check-codes.7 \
	man/svf-probe.1 man/vsphere.conf.5 man/vsphere-health.conf.5
man_MANS = $(man_pages)
EXTRA_DIST += man/man.awk man/slurm-vsphere.7.in \
	man/slurm-vsphere-guest.8.in man/slurm-vsphere-health.8.in \
	man/svf.1.in man/svf-check-codes.7.in man/svf-probe.1.in \
	man/vsphere.conf.5.in man/vsphere-health.conf.5.in
CLEANFILES = $(man_pages) man/tables
man/tables: src/svf/svf$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) man && { src/svf/svf --tables && echo keys && \
		src/svf/svf conf --keys --long; } > $@.tmp && mv $@.tmp $@
$(man_pages): man/man.awk man/tables
	$(AM_V_GEN)$(AWK) -v version=$(PACKAGE_VERSION) \
		-f $(top_srcdir)/man/man.awk man/tables \
		$(top_srcdir)/$@.in > $@.tmp && mv $@.tmp $@
man/slurm-vsphere.7: man/slurm-vsphere.7.in
man/slurm-vsphere-guest.8: man/slurm-vsphere-guest.8.in
man/slurm-vsphere-health.8: man/slurm-vsphere-health.8.in
man/svf.1: man/svf.1.in
man/svf-check-codes.7: man/svf-check-codes.7.in
man/svf-probe.1: man/svf-probe.1.in
man/vsphere.conf.5: man/vsphere.conf.5.in
man/vsphere-health.conf.5: man/vsphere-health.conf.5.in
