/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A user's constraint, as job_submit/vsphere looks at it before Slurm does, and
 * repeats it in what it says.
 *
 * What must hold: every name lies in the text, is of no character that stands
 * between names, and comes in its order; nothing of the text can end a line or
 * a quotation; a name is no farther from another than the longer of both is long.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/job_submit/vsphere/constraint_names.h"
#include "util/mem.h"
#include "util/name.h"

static void must(bool good)
{
	if (!good)
		abort();
}

struct seen { const char *text, *last; size_t size; };

static bool look(void *arg, const char *name, size_t len)
{
	static const char known[] = "sriov-roce";
	struct seen *s = arg;
	size_t cut = len > VS_DISTANCE_MAX ? VS_DISTANCE_MAX : len;
	size_t most = cut > strlen(known) ? cut : strlen(known);

	must(len && name >= s->last && name + len <= s->text + s->size);
	for (size_t i = 0; i < len; i++)
		must(!strchr("&|,*()[]", name[i]));
	must(vs_name_distance(name, len, known, strlen(known)) <= most);
	must(vs_name_distance(name, len, name, len) == 0);
	s->last = name + len;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	VS_FREE char *text = vs_calloc(size + 1, 1);
	struct seen seen = { .text = text, .last = text };
	char words[VS_NAME_CLEAN_LEN];

	memcpy(text, data, size);
	seen.size = strlen(text);
	must(vs_features_each(text, look, &seen));
	vs_name_clean(text, seen.size, words);
	must(strlen(words) <= seen.size && strlen(words) < VS_NAME_CLEAN_LEN);
	for (const char *s = words; *s; s++)
		must(*s >= ' ' && *s < 0x7f && *s != '"');
	return 0;
}

#define FUZZ_CORPUS "submit"
#include "fuzz_main.h"
