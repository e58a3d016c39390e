/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions that need an administrator: a host that goes into maintenance or
 * fails, a vCenter that restarts. The probe asks for it and looks on; it has no
 * call for any of this.
 */
#include <stdlib.h>
#include <string.h>

#include "probe.h"
#include "util/mem.h"
#include "util/time.h"

#define HAND_MS 900000

/* False: end of input, or "skip". The connection is kept up meanwhile. */
static bool hand(struct probe *p, struct answer *a, const char *fmt,
		 const char *what)
{
	char line[64] = "";

	printf(fmt, what);
	puts("\n  Press Enter when that has begun, or type skip.");
	fflush(stdout);
	if (probe_stop || !fgets(line, sizeof(line), stdin) ||
	    !strncmp(line, "skip", 4)) {
		saw(a, "it was skipped");
		return false;
	}
	(void)p;
	return true;
}

static const char *a_vm_on(struct probe *p, struct host **h, struct answer *a)
{
	struct make m = { .nic = true };
	const char *moid;

	*h = host_for(p, 0);
	if (!*h) {
		saw(a, "no host has a free VF on network %s", p->o.network);
		return NULL;
	}
	m.host = (*h)->moid;
	moid = vm_make(p, &m, a);
	if (!moid || !vm_switch(p, moid, true, a))
		return NULL;
	return moid;
}

/* ---- maintenance --------------------------------------------------------------- */

struct looking { const char *host, *vm; uint64_t beat; };

static bool sees_task(struct probe *p, void *arg)
{
	struct looking *l = arg;
	struct vs_jdoc doc = { .root = p->tasks };
	struct vs_j list = vs_j_root(&doc);

	if (!p->tasks || p->beats <= l->beat)
		return false;
	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j t = vs_j_at(list, i);

		if (strstr(vs_j_str_or(vs_j_opt(t, "name"), ""),
			   "nterMaintenanceMode") &&
		    !strcmp(vs_j_str_or(vs_j_opt(t, "entity"), ""), l->host))
			return true;
	}
	l->beat = p->beats;
	vs_vc_poll_request(p->vc);
	return false;
}

static bool in_maintenance(struct probe *p, void *arg)
{
	const struct host *h = host_get(p, ((struct looking *)arg)->host);

	return h && h->maintenance;
}

static void q_maintenance(struct probe *p, struct answer *a)
{
	struct looking l = { 0 };
	struct host *h;
	bool task, early;
	int64_t began;

	l.vm = a_vm_on(p, &h, a);
	if (!l.vm || !hand(p, a, "\nPut host %s into maintenance mode now (nothing of it is to be evacuated by you).",
			   h->name))
		goto end;
	l.host = h->moid;
	vs_vc_poll_request(p->vc);
	task = link_until(p, sees_task, &l, 60000);
	early = in_maintenance(p, &l);
	saw(a, "the task is %s while a VM with a NIC runs there; the host says maintenance: %s",
	    task ? "seen" : "not seen", early ? "yes" : "no");
	began = vs_now_ms();
	vm_switch(p, l.vm, false, a);
	if (link_until(p, in_maintenance, &l, HAND_MS))
		saw(a, "it says so %lld ms after that VM was told to go off",
		    (long long)(vs_now_ms() - began));
	else
		saw(a, "it never came to say so");
	judge(a, task && !early && in_maintenance(p, &l));
	puts("  Take the host out of maintenance again when you like.");
end:
	if (l.vm)
		vm_end(p, l.vm);
}

/* ---- a host that fails ----------------------------------------------------------- */

static bool host_away(struct probe *p, void *arg)
{
	const struct host *h = host_get(p, ((struct looking *)arg)->host);

	return h && !h->connected;
}

static bool elsewhere(struct probe *p, void *arg)
{
	const struct looking *l = arg;
	const struct vm *vm = vm_get(p, l->vm);

	return vm && vm->host && strcmp(vm->host, l->host);
}

static void q_hostloss(struct probe *p, struct answer *a)
{
	struct looking l = { 0 };
	int64_t patience = p->o.quick ? 5000 : 300000;
	struct host *h;
	struct reply r;
	bool moved;

	l.vm = a_vm_on(p, &h, a);
	if (!l.vm || !hand(p, a, "\nLet host %s fail now (power or network), if you can afford that.",
			   h->name))
		goto end;
	l.host = h->moid;
	if (!link_until(p, host_away, &l, HAND_MS)) {
		saw(a, "the host never stopped responding");
		goto end;
	}
	read_cluster(p, a, &r);
	reply_free(&r);
	moved = link_until(p, elsewhere, &l, patience);
	saw(a, "HA %s: the VM with a NIC %s within %d s", p->ha ? "on" : "off",
	    moved ? "was restarted on another host" : "was not restarted",
	    (int)(patience / 1000));
	judge(a, !moved);
end:
	if (l.vm)
		vm_end(p, l.vm);
}

/* ---- a vCenter that restarts -------------------------------------------------------- */

static bool came_back(struct probe *p, void *arg)
{
	return p->ups > *(int *)arg && p->up && p->loaded;
}

static void q_restart(struct probe *p, struct answer *a)
{
	int was = p->ups;
	struct make m = { .host = p->source_host };
	const char *moid = vm_make(p, &m, a);
	int64_t began = vs_now_ms();
	char task[64] = "";
	struct reply r;

	for (size_t i = 0; moid && i < p->nops; i++)
		if (!strcmp(p->ops[i]->result, moid))
			vs_strlcpy(task, p->ops[i]->task, sizeof(task));
	if (!moid || !hand(p, a, "\nRestart vCenter's service vpxd now%s.", ""))
		goto end;
	if (!link_until(p, came_back, &was, HAND_MS)) {
		saw(a, "it never came back");
		goto end;
	}
	saw(a, "back after %lld s with a new login; our VM is %s",
	    (long long)(vs_now_ms() - began) / 1000,
	    vm_get(p, moid) ? "there under its id" : "not there under its id");
	if (ask_get(p, &r, "Task", task, "info"))
		saw_err(a, "a task of before", &r.err);
	else
		saw(a, "a task of before can still be read");
	judge(a, vm_get(p, moid) != NULL);
	reply_free(&r);
end:
	if (moid)
		vm_end(p, moid);
}

/* ---- a vAPI endpoint that restarts --------------------------------------------------- */

static long hello_status(struct probe *p)
{
	struct vs_vc_raw_request q = {
		.path = "/api/vcenter/system?action=hello",
		.text = "{\"api_releases\":[\"8.0.3.0\",\"8.0.2.0\"]}",
		.content = VS_VC_CONTENT_JSON,
		.timeout_ms = 5000
	};
	struct reply r;
	long status;

	ask_any(p, &r, &q);
	status = r.status;
	reply_free(&r);
	return status;
}

/* Does the other service answer while that one doesn't? */
static void see_vi_json(struct probe *p, struct answer *a)
{
	struct reply r;

	if (ask_get(p, &r, "Folder", p->folder, "name"))
		saw_err(a, "VI JSON", &r.err);
	else
		saw(a, "VI JSON works meanwhile");
	reply_free(&r);
}

static void q_hello(struct probe *p, struct answer *a)
{
	bool away = false;
	int64_t end;
	long was = -1, now;

	if (!hand(p, a, "\nRestart vCenter's service vapi-endpoint now%s.", ""))
		return;
	end = vs_now_ms() + (p->o.quick ? 20000 : HAND_MS);
	do {
		now = hello_status(p);
		if (now != was)
			saw(a, "hello: HTTP %ld", now);
		if (now != was && now != 200)
			see_vi_json(p, a);
		away |= now == 502 || now == 503 || !now;
		was = now;
		if (!away || now != 200)
			link_sleep(p, 1000);
	} while ((!away || now != 200) && vs_now_ms() < end && !probe_stop);
	judge(a, away && was == 200);
}

const struct question host_questions[] = {
	{ "maintenance", WATCH, "What is seen of a host that enters maintenance while a VM with a NIC runs there?",
	  "clones a VM, switches it on; asks you to put its host into maintenance; switches the VM off, removes it",
	  "the task is seen at once; inMaintenanceMode turns true only after the VM is off",
	  q_maintenance },
	{ "hostloss", WATCH, "Does HA restart a VM with an SR-IOV NIC elsewhere?",
	  "clones a VM, switches it on; asks you to let its host fail; removes it",
	  "it does not", q_hostloss },
	{ "restart", WATCH, "What is left after a restart of vCenter?",
	  "clones a VM; asks you to restart vCenter; removes it",
	  "VMs keep their ids; tasks and sessions may be gone", q_restart },
	{ "hello", WATCH, "What does hello say while the vAPI endpoint restarts?",
	  "asks you to restart the service vapi-endpoint", "502 or 503, while VI JSON works",
	  q_hello },
	{ 0 }
};
