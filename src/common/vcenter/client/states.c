/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client's state machine: a table of states and events, and the one
 * function that applies it.
 *
 * Rules: each pair of state and event has its entry. An entry that is empty is
 * refused: the state stays, the refusal is counted and logged. A failure leads
 * to VCX_WAITING and says from where the client starts again: from VCX_LOGIN
 * only if this client has read ServiceContent, whose ids the login needs.
 * Backoff doubles from 1 s to 60 s with jitter. A refused password waits for
 * its file to change. What an administrator must fix is tried again once a
 * minute. The same trouble is told once.
 */
#include <string.h>
#include <sys/random.h>

#include "util/crash.h"
#include "util/log.h"
#include "util/mem.h"
#include "vcenter/client/client_i.h"

#define BACKOFF_MIN_MS 1000
#define BACKOFF_MAX_MS 60000
#define RETRY_WRONG_MS 60000

static const char *const state_names[VCX_NSTATES] = {
	"waiting", "hello", "content", "login", "resolve", "watch", "load",
	"up",
};
static const char *const event_names[VCX_NEVENTS] = {
	[VCX_EV_START] = "start", [VCX_EV_RELEASE] = "release known",
	[VCX_EV_CONTENT] = "content read", [VCX_EV_LOGGED_IN] = "logged in",
	[VCX_EV_RESOLVED] = "names resolved", [VCX_EV_WATCHES] = "watching",
	[VCX_EV_LOADED] = "loaded", [VCX_EV_VERSION_LOST] = "version lost",
	[VCX_EV_LOST] = "connection lost", [VCX_EV_NO_SESSION] = "no session",
	[VCX_EV_REFUSED] = "login refused", [VCX_EV_WRONG] = "set-up wrong",
};

/* How long VCX_WAITING lasts. */
enum wait {
	NO_WAIT,
	BACKOFF,
	BACKOFF_UNLESS_SETTLED,	/* at once if the session had lasted */
	A_MINUTE,
	FOR_THE_FILE,		/* until the password file changes */
};

struct entry {
	bool handled;
	enum vcx_state to;
	enum wait wait;
	enum vcx_state again;	/* from where it starts after the wait */
};

#define TO(state) { .handled = true, .to = (state) }
#define WAIT(how, from) { .handled = true, .to = VCX_WAITING,	\
			  .wait = (how), .again = (from) }
/* Without a session of this client's own there is none to renew. */
#define FAILURES_BEFORE_LOGIN						\
	[VCX_EV_LOST] = WAIT(BACKOFF, VCX_HELLO),			\
	[VCX_EV_NO_SESSION] = WAIT(BACKOFF, VCX_HELLO),			\
	[VCX_EV_REFUSED] = WAIT(A_MINUTE, VCX_HELLO),			\
	[VCX_EV_WRONG] = WAIT(A_MINUTE, VCX_HELLO)
#define FAILURES_AFTER_LOGIN						\
	[VCX_EV_LOST] = WAIT(BACKOFF, VCX_HELLO),			\
	[VCX_EV_NO_SESSION] = WAIT(BACKOFF, VCX_LOGIN),			\
	[VCX_EV_REFUSED] = WAIT(A_MINUTE, VCX_HELLO),			\
	[VCX_EV_WRONG] = WAIT(A_MINUTE, VCX_HELLO)

static const struct entry table[VCX_NSTATES][VCX_NEVENTS] = {
	[VCX_WAITING] = {
		/* to where the last failure said: vc->wait.again */
		[VCX_EV_START] = TO(VCX_HELLO),
	},
	[VCX_HELLO] = {
		[VCX_EV_RELEASE] = TO(VCX_CONTENT),
		FAILURES_BEFORE_LOGIN,
	},
	[VCX_CONTENT] = {
		[VCX_EV_CONTENT] = TO(VCX_LOGIN),
		FAILURES_BEFORE_LOGIN,
	},
	[VCX_LOGIN] = {
		[VCX_EV_LOGGED_IN] = TO(VCX_RESOLVE),
		[VCX_EV_LOST] = WAIT(BACKOFF, VCX_HELLO),
		[VCX_EV_NO_SESSION] = WAIT(BACKOFF, VCX_HELLO),
		/* Only here is it the password that is refused. */
		[VCX_EV_REFUSED] = WAIT(FOR_THE_FILE, VCX_HELLO),
		[VCX_EV_WRONG] = WAIT(A_MINUTE, VCX_HELLO),
	},
	[VCX_RESOLVE] = {
		[VCX_EV_RESOLVED] = TO(VCX_WATCH),
		FAILURES_AFTER_LOGIN,
	},
	[VCX_WATCH] = {
		[VCX_EV_WATCHES] = TO(VCX_LOAD),
		FAILURES_AFTER_LOGIN,
	},
	/* The version was lost, not the session. */
	[VCX_LOAD] = {
		[VCX_EV_LOADED] = TO(VCX_UP),
		[VCX_EV_VERSION_LOST] = TO(VCX_LOAD),
		FAILURES_AFTER_LOGIN,
	},
	[VCX_UP] = {
		[VCX_EV_VERSION_LOST] = TO(VCX_LOAD),
		[VCX_EV_LOST] = WAIT(BACKOFF, VCX_HELLO),
		[VCX_EV_NO_SESSION] = WAIT(BACKOFF_UNLESS_SETTLED, VCX_LOGIN),
		[VCX_EV_REFUSED] = WAIT(A_MINUTE, VCX_HELLO),
		[VCX_EV_WRONG] = WAIT(A_MINUTE, VCX_HELLO),
	},
};

/* What belongs to a session, or to the work for one. */
void vs_vcx_session_forget(struct vs_vc *vc)
{
	vs_vcx_drop_reads(&vc->http);
	vs_vcx_reads_drop(vc);
	vs_vcx_resolve_free(vc);
	vs_vcx_lookup_free(vc);
	vs_vcx_watch_forget(vc);
	vs_vcx_list_forget(vc);
	vs_vcx_slow_free(vc);
	vs_vcx_rights_free(vc);
}

static void (*const begin[VCX_NSTATES])(struct vs_vc *vc) = {
	[VCX_HELLO] = vs_vcx_hello,
	[VCX_CONTENT] = vs_vcx_content,
	[VCX_LOGIN] = vs_vcx_login,
	[VCX_RESOLVE] = vs_vcx_resolve,
	[VCX_WATCH] = vs_vcx_watch,
	[VCX_LOAD] = vs_vcx_load,
};

bool vs_vcx_leads(enum vcx_state from, enum vcx_event ev, enum vcx_state *to,
		  enum vcx_state *again)
{
	const struct entry *e = &table[from][ev];

	*to = e->to;
	*again = e->again;
	return e->handled;
}

static int64_t backoff(int fails)
{
	int64_t ms = BACKOFF_MIN_MS;
	uint32_t random = 0;

	for (int i = 1; i < fails && ms < BACKOFF_MAX_MS; i++)
		ms *= 2;
	if (ms > BACKOFF_MAX_MS)
		ms = BACKOFF_MAX_MS;
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = 0;
	return ms * 3 / 4 + random % (ms / 2);
}

/* When VCX_WAITING ends, and where it leads. */
static void wait_plan(struct vs_vc *vc, const struct entry *e)
{
	vc->wait.again = e->again;
	vc->wait.fails++;
	/* A corrected file counts at once. */
	vc->wait.watch_files = e->wait == FOR_THE_FILE || e->wait == A_MINUTE;
	vc->wait.password_check_at = vc->now + VCX_PASSWORD_CHECK_MS;
	switch (e->wait) {
	case FOR_THE_FILE:
		vc->wait.retry_at = -1;
		break;
	case A_MINUTE:
		vc->wait.retry_at = vc->now + RETRY_WRONG_MS;
		break;
	case BACKOFF_UNLESS_SETTLED:
		vc->wait.retry_at = vc->now - vc->up_at > VCX_SETTLED_MS ?
			vc->now : vc->now + backoff(vc->wait.fails);
		break;
	default:
		vc->wait.retry_at = vc->now + backoff(vc->wait.fails);
		break;
	}
}

static void enter(struct vs_vc *vc, enum vcx_state state)
{
	vs_debug("vCenter client changes state from=%s to=%s",
		 state_names[vc->state], state_names[state]);
	vs_crash_before("state", state_names[state]);
	vc->state = state;
	if (state == VCX_UP) {
		vc->wait.fails = 0;
		vc->up_at = vc->now;
		vc->wait.last_down[0] = '\0';
		vc->slow_at = vc->now + vs_vcx_poll_ms(vc);
	}
	if (begin[state])
		begin[state](vc);
	vs_crash_after("state", state_names[state]);
}

bool vs_vcx_event(struct vs_vc *vc, enum vcx_event ev)
{
	const struct entry *e = &table[vc->state][ev];
	enum vcx_state to = e->to;

	if (!e->handled) {
		vc->stats.refused_events++;
		vs_error("vCenter client: the event \"%s\" is refused in the state \"%s\"",
			 event_names[ev], state_names[vc->state]);
		return false;
	}
	if (vc->state == VCX_WAITING)
		to = vc->wait.again ? vc->wait.again : e->to;
	if (to == VCX_WAITING) {
		wait_plan(vc, e);
		if (ev == VCX_EV_NO_SESSION)
			explicit_bzero(vc->http.token, sizeof(vc->http.token));
		vs_vcx_session_forget(vc);
	}
	enter(vc, to);
	return true;
}

static enum vcx_event event_of(enum vs_code code)
{
	switch (code) {
	case VS_E_LOGIN:
		return VCX_EV_REFUSED;
	case VS_E_CONFIG:
	case VS_E_BUG:
	case VS_E_REQUEST:
		return VCX_EV_WRONG;
	case VS_E_RELOGIN:
		return VCX_EV_NO_SESSION;
	default:
		return VCX_EV_LOST;
	}
}

void vs_vcx_fail(struct vs_vc *vc, const struct vs_err *err)
{
	struct vs_err told = *err;

	if (!vs_vcx_event(vc, event_of(told.code)))
		return;
	vs_debug("vCenter client is down code=%s retry_ms=%lld",
		 vs_code_name(told.code),
		 vc->wait.retry_at < 0 ? -1LL :
			 (long long)(vc->wait.retry_at - vc->now));
	if (!strcmp(vc->wait.last_down, told.text))
		return;
	vs_strlcpy(vc->wait.last_down, told.text, sizeof(vc->wait.last_down));
	if (told.code == VS_E_BUG || told.code == VS_E_REQUEST)
		told.code = VS_E_CONFIG;
	else if (told.code != VS_E_LOGIN && told.code != VS_E_CONFIG)
		told.code = VS_E_RETRY;
	if (vc->ev.down) {
		vs_inv_together(vc->inv, true);
		vc->ev.down(vc->ev_arg, &told);
		vs_inv_together(vc->inv, false);
	}
}

bool vs_vcx_bad(struct vs_vc *vc, struct vs_j reply)
{
	struct vs_err err;

	if (!vs_json_failed(reply.doc, &err))
		return false;
	vs_err_prefix(&err, "an answer of %s is not understood", vc->http.url);
	vs_vcx_fail(vc, &err);
	return true;
}

/* ---- waiting ------------------------------------------------------------ */

void vs_vc_retry(struct vs_vc *vc)
{
	if (vc->state != VCX_WAITING)
		return;
	vc->wait.retry_at = vc->now;
	vc->wait.last_down[0] = '\0';
}

void vs_vcx_wait_timer(struct vs_vc *vc)
{
	if (vc->wait.watch_files && vc->now >= vc->wait.password_check_at) {
		vc->wait.password_check_at = vc->now + VCX_PASSWORD_CHECK_MS;
		if (vs_vcx_files_changed(vc))
			vc->wait.retry_at = vc->now;
	}
	if (vc->wait.retry_at >= 0 && vc->now >= vc->wait.retry_at) {
		/* as they are before libcurl reads them */
		vs_vcx_files_received(vc);
		vs_vcx_event(vc, VCX_EV_START);
	}
}
