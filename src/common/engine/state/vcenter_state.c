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

bool vs_failure_is_unconfirmed(enum vs_code code)
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

/* ---- the client ------------------------------------------------------------ */

static bool renew, retry;
static int64_t since_ms;

void vs_client_renew(void)
{
	renew = true;
}

bool vs_client_renewed(void)
{
	return renew;
}

void vs_client_renew_clear(void)
{
	renew = false;
}

void vs_client_retry(void)
{
	retry = true;
}

bool vs_client_retry_taken(void)
{
	bool was = retry;

	retry = false;
	return was;
}

void vs_vc_since_set(int64_t wall_ms)
{
	since_ms = wall_ms;
}

int64_t vs_vc_since_ms(void)
{
	return since_ms;
}

void vs_vc_found(struct vs_core *c)
{
	c->found = true;
}

void vs_vc_loaded(struct vs_core *c)
{
	c->loaded = true;
}

void vs_vc_ready(struct vs_core *c)
{
	c->ready = true;
}

void vs_vc_unloaded(struct vs_core *c)
{
	c->loaded = c->ready = false;
}

void vs_vc_lost(struct vs_core *c)
{
	c->found = false;
	vs_vc_unloaded(c);
}

static char session_user[VS_LABEL_LEN];

void vs_vc_user_set(const char *user)
{
	vs_strlcpy(session_user, user, sizeof(session_user));
}

const char *vs_vc_user(void)
{
	return session_user;
}

/* ---- the load -------------------------------------------------------------------- */

static uint64_t load_seq, slow_want;

void vs_load_begun(void)
{
	load_seq++;
}

uint64_t vs_load_seq(void)
{
	return load_seq;
}

void vs_poll_await(const struct vs_core *c)
{
	slow_want = c->slow_seq + 1;
}

bool vs_poll_is_due(const struct vs_core *c)
{
	return c->slow_seq >= slow_want;
}
