/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds and opens the core. RTLD_LOCAL: its libraries' names must not meet
 * slurmctld's; RTLD_NOW: what is missing is said at start, not in the middle of
 * a job. Never called in clients, which get along without curl and json-c.
 */
#include <dlfcn.h>
#include <string.h>
#include "core_loader.h"
#include "plugins/slurm/call_timing.h"
#include "util/mem.h"

#define CORE_NAME "libslurm_vsphere.so"

const struct vs_core_api *vs_core_open(struct vs_err *err)
{
	static const char here;
	const struct vs_core_api *(*get)(void);
	const struct vs_core_api *api;
	VS_FREE char *path = NULL;
	const char *slash;
	Dl_info info;
	void *handle;

	if (!dladdr(&here, &info) || !info.dli_fname ||
	    !(slash = strrchr(info.dli_fname, '/'))) {
		vs_err_set(err, VS_E_BUG, "this plugin's own path is unknown");
		return NULL;
	}
	path = vs_asprintf("%.*s/%s", (int)(slash - info.dli_fname),
			   info.dli_fname, CORE_NAME);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		vs_err_set(err, VS_E_CONFIG, "the core cannot be loaded: %s",
			   dlerror());
		return NULL;
	}
	*(void **)&get = dlsym(handle, "vs_core_api_get");
	if (!get) {
		vs_err_set(err, VS_E_CONFIG, "%s has no vs_core_api_get: "
			   "install core and plugins of one release", path);
		return NULL;
	}
	api = get();
	if (api->version != VS_CORE_API_VERSION) {
		vs_err_set(err, VS_E_CONFIG, "%s speaks version %u, this plugin "
			   "%u: install core and plugins of one release", path,
			   api->version, (unsigned int)VS_CORE_API_VERSION);
		return NULL;
	}
	vs_timed_to(api);
	return api;
}
