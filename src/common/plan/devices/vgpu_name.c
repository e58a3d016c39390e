/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of vGPU profiles. They are read from their end, for a model's may
 * have dashes of its own ("nvidia_rtx6000-ada-48q"). Knows no list of them.
 */
#include <string.h>
#include "plan/devices/adapter_type.h"
#include "plan/devices/vgpu_name.h"

#define SLICES 7		/* of a GPU that is divided (MIG) */
#define GB_MAX 4096

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "-4c": where the last dash is, and that digits and letters follow. */
static bool last_part(const char *s, const char **dash, int *gb, bool *special)
{
	const char *p;
	int n = 0;

	*dash = NULL;
	for (p = s; *p; p++)
		*dash = *p == '-' ? p : *dash;
	if (!*dash || !is_digit((*dash)[1]))
		return false;
	for (p = *dash + 1; is_digit(*p) && n <= GB_MAX; p++)
		n = n * 10 + *p - '0';
	if (n > GB_MAX || !*p)
		return false;
	*gb = n > 0 ? n : 1;		/* "0b" is half of one */
	*special = strlen(p) > 1;
	for (; *p; p++)
		if (!is_letter(*p))
			return false;
	return true;
}

bool vs_vgpu_parse(const char *profile, struct vs_vgpu *out)
{
	struct vs_vgpu v = { 0 };
	const char *under = strchr(profile, '_'), *dash;

	if (strlen(profile) >= VS_DEVICE_LABEL || !under || under == profile ||
	    !last_part(profile, &dash, &v.gb, &v.special) || dash <= under + 1)
		return false;
	v.model = (size_t)(dash - profile);
	if (dash - 2 > under && dash[-2] == '-' && dash[-1] >= '1' &&
	    dash[-1] <= '0' + SLICES) {
		v.slices = dash[-1] - '0';
		v.model -= 2;
	}
	for (const char *p = profile; *p; p++)
		if (!is_letter(*p) && !is_digit(*p) && !strchr("_-.", *p))
			return false;
	*out = v;
	return true;
}

bool vs_vgpu_same_model(const char *profile, const char *other)
{
	struct vs_vgpu a, b;

	return vs_vgpu_parse(profile, &a) && vs_vgpu_parse(other, &b) &&
	       a.model == b.model && !strncmp(profile, other, a.model);
}

unsigned int vs_vgpu_vendor(const char *profile)
{
	return !strncmp(profile, "nvidia_", 7) ||
	       !strncmp(profile, "grid_", 5) ? 0x10de : 0;
}
