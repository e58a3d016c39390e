/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which columns of a table, in which order: -O as squeue writes it
 * (field[:[.]width], a dot aligns right), --sort as squeue's. And what of them
 * needs an operator's eye, which colour says.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "util/buf.h"
#include "util/mem.h"

#define WIDTH_MAX 1000
#define TEXT_MAX 4096

char *svf_fields(const struct svf_list *l)
{
	struct vs_buf b = VS_BUF_INIT(TEXT_MAX);

	for (size_t i = 0; i < l->ncols; i++)
		vs_buf_printf(&b, "%s%s", i ? ", " : "", l->cols[i].name);
	return b.data;
}

char *svf_title(const struct svf_col *col)
{
	char *s = vs_strdup(col->title ? col->title : col->name);

	for (char *p = s; *p && !col->title; p++)
		*p = (char)toupper((unsigned char)*p);
	return s;
}

/* ":12", ":.12" or nothing; -1: neither. */
static int width_of(const char *s, struct svf_pick *pick)
{
	char *end;
	long n;

	if (!*s)
		return 0;
	if (*++s == '.') {
		pick->right = true;
		s++;
	}
	n = *s >= '0' && *s <= '9' ? strtol(s, &end, 10) : 0;
	if (n < 1 || n > WIDTH_MAX || *end)
		return -1;
	pick->width = (int)n;
	return 0;
}

/* By its field's name or its title. */
static bool is_named(const struct svf_col *col, const char *word, size_t len)
{
	const char *title = col->title ? col->title : col->name;

	return (strlen(col->name) == len &&
		!strncasecmp(col->name, word, len)) ||
	       (strlen(title) == len && !strncasecmp(title, word, len));
}

static int pick_one(const struct svf_list *l, const char *word, bool sort,
		    struct svf_pick *out, struct vs_err *err)
{
	VS_FREE char *all = svf_fields(l);
	struct svf_pick pick = { 0 };
	size_t len;

	if (sort && (*word == '-' || *word == '+'))
		pick.down = *word++ == '-';
	len = sort ? strlen(word) : strcspn(word, ":");
	while (pick.col < l->ncols && !is_named(&l->cols[pick.col], word, len))
		pick.col++;
	if (pick.col == l->ncols)
		return vs_err_set(err, VS_E_REQUEST,
				  "there is no field '%.60s'; there are: %s",
				  word, all);
	pick.right = l->cols[pick.col].how & SVF_RIGHT;
	if (!sort && width_of(word + len, &pick))
		return vs_err_set(err, VS_E_REQUEST,
				  "'%.60s': field, field:WIDTH or field:.WIDTH is expected, WIDTH from 1 to %d",
				  word, WIDTH_MAX);
	*out = pick;
	return 0;
}

struct svf_pick *svf_view(const struct svf_list *l, const char *text,
			  bool sort, size_t *n, struct vs_err *err)
{
	size_t room = strlen(text) / 2 + l->ncols + 1;
	struct svf_pick *picks = vs_calloc(room, sizeof(*picks));
	VS_FREE char *copy = vs_strdup(text);
	char *rest = copy, *word;

	*n = 0;
	if (!sort && !strcasecmp(text, "all")) {
		for (; *n < l->ncols; (*n)++)
			picks[*n] = (struct svf_pick){ .col = *n,
				.right = l->cols[*n].how & SVF_RIGHT };
		return picks;
	}
	while ((word = strsep(&rest, ",")))
		if (pick_one(l, word, sort, &picks[*n], err)) {
			free(picks);
			return NULL;
		} else {
			(*n)++;
		}
	return picks;
}

/* ---- colour -------------------------------------------------------------------- */

#define RED "\033[31m"
#define YELLOW "\033[33m"

/* Words of states; what isn't here is as it should be. */
static const struct { const char *word, *colour; } eyes[] = {
	{ "down", RED }, { "fail", RED }, { "failing", RED }, { "error", RED },
	{ "disconnected", RED }, { "quarantined", RED }, { "unknown", RED },
	{ "hard", RED }, { "warning", YELLOW }, { "required", YELLOW },
	{ "excluded", YELLOW }, { "on_trial", YELLOW },
	{ "drained", YELLOW }, { "drain", YELLOW }, { "draining", YELLOW },
	{ "maintenance", YELLOW }, { "entering_maintenance", YELLOW },
	{ "standby", YELLOW }, { "suspended", YELLOW }, { "wait", YELLOW },
	{ "not_responding", YELLOW }, { "?", YELLOW },
};

const char *svf_cell_colour(const struct svf_col *col, const char *cell)
{
	const char *found = "";

	if (!cell[0] || !strcmp(cell, "-"))
		return "";
	if (col->how & SVF_BAD)
		return RED;
	/* Slurm's flags follow a state: "idle+drain", "down*". */
	while ((col->how & SVF_STATE) && *cell) {
		size_t len = strcspn(cell, "+, *~#!%$@^");

		for (size_t i = 0; i < VS_COUNT(eyes); i++)
			if (strlen(eyes[i].word) == len &&
			    !strncasecmp(eyes[i].word, cell, len) &&
			    strcmp(found, RED))
				found = eyes[i].colour;
		cell += len + !!cell[len];
	}
	return found;
}
