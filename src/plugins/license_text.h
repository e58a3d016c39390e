/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of licenses as slurm.conf and jobs write them: "a:1,b:2", "a|b". */
#ifndef VS_PLUGINS_LICENSE_TEXT_H
#define VS_PLUGINS_LICENSE_TEXT_H

#include <stdbool.h>
#include <string.h>

#define VS_LICENSE_ALL "vf"		/* license/vf: VFs of all adapters */
#define VS_LICENSE_ENDS ":=,;"		/* a license's name */

/* Is the license at token the one of that name? */
static inline bool vs_license_named(const char *token, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(token, name, len) &&
	       (!token[len] || strchr(VS_LICENSE_ENDS, token[len]));
}

/* Is name among these licenses? licenses NULL: there are none. */
static inline bool vs_license_listed(const char *licenses, const char *name)
{
	for (const char *at = licenses; at && *at; at += !!*at) {
		if (vs_license_named(at, name))
			return true;
		at += strcspn(at, ",;");
	}
	return false;
}

/* Does the job ask for alternatives, "a|b"? Slurm has them from 24.05 on. */
static inline bool vs_license_alternatives(const char *licenses)
{
	return licenses && strchr(licenses, '|');
}

#endif
