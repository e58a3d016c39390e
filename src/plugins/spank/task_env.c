/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See task_env.h. UCX_NET_DEVICES and the like belong to the user. What we put there
 * ourselves is remembered in SLURM_VSPHERE_SET, "NAME=VALUE NAME=VALUE", so that
 * it is told from the user's own when it comes back in a step's environment.
 */
#include <stdio.h>
#include <string.h>
#include "task_env.h"

#define SET_NAME "SLURM_VSPHERE_SET"
#define VALUE_MAX 4096

/* One row per variable; libraries': the user's own value has precedence. */
static const struct row {
	const char *name;
	size_t at;
	bool library;
} rows[] = {
	{ "SLURM_VSPHERE_ADAPTER", offsetof(struct vs_guest, adapter), false },
	{ "SLURM_VSPHERE_HOST", offsetof(struct vs_guest, place.host), false },
	{ "SLURM_VSPHERE_PF", offsetof(struct vs_guest, place.pfs), false },
	{ "SLURM_VSPHERE_MAC", offsetof(struct vs_guest, macs), false },
	{ "SLURM_VSPHERE_DEVICE", offsetof(struct vs_guest, devices), false },
	{ "UCX_NET_DEVICES", offsetof(struct vs_guest, ports), true },
	{ "NCCL_IB_HCA", offsetof(struct vs_guest, devices), true },
	{ "UCX_IB_GID_INDEX", offsetof(struct vs_guest, gid_index), true },
	{ "NCCL_IB_GID_INDEX", offsetof(struct vs_guest, gid_index), true },
};

/* Is "NAME=VALUE" one of the words in set? */
static bool is_among(const char *set, const char *name, const char *value)
{
	size_t nlen = strlen(name), vlen = strlen(value);

	for (const char *at = set; at; at = strchr(at, ' ')) {
		at += *at == ' ';
		if (!strncmp(at, name, nlen) && at[nlen] == '=' &&
		    !strncmp(at + nlen + 1, value, vlen) &&
		    strchr(" ", at[nlen + 1 + vlen]))
			return true;
	}
	return false;
}

static void note(char set[VALUE_MAX], const char *name, const char *value)
{
	size_t len = strlen(set);

	snprintf(set + len, VALUE_MAX - len, "%s%s=%s", len ? " " : "", name,
		 value);
}

/* Returns whether the variable is set. spank_getenv() cuts a value that is too long. */
static bool get(spank_t sp, const char *name, char *value, size_t size)
{
	spank_err_t rc = spank_getenv(sp, name, value, (int)size);

	return rc == ESPANK_SUCCESS || rc == ESPANK_NOSPACE;
}

void vs_env_make(spank_t sp, const struct vs_guest *g)
{
	char before[VALUE_MAX] = "", now[VALUE_MAX] = "", has[VALUE_MAX];

	if (!get(sp, SET_NAME, before, sizeof(before)))
		before[0] = '\0';
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		const char *value = g ? (const char *)g + r->at : "";
		bool there = get(sp, r->name, has, sizeof(has));

		if (there && r->library && !is_among(before, r->name, has))
			continue;
		if (*value)
			spank_setenv(sp, r->name, value, 1);
		else if (there)
			spank_unsetenv(sp, r->name);
		if (*value && r->library)
			note(now, r->name, value);
	}
	if (now[0])
		spank_setenv(sp, SET_NAME, now, 1);
	else if (before[0])
		spank_unsetenv(sp, SET_NAME);
}
