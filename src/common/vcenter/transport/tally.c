/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that came to an end, counted by name for the metrics. Counters of a
 * process, not of a client: a new configuration makes a new client, and a counter
 * that went back would be taken for a restart.
 *
 * Rules: the names are our own requests', so they are few; the table is bounded
 * all the same. No call waits for a reader: a mutex is held for a few lines.
 */
#include <ctype.h>
#include <pthread.h>
#include <string.h>

#include "util/mem.h"
#include "vcenter/transport/tally.h"

#define OTHER "other"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vs_tally rows[VS_TALLY_NAMES];
static size_t nrows;

static void name_of(const char *what, char name[VS_TALLY_NAME_LEN])
{
	const char *at = strrchr(what, '/');
	size_t len = 0;

	at = at ? at + 1 : what;
	while (isalnum((unsigned char)at[len]) || at[len] == '_' ||
	       at[len] == '.')
		len++;
	if (!len || len >= VS_TALLY_NAME_LEN || (at[len] && at[len] != '?')) {
		at = OTHER;
		len = strlen(at);
	}
	memcpy(name, at, len);
	name[len] = '\0';
}

static struct vs_tally *row_of(const char *name)
{
	for (size_t i = 0; i < nrows; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	/* the last place is for all that have none */
	if (nrows == VS_TALLY_NAMES - 1 && strcmp(name, OTHER))
		return row_of(OTHER);
	vs_strlcpy(rows[nrows].name, name, sizeof(rows[nrows].name));
	return &rows[nrows++];
}

void vs_tally_note(const char *what, enum vs_code code, int64_t us)
{
	char name[VS_TALLY_NAME_LEN];
	struct vs_tally *row;

	name_of(what, name);
	pthread_mutex_lock(&lock);
	row = row_of(name);
	row->ended[code]++;
	row->us += us > 0 ? us : 0;
	pthread_mutex_unlock(&lock);
}

size_t vs_tally_get(struct vs_tally out[VS_TALLY_NAMES])
{
	size_t n;

	pthread_mutex_lock(&lock);
	n = nrows;
	memcpy(out, rows, n * sizeof(*out));
	pthread_mutex_unlock(&lock);
	return n;
}
