/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sbatch, a job_submit plugin or a wrapper prints, and the list of nodes
 * in it, which slurmctld's side expands.
 *
 * What must hold: nothing crashes; what was taken is whole words of the text, on
 * one line; a list that is expanded has names, and none of them is empty.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "svf/verbs/sbatch.h"
#include "util/hostlist.h"
#include "util/mem.h"

static void must(bool good)
{
	if (!good)
		abort();
}

/* What is compressed is the same names: each of them, and no other. */
static void there_and_back(char **names)
{
	VS_FREE char *text = NULL, *again = NULL;
	char **back;
	size_t n = 0, nback = 0;

	while (names && names[n])
		n++;
	if (!n || n > 300)
		return;
	for (size_t i = 0; i < n; i++)
		if (strpbrk(names[i], "[],"))
			return;
	text = vs_hostlist_compress((const char *const *)names, n);
	back = vs_hostlist_expand(text);
	must(back);
	for (; back[nback]; nback++) {
		bool found = false;

		for (size_t i = 0; i < n && !found; i++)
			found = !strcmp(names[i], back[nback]);
		must(found);
		for (size_t i = 0; i < nback; i++)
			must(strcmp(back[i], back[nback]));
	}
	for (size_t i = 0; i < n; i++) {
		bool found = false;

		for (size_t k = 0; k < nback && !found; k++)
			found = !strcmp(names[i], back[k]);
		must(found);
	}
	again = vs_hostlist_compress((const char *const *)back, nback);
	must(!strcmp(text, again));
	vs_hostlist_free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct svf_sbatch b;
	VS_FREE char *text = vs_calloc(1, size + 1);	/* its own bounds */
	char **names;

	memcpy(text, data, size);
	memset(&b, 0, sizeof(b));
	if (!svf_sbatch_parse(text, &b)) {
		must(!b.nodes[0] && !b.start && !b.cpus);
		return 0;
	}
	must(b.nodes[0] && !strpbrk(b.nodes, " \t\r\n") &&
	     strstr(text, b.nodes));
	must(!strpbrk(b.partition, " \t\r\n") && strstr(text, b.partition));
	names = vs_hostlist_expand(b.nodes);
	must(!names || names[0]);
	for (char **s = names; s && *s; s++)
		must(**s != '\0');
	there_and_back(names);
	vs_hostlist_free(names);
	return 0;
}

#define FUZZ_CORPUS "sbatch"
#include "fuzz_main.h"
