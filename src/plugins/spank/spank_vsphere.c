/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spank_vsphere: tells each task which adapter its VM has and where: variables
 * of its environment (task_env.h). On the stable interface for plugins of sites,
 * which is all that it sees of Slurm. In plugstack.conf:
 *
 *   optional spank_vsphere.so [env=yes|no]
 *
 * Rules: it connects to no server, reads two small files of its node, and fails
 * no job. On a machine that is no managed VM it sets nothing. The user's option
 * (--vsphere-env) goes before the site's.
 */
#include <slurm/spank.h>
#include <string.h>
#include "task_env.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT extern const char plugin_name[], plugin_type[];
EXPORT extern const unsigned int plugin_version, spank_plugin_version;

SPANK_PLUGIN(vsphere, 1)

static bool wanted = true, asked;

static int yes_or_no(const char *word, bool *yes)
{
	*yes = word && !strcmp(word, "yes");
	return *yes || (word && !strcmp(word, "no")) ? 0 : -1;
}

static int option_given(int val, const char *optarg, int remote)
{
	bool yes;

	(void)val;
	(void)remote;
	if (yes_or_no(optarg, &yes)) {
		slurm_error("--vsphere-env=%s: expected yes or no",
			    optarg ? optarg : "");
		return -1;
	}
	wanted = yes;
	asked = true;
	return 0;
}

/* A table of the plugin's would not reach sbatch and salloc. */
static struct spank_option option = {
	(char *)"vsphere-env", (char *)"yes|no",
	(char *)"set SLURM_VSPHERE_* in each task's environment, and UCX's and NCCL's variables to the VM's RDMA adapter (default: yes)",
	1, 0, option_given
};

EXPORT int slurm_spank_init(spank_t sp, int argc, char *argv[]);
int slurm_spank_init(spank_t sp, int argc, char *argv[])
{
	for (int i = 0; i < argc; i++) {
		bool yes;

		if (strncmp(argv[i], "env=", 4) ||
		    yes_or_no(argv[i] + 4, &yes)) {
			slurm_error("spank_vsphere: plugstack.conf: \"%s\": expected env=yes or env=no",
				    argv[i]);
			return -1;
		}
		if (!asked)
			wanted = yes;
	}
	return spank_option_register(sp, &option) == ESPANK_SUCCESS ? 0 : -1;
}

/* In slurmstepd, once for all tasks of the node, with the user's rights. */
EXPORT int slurm_spank_user_init(spank_t sp, int argc, char *argv[]);
int slurm_spank_user_init(spank_t sp, int argc, char *argv[])
{
	struct vs_guest g;

	(void)argc;
	(void)argv;
	vs_guest_read(&g);
	vs_env_make(sp, wanted && g.ready ? &g : NULL);
	return 0;
}
