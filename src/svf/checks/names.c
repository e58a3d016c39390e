/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words after svf check: codes of findings, and objects. A word that is neither
 * would find nothing for ever, so it is refused. Codes are known here. Objects without
 * a finding are known to slurmctld, or to the checks without it.
 */
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "plan/checks/check_codes.h"
#include "util/mem.h"

#define LISTED "svf-check-codes(7) lists the codes"

static bool is_code(const char *word)
{
	for (int i = 0; i < VS_CHECKS; i++)
		if (!strcmp(vs_check_kinds[i].code, word))
			return true;
	return false;
}

static bool is_found(struct vs_j findings, const char *word)
{
	for (size_t i = 0; i < vs_j_len(findings); i++)
		if (!strcmp(vs_j_str_or(vs_j_opt(vs_j_at(findings, i),
						 "object"), ""), word))
			return true;
	return false;
}

static bool is_object(struct vs_j objects, const char *word)
{
	for (size_t i = 0; i < vs_j_len(objects); i++)
		if (!strcmp(vs_j_str_or(vs_j_at(objects, i), ""), word))
			return true;
	return false;
}

/* The first of these words that is no code; NULL if all are. */
static const char *no_code(const struct svf *s)
{
	for (int i = 0; i < s->argc; i++)
		if (!is_code(s->argv[i]))
			return s->argv[i];
	return NULL;
}

static char *refusal(const char *word, struct vs_j objects, const char *what)
{
	struct svf_near near = { .word = word };
	VS_FREE char *hint = NULL;

	for (int i = 0; i < VS_CHECKS; i++)
		svf_near_try(&near, vs_check_kinds[i].code);
	for (size_t i = 0; i < vs_j_len(objects); i++)
		svf_near_try(&near, vs_j_str_or(vs_j_at(objects, i), ""));
	hint = svf_near_hint(&near);
	return vs_asprintf("there is no %s '%s'%s%s" LISTED, what, word, hint,
			   hint[0] ? " " : "; ");
}

char *svf_codes_wrong(const struct svf *s)
{
	const char *word = no_code(s);

	return word ? refusal(word, (struct vs_j){ 0 }, "code") : NULL;
}

/* The first word that is none of the three; NULL if there is none. */
static const char *wrong_word(const struct svf *s, struct vs_j findings,
			      struct vs_j objects)
{
	for (int i = 0; i < s->argc; i++)
		if (!is_code(s->argv[i]) && !is_found(findings, s->argv[i]) &&
		    !is_object(objects, s->argv[i]))
			return s->argv[i];
	return NULL;
}

int svf_check_words(const struct svf *s, struct vs_jdoc *answer, char **wrong)
{
	struct vs_j top = vs_j_root(answer), objects = vs_j_opt(top, "objects");
	struct vs_j found = vs_j_opt(top, "findings");
	struct vs_jdoc asked = { 0 };
	const char *word = wrong_word(s, found, objects);
	int rc;

	*wrong = NULL;
	if (!word)
		return SVF_OK;
	if (vs_j_null(objects)) {
		rc = svf_ask("objects", 0, "", &asked);
		if (rc)
			return rc;
		objects = vs_j_opt(vs_j_root(&asked), "objects");
		word = wrong_word(s, found, objects);
	}
	if (word)
		*wrong = refusal(word, objects, "code and no object");
	vs_jdoc_free(&asked);
	return word ? SVF_USAGE : SVF_OK;
}
