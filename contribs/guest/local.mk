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

# How the template is made, by Ansible and Packer. A site copies the folder.
recipedir = $(pkgdatadir)/template
recipeansibledir = $(recipedir)/ansible
reciperoledir = $(recipeansibledir)/roles/slurm_vsphere_guest
reciperoledefaultsdir = $(reciperoledir)/defaults
reciperolemetadir = $(reciperoledir)/meta
reciperoletasksdir = $(reciperoledir)/tasks
reciperoletemplatesdir = $(reciperoledir)/templates
reciperolevarsdir = $(reciperoledir)/vars
recipepackerdir = $(recipedir)/packer
recipepackerhttpdir = $(recipepackerdir)/http
guest_role = contribs/guest/ansible/roles/slurm_vsphere_guest
dist_recipeansible_DATA = contribs/guest/ansible/template.yml
dist_reciperoledefaults_DATA = $(guest_role)/defaults/main.yml
dist_reciperolemeta_DATA = $(guest_role)/meta/argument_specs.yml \
	$(guest_role)/meta/main.yml
dist_reciperoletasks_DATA = $(guest_role)/tasks/check.yml \
	$(guest_role)/tasks/configure.yml \
	$(guest_role)/tasks/installed.yml \
	$(guest_role)/tasks/main.yml \
	$(guest_role)/tasks/networkd.yml \
	$(guest_role)/tasks/packages.yml \
	$(guest_role)/tasks/product_packages.yml \
	$(guest_role)/tasks/product_tree.yml \
	$(guest_role)/tasks/seal.yml
dist_reciperoletemplates_DATA = $(guest_role)/templates/ssh-host-keys.service.j2
dist_reciperolevars_DATA = $(guest_role)/vars/Debian-12.yml \
	$(guest_role)/vars/RedHat-9.yml \
	$(guest_role)/vars/main.yml
dist_recipepacker_DATA = contribs/guest/packer/build.pkr.hcl \
	contribs/guest/packer/example.pkrvars.hcl \
	contribs/guest/packer/plugins.pkr.hcl \
	contribs/guest/packer/sources.pkr.hcl \
	contribs/guest/packer/variables.pkr.hcl
dist_recipepackerhttp_DATA = contribs/guest/packer/http/ks.cfg \
	contribs/guest/packer/http/preseed.cfg
