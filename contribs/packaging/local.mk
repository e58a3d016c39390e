# SPDX-License-Identifier: GPL-2.0-or-later
# What is installed besides programs, what a release holds besides sources, and
# the check before anything is copied.

# Of the template; packages put the units where their systemd looks.
dist_sbin_SCRIPTS = contribs/guest/slurm-vsphere-guest \
	contribs/health/slurm-vsphere-health
guestdir = $(pkgdatadir)/guest
dist_guest_DATA = contribs/guest/README.md \
	contribs/guest/slurm-vsphere-freeze.service \
	contribs/guest/slurm-vsphere-identity.service \
	contribs/guest/slurm-vsphere-slurmd.service
# Of the controller.
healthdir = $(pkgdatadir)/health
dist_health_SCRIPTS = contribs/health/pair.sbatch
dist_health_DATA = contribs/health/README.md contribs/health/choose.py \
	contribs/health/job.py contribs/health/judge.py \
	contribs/health/keep.py contribs/health/perf.py \
	contribs/health/slurm-vsphere-health.service \
	contribs/health/slurm-vsphere-health.timer
vhpcimportdir = $(pkgdatadir)/vhpc-import
dist_vhpcimport_SCRIPTS = contribs/vhpc-import/vhpc-import
examplesdir = $(docdir)/examples
dist_examples_DATA = contribs/vsphere.conf contribs/health/vsphere-health.conf
monitoringdir = $(examplesdir)/monitoring
dist_monitoring_DATA = contribs/monitoring/alerts.yml \
	contribs/monitoring/alerts_test.yml contribs/monitoring/grafana.json
# Documents keep their folders, so that links between them lead somewhere.
nobase_dist_doc_DATA = README.md NEWS.md CONTRIBUTING.md SECURITY.md HACKING.md \
	doc/README.md doc/quickstart.md doc/install.md doc/existing-cluster.md \
	doc/upgrade.md doc/user-guide.md doc/troubleshooting.md doc/security.md \
	doc/sizing.md doc/performance.md doc/limitations.md doc/compatibility.md \
	doc/comparison.md doc/from-vhpc-toolkit.md \
	doc/admin/hosts.md doc/admin/vcenter.md doc/admin/template.md \
	doc/admin/controller.md doc/admin/production.md \
	doc/operations/maintenance.md doc/operations/monitoring.md \
	doc/operations/accounting.md doc/operations/health-tests.md \
	doc/operations/backup.md doc/operations/guest-boot.md \
	doc/operations/guest-trouble.md \
	doc/features/adapters.md doc/features/devices-gpu.md doc/features/clones.md \
	doc/features/prefetch.md doc/features/preemption.md \
	doc/features/addresses.md doc/features/placement.md \
	doc/dev/decisions.md doc/dev/glossary.md doc/dev/node-states.md \
	doc/dev/process-boundary.md doc/dev/release.md doc/dev/testing.md \
	doc/dev/where.md \
	doc/pictures/map.svg \
	contribs/guest/README.md contribs/health/README.md contribs/monitoring/README.md \
	contribs/probe/README.md

# ---- the release ---------------------------------------------------------------

# Directories in which nothing is built go as they are, of the others the files
# that the build doesn't know. check.sh lint compares a release with what git has.
debian = debian/README.source debian/changelog debian/clean debian/control \
	debian/copyright debian/rules debian/source/format \
	debian/slurm-vsphere.docs debian/slurm-vsphere.examples \
	debian/slurm-vsphere.install debian/slurm-vsphere.lintian-overrides \
	debian/slurm-vsphere.manpages \
	debian/slurm-vsphere-client.install debian/slurm-vsphere-client.manpages \
	debian/not-installed \
	debian/slurm-vsphere-guest.docs debian/slurm-vsphere-guest.install \
	debian/slurm-vsphere-guest.lintian-overrides \
	debian/slurm-vsphere-guest.manpages \
	debian/slurm-vsphere-prep.install debian/slurm-vsphere-prep.preinst \
	debian/slurm-vsphere-select.install debian/slurm-vsphere-select.preinst
EXTRA_DIST += contribs/guest/simulator-hook slurm-vsphere.spec $(debian) \
	contribs/packaging/release.sh contribs/packaging/slurm-source.sh \
	testsuite/check testsuite/contribs testsuite/demo testsuite/golden testsuite/guests \
	testsuite/lib testsuite/lint testsuite/matrix \
	testsuite/slurm testsuite/system testsuite/upgrade testsuite/vcsim
dist_by_name = contribs/*.sh \
	testsuite/bench/*.py \
	testsuite/guest/*.py \
	testsuite/replay/*.py \
	testsuite/crash/*.py
dist-hook:
	here=`pwd` && cd $(srcdir) && \
	for f in $(dist_by_name); do \
		test ! -f $$f || { to=$$here/$(distdir)/$$f; \
			case $(distdir) in /*) to=$(distdir)/$$f;; esac; \
			$(MKDIR_P) `dirname $$to` && cp -p $$f $$to; } || exit 1; \
	done
	find $(distdir) '(' -name __pycache__ -o -name .pytest_cache -o -name .gitignore ')' \
		 -prune -exec rm -rf {} +

# Of the commit that is checked out: doc/dev/release.md.
release:
	$(SHELL) $(abs_top_srcdir)/contribs/packaging/release.sh $(abs_top_builddir)/release-$(VERSION)
.PHONY: release

# Into the plugin directory of no Slurm that is here: configure takes this build's
# for another release. A release must build wherever its Slurm's source is.
AM_DISTCHECK_CONFIGURE_FLAGS = --with-slurm-source=$(SLURM_SOURCE) \
	--with-slurm-plugindir=$$dc_install_base/lib/slurm

# ---- install -------------------------------------------------------------------

# Before the first file is copied: configure looked at the Slurm of that day. A
# variable as target, or automake takes these rules for replacements of its own.
installs = install-binPROGRAMS install-sbinPROGRAMS \
	install-slurmpluginLTLIBRARIES \
	install-dist_sbinSCRIPTS install-dist_guestDATA \
	install-dist_recipeansibleDATA install-dist_reciperoledefaultsDATA \
	install-dist_reciperolemetaDATA install-dist_reciperoletasksDATA \
	install-dist_reciperoletemplatesDATA install-dist_reciperolevarsDATA \
	install-dist_recipepackerDATA install-dist_recipepackerhttpDATA \
	install-dist_healthSCRIPTS install-dist_healthDATA \
	install-dist_vhpcimportSCRIPTS \
	install-dist_examplesDATA install-dist_monitoringDATA \
	install-nobase_dist_docDATA install-man1 install-man5 \
	install-man7 install-man8
$(installs): refuse-other-slurm
refuse-other-slurm:
	@lib=$(DESTDIR)$(slurmplugindir)/libslurmfull.so; \
	test -f "$$lib" || exit 0; \
	here=`tr '\0' '\n' <"$$lib" | LC_ALL=C grep -axE '[0-9]{2}\.[0-9]{2}\.[0-9]+(-?[a-z0-9]+)?'`; \
	case " "`echo $$here`" " in *" $(SLURM_RELEASE) "*) exit 0;; esac; \
	echo "make install: the Slurm in $(DESTDIR)$(slurmplugindir) is `echo $${here:-of an unknown release}`, and this was built for $(SLURM_RELEASE): nothing is installed; configure again with the source of exactly that Slurm (contribs/packaging/slurm-source.sh brings it)" >&2; \
	exit 1
.PHONY: refuse-other-slurm

# A plugin has no use for libtool's archives, and uninstall none without them.
install-data-hook:
	cd $(DESTDIR)$(slurmplugindir) && rm -f libslurm_vsphere.la \
		select_cons_tres_vsphere.la prep_vsphere.la \
		spank_vsphere.la job_submit_vsphere.la
uninstall-hook:
	cd $(DESTDIR)$(slurmplugindir) && rm -f libslurm_vsphere.so \
		select_cons_tres_vsphere.so prep_vsphere.so \
		spank_vsphere.so job_submit_vsphere.so
