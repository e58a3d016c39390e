# SPDX-License-Identifier: GPL-2.0-or-later
# svf links the few files of the core that it needs, so that a login node
# wants neither curl nor Slurm for it.
bin_PROGRAMS += src/svf/svf
src_svf_svf_SOURCES = \
	src/common/engine/state/config.c \
	src/common/engine/rpc/message.c \
	src/common/plan/devices/adapter_type.c \
	src/common/plan/devices/pci_address_list.c \
	src/common/plan/checks/check_codes.c \
	src/common/plan/devices/vgpu_name.c \
	src/common/util/buf.c \
	src/common/util/err.c \
	src/common/util/hostlist.c \
	src/common/util/json.c \
	src/common/util/log.c \
	src/common/util/mem.c \
	src/common/util/ipv4.c src/common/util/name.c \
	src/common/util/seal.c src/common/util/secret_file.c \
	src/common/util/time.c \
	src/svf/checks/checks.h src/svf/checks/codes.c src/svf/checks/names.c \
	src/svf/complete.c \
	src/svf/list/command.h src/svf/list/filter.c src/svf/list/list.h \
	src/svf/list/near.c src/svf/list/notes.c src/svf/list/show.c \
	src/svf/list/table.c src/svf/list/view.c \
	src/svf/local/local.h src/svf/local/program.c \
	src/svf/local/scrub.c src/svf/local/scrub.h \
	src/svf/local/standalone.c src/svf/local/support.c \
	src/svf/main.c src/svf/options.c \
	src/svf/map/map.c src/svf/map/map.h src/svf/map/svg.c src/svf/map/xml.c \
	src/svf/rpc/ask.c src/svf/rpc/clean.c src/svf/rpc/rpc.h src/svf/rpc/usage_error.c \
	src/svf/rpc/where.c \
	src/svf/top/ask.c src/svf/top/cells.c src/svf/top/curses.c \
	src/svf/top/draw.c src/svf/top/hosts.c src/svf/top/line.c \
	src/svf/top/model.c src/svf/top/search.c src/svf/top/side.c \
	src/svf/top/top.c src/svf/top/top.h \
	src/svf/usage.c \
	src/svf/verb_table.c src/svf/verb_table.h \
	src/svf/verbs/adapters.c \
	src/svf/verbs/check.c \
	src/svf/verbs/conf.c \
	src/svf/verbs/host.c \
	src/svf/verbs/hosts.c \
	src/svf/verbs/jobs.c \
	src/svf/verbs/nodes.c \
	src/svf/verbs/clone_sources.c \
	src/svf/verbs/pause.c \
	src/svf/verbs/plan.c \
	src/svf/verbs/reconcile.c \
	src/svf/verbs/sbatch.c src/svf/verbs/sbatch.h \
	src/svf/verbs/status.c \
	src/svf/verbs/verbs.h \
	src/svf/verbs/vm.c \
	src/svf/verbs/when.c \
	src/svf/verbs/why.c
src_svf_svf_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src \
	-DSVF_PKGDATADIR='"$(pkgdatadir)"' \
	-DSVF_PKGLIBEXECDIR='"$(pkglibexecdir)"' -DSVF_BINDIR='"$(bindir)"'
src_svf_svf_CFLAGS = $(AM_CFLAGS) $(JSONC_CFLAGS) $(NCURSES_CFLAGS)
src_svf_svf_LDADD = src/plugins/libvs_conf.la $(JSONC_LIBS) $(MUNGE_LIBS) \
	$(NCURSES_LIBS)

# The form of the answers of --json, a file for each verb.
schemadir = $(pkgdatadir)/schema
dist_schema_DATA = \
	src/svf/schema/adapters.json \
	src/svf/schema/adopt.json \
	src/svf/schema/check.json \
	src/svf/schema/clone-sources.json \
	src/svf/schema/conf.json \
	src/svf/schema/host.json \
	src/svf/schema/hosts.json \
	src/svf/schema/jobs.json \
	src/svf/schema/map.json \
	src/svf/schema/meta.json \
	src/svf/schema/nodes.json \
	src/svf/schema/pause.json \
	src/svf/schema/plan.json \
	src/svf/schema/reconcile.json \
	src/svf/schema/resume.json \
	src/svf/schema/status.json \
	src/svf/schema/support.json \
	src/svf/schema/vm.json \
	src/svf/schema/why.json

# The shells ask svf itself.
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
EXTRA_DIST += src/svf/completion.bash src/svf/completion.zsh
install-data-local:
	$(MKDIR_P) $(DESTDIR)$(bashcompletiondir) $(DESTDIR)$(zshcompletiondir)
	$(INSTALL_DATA) $(srcdir)/src/svf/completion.bash \
		$(DESTDIR)$(bashcompletiondir)/svf
	$(INSTALL_DATA) $(srcdir)/src/svf/completion.zsh \
		$(DESTDIR)$(zshcompletiondir)/_svf
uninstall-local:
	rm -f $(DESTDIR)$(bashcompletiondir)/svf \
		$(DESTDIR)$(zshcompletiondir)/_svf
