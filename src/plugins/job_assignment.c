/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See job_assignment.h. The names of hosts are vCenter's: in these texts they are words,
 * without what would end one. A variable is no longer than a program's argument
 * may be by far, for Slurm's own Prolog scripts get them too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "job_assignment.h"
#include "util/mem.h"

#define ENV_BYTES 16384			/* of one variable */

/* "esx01/0000:3b:00.0", "esx01", "?"; free() it. */
static char *place_of(const struct vs_slurm_assignment *row)
{
	char *word = vs_asprintf("%s%s%s", row->host ? row->host : "?",
				 row->pfs ? "/" : "", row->pfs ? row->pfs : "");
	size_t host = row->host ? strlen(row->host) : 1;

	for (size_t i = 0; word[i]; i++)
		if (word[i] <= ' ' || word[i] > '~' ||
		    (i < host && strchr("=/\"'\\", word[i])))
			word[i] = '_';
	return word;
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_place(const struct vs_slurm_assignment *a,
		       const struct vs_slurm_assignment *b)
{
	return same(a->adapter, b->adapter) && same(a->host, b->host) &&
	       same(a->pfs, b->pfs);
}

/* All rows from the first on that are at its place, as one word, and marked. */
static char *word_of(const struct vs_slurm_assignment *rows, size_t n,
		     size_t first, bool *said, vs_assignment_fold_fn *fold)
{
	VS_FREE const char **names = vs_calloc(n - first, sizeof(*names));
	VS_FREE char *folded = NULL, *place = place_of(&rows[first]);
	size_t count = 0;

	for (size_t i = first; i < n; i++) {
		if (said[i] || !same_place(&rows[i], &rows[first]))
			continue;
		said[i] = true;
		names[count++] = rows[i].node;
	}
	folded = fold(names, count);
	return vs_asprintf("%s=%s", folded, place);
}

/* False: it is full, and ends in "...". left: so many bytes come after it. */
static bool text_add(char *text, const char *word, size_t left)
{
	size_t len = strlen(text), more = strlen(word);

	if (len + 1 + more + strlen(" ...") + left > VS_ASSIGNMENT_TEXT) {
		memcpy(text + len, " ...", sizeof(" ..."));
		return false;
	}
	snprintf(text + len, VS_ASSIGNMENT_TEXT + 1 - len, " %s", word);
	return true;
}

char *vs_assignment_text(const struct vs_slurm_assignment *rows, size_t n,
			 vs_assignment_fold_fn *fold)
{
	VS_FREE bool *said = vs_calloc(n + 1, sizeof(*said));
	char *text = vs_calloc(VS_ASSIGNMENT_TEXT + 1, 1);
	const char *adapter = NULL, *took = n ? rows[0].took : NULL;
	size_t left = took ? strlen(took) + 1 : 0, len;
	bool room = true;

	/* Without its blank, which each word brings. */
	memcpy(text, VS_ASSIGNMENT_TAG, strlen(VS_ASSIGNMENT_TAG) - 1);
	for (size_t i = 0; i < n && room; i++) {
		VS_FREE char *word = NULL, *kind = NULL;

		if (said[i])
			continue;
		if (!same(adapter, rows[i].adapter)) {
			adapter = rows[i].adapter;
			kind = vs_asprintf("adapter=%s", adapter);
			room = text_add(text, kind, left);
		}
		word = word_of(rows, n, i, said, fold);
		room = room && text_add(text, word, left);
	}
	len = strlen(text);
	if (took)
		snprintf(text + len, VS_ASSIGNMENT_TEXT + 1 - len, " %s", took);
	return text;
}

bool vs_assignment_is_wait(const char *line)
{
	return line &&
	       !strncmp(line, VS_ASSIGNMENT_TAG, strlen(VS_ASSIGNMENT_TAG)) &&
	       strncmp(line, VS_ASSIGNMENT_PLACED,
		       strlen(VS_ASSIGNMENT_PLACED)) &&
	       strncmp(line, VS_ASSIGNMENT_REQUEUED,
		       strlen(VS_ASSIGNMENT_REQUEUED));
}

#define BEHIND "; requeued: "	/* what the job waits for */

const char *vs_assignment_requeued(const char *line)
{
	const char *at;

	if (line && !strncmp(line, VS_ASSIGNMENT_REQUEUED,
			     strlen(VS_ASSIGNMENT_REQUEUED)))
		return line + strlen(VS_ASSIGNMENT_REQUEUED);
	at = vs_assignment_is_wait(line) ? strstr(line, BEHIND) : NULL;
	return at ? at + strlen(BEHIND) : "";
}

char *vs_assignment_wait_text(const char *text, const char *before)
{
	const char *why = vs_assignment_requeued(before);
	char *line = vs_asprintf(VS_ASSIGNMENT_TAG "%s%s%s", text,
				 *why ? BEHIND : "", why);

	if (strlen(line) > VS_ASSIGNMENT_TEXT)
		line[VS_ASSIGNMENT_TEXT] = '\0';
	return line;
}

bool vs_assignment_env_managed(const char *entry)
{
	return entry &&
	       !strncmp(entry, VS_ASSIGNMENT_ENV, strlen(VS_ASSIGNMENT_ENV));
}

char **vs_assignment_env(const struct vs_slurm_assignment *rows, size_t n,
			 size_t *nenv)
{
	char **env = NULL;
	size_t cap = 0, len = 0;

	*nenv = 0;
	for (size_t i = 0; i < n; i++) {
		VS_FREE char *place = place_of(&rows[i]), *word = NULL;
		size_t more;

		if (!rows[i].host)
			continue;
		word = vs_asprintf("%s=%s", rows[i].node, place);
		more = strlen(word);
		if (!*nenv || len + 1 + more >= ENV_BYTES) {
			VS_GROW(env, cap, *nenv + 1);
			env[*nenv] = vs_calloc(ENV_BYTES + more, 1);
			len = (size_t)snprintf(env[*nenv], ENV_BYTES,
					       VS_ASSIGNMENT_ENV "%zu=", *nenv);
			(*nenv)++;
		} else {
			env[*nenv - 1][len++] = ' ';
		}
		memcpy(env[*nenv - 1] + len, word, more + 1);
		len += more;
	}
	return env;
}

/* "esx01/0000:3b:00.0" */
static int place_parse(const char *s, size_t len,
		       struct vs_assignment_place *out)
{
	struct vs_assignment_place place = { 0 };
	const char *slash = memchr(s, '/', len);
	size_t host = slash ? (size_t)(slash - s) : len;
	size_t pfs = slash ? len - host - 1 : 0;

	if (!host || host >= sizeof(place.host) || pfs >= sizeof(place.pfs))
		return -1;
	for (size_t i = 0; i < len; i++)
		if (s[i] <= ' ' || s[i] > '~')
			return -1;
	memcpy(place.host, s, host);
	if (pfs)
		memcpy(place.pfs, slash + 1, pfs);
	*out = place;
	return 0;
}

int vs_assignment_find(char *const *env, size_t nenv, const char *node,
		       struct vs_assignment_place *out)
{
	size_t name = strlen(node);

	for (size_t i = 0; name && i < nenv; i++) {
		const char *at = vs_assignment_env_managed(env[i]) ?
			strchr(env[i], '=') : NULL;

		for (; at; at = strchr(at, ' ')) {
			at++;
			if (!strncmp(at, node, name) && at[name] == '=')
				return place_parse(at + name + 1,
						   strcspn(at + name + 1, " "),
						   out);
		}
	}
	return -1;
}
