/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of vCenter itself: why it is not there, as everybody may read
 * it, and after which errors what it shows may be old. slurmctld's log has the
 * whole reason; the one here names neither the address nor the account. svf
 * status alone names the address, to operators. The lock is held.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "engine/state/state.h"
#include "util/mem.h"

bool vs_fail_is_doubt(enum vs_code code)
{
	switch (code) {
	case VS_E_STATE:
	case VS_E_GONE:
	case VS_E_EXISTS:
	case VS_E_BUSY:
	case VS_E_UNKNOWN:
	case VS_E_RELOGIN:
		return true;
	default:
		return false;
	}
}

static bool in_word(const char *at)
{
	/* A full stop may end the sentence. */
	if (*at == '.')
		at++;
	return *at && (isalnum((unsigned char)*at) || strchr("-_@", *at));
}

/* Each `word` in text, which is no part of a longer one, becomes `by`. */
static void replace(char **text, const char *word, const char *by)
{
	size_t len = strlen(word);
	char *at = *text, *old;

	while (len && (at = strstr(at, word))) {
		size_t before = (size_t)(at - *text);

		if ((before && in_word(at - 1)) || in_word(at + len)) {
			at++;
			continue;
		}
		old = *text;
		*text = vs_asprintf("%.*s%s%s", (int)before, old, by, at + len);
		free(old);
		at = *text + before + strlen(by);
	}
}

void vs_vc_state_set(struct vs_core *c, const char *text)
{
	const char *url = c->conf->vcenter ? c->conf->vcenter : "";
	const char *host = strstr(url, "://") ? strstr(url, "://") + 3 : url;
	VS_FREE char *whole = vs_strdup(url), *name = vs_strdup(host);
	VS_FREE char *out = vs_strdup(text);
	size_t n = strlen(whole);

	vs_assert_locked();
	while (n && whole[n - 1] == '/')
		whole[--n] = '\0';
	name[strcspn(name, "/:")] = '\0';
	replace(&out, whole, "vCenter");
	replace(&out, name, "vCenter");
	replace(&out, c->conf->username ? c->conf->username : "", "...");
	vs_strlcpy(c->vc_state, out, sizeof(c->vc_state));
}
