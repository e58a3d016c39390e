/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm refuses a plugin of another release, with a line that names numbers and
 * no remedy. The daemons' logs get one from here before it, when the loader has
 * just mapped the plugin. Refusing stays Slurm's.
 *
 * In a Slurm that may be any, nothing of it is called by its headers: its log is
 * looked up by name. Commands and steps, which come and go, are not kept waiting.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include "vs_config.h"

struct library {
	const void *address;	/* something in it */
	bool found;		/* it is mapped */
	bool has_release;
};

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct library *lib = arg;
	uintptr_t at = (uintptr_t)lib->address;
	bool ours = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type == PT_LOAD && at >= from &&
		    at - from < info->dlpi_phdr[i].p_memsz)
			ours = true;
	}
	for (int i = 0; ours && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		/* sizeof: with the end of the string. */
		if (p->p_type == PT_LOAD && !(p->p_flags & PF_W) &&
		    memmem((void *)(info->dlpi_addr + p->p_vaddr), p->p_filesz,
			   VS_SLURM_RELEASE, sizeof(VS_SLURM_RELEASE)))
			lib->has_release = true;
	}
	lib->found = lib->found || ours;
	return ours;
}

__attribute__((constructor)) static void release_check(void)
{
	static const char here;
	void (*say)(const char *format, ...);
	struct library slurm = { 0 };
	Dl_info self;

	if (strcmp(program_invocation_short_name, "slurmctld") &&
	    strcmp(program_invocation_short_name, "slurmd"))
		return;
	slurm.address = dlsym(RTLD_DEFAULT, "slurm_api_version");
	*(void **)&say = dlsym(RTLD_DEFAULT, "slurm_error");
	if (!slurm.address || !say || !dladdr(&here, &self))
		return;
	dl_iterate_phdr(look, &slurm);
	if (slurm.found && !slurm.has_release)
		say("slurm-vsphere: %s was built for Slurm %s, this %s is of another release: install the plugins that were built from exactly its source (doc/install.md)",
		    self.dli_fname, VS_SLURM_RELEASE,
		    program_invocation_short_name);
}
