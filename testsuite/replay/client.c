/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recorded answers that the client itself reads, not the inventory: ServiceContent
 * and the account's rights. The client sends its own request, nothing transports
 * it, and the recorded answer is handed to the function that waits for it. The
 * request is printed too, for comparison with the recorded one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay.h"
#include "util/mem.h"

static const char *const no_names[] = { NULL };

static void on_down(void *arg, const struct vs_err *err)
{
	(void)arg;
	(void)err;
}

/* A client with an address and a password file that do not exist. */
static struct vs_vc *client_new(void)
{
	static const struct vs_vc_events ev = { .down = on_down };
	const char *const clusters[] = { "none", NULL };
	struct vs_vc_conf conf = { .url = "https://replay.invalid",
		.username = "replay", .password_file = "/nonexistent/replay",
		.password_uid = geteuid(), .read_only = true, .notes = true,
		.linked = true, .instant = true, .vmotion = true,
		.policy = true,
		.names = { "none", "none", "none", clusters, NULL, no_names,
			   no_names } };
	struct vs_err err = { 0 };
	struct vs_vc *vc = vs_vc_new(&conf, &ev, NULL, &err);

	if (!vc) {
		fprintf(stderr, "replay: %s\n", err.text);
		exit(1);
	}
	return vc;
}

/* The call that the client has just made. */
static struct vcx_call *last_call(struct vs_vc *vc)
{
	return TAILQ_LAST(&vc->http.calls, vcx_calls);
}

static void answer(struct vs_vc *vc, struct vs_j reply)
{
	struct vcx_call *call = last_call(vc);

	call->fn(call, reply, NULL);
}

/* ---- ServiceContent ------------------------------------------------------- */

void replay_content(struct vs_j line)
{
	struct vs_vc *vc = client_new();
	struct json_object *o = vs_jb_obj(NULL);

	vc->state = VCX_CONTENT;
	vs_vcx_content(vc);
	answer(vc, vs_j_get(line, "content"));
	vs_jb_str(o, "content", "ServiceInstance");
	vs_jb_str(o, "about", vc->session.about);
	vs_jb_str(o, "version", vc->session.version);
	vs_jb_str(o, "instance_uuid", vc->session.instance_uuid);
	vs_jb_str(o, "rootFolder", vc->session.ids.root);
	vs_jb_str(o, "propertyCollector", vc->session.ids.collector);
	vs_jb_str(o, "viewManager", vc->session.ids.views);
	vs_jb_str(o, "sessionManager", vc->session.ids.sessions);
	vs_jb_str(o, "searchIndex", vc->session.ids.search);
	vs_jb_str(o, "taskManager", vc->session.ids.tasks);
	vs_jb_str(o, "authorizationManager", vc->session.ids.rights);
	replay_print(o);
	vs_vc_free(vc, 0);
}

/* ---- rights --------------------------------------------------------------- */

static char *text_of(struct vs_j j, const char *key)
{
	return vs_strdup(vs_j_str(vs_j_get(j, key)));
}

static void take_stores(struct vs_vc *vc, struct vs_j list)
{
	while (vc->nstores) {
		vc->nstores--;
		free((char *)vc->stores[vc->nstores].name);
		free((char *)vc->stores[vc->nstores].moid);
	}
	free(vc->stores);
	vc->stores = vs_calloc(vs_j_len(list) + 1, sizeof(*vc->stores));
	for (; vc->nstores < vs_j_len(list); vc->nstores++) {
		struct vs_vc_store *s = &vc->stores[vc->nstores];

		s->moid = text_of(vs_j_at(list, vc->nstores), "value");
		s->name = vs_strdup(s->moid);
	}
}

static void take_pools(struct vs_vc *vc, struct vs_j list)
{
	free(vc->clusters[0].name);
	free(vc->clusters[0].pool);
	free(vc->clusters);
	vc->clusters = vs_calloc(vs_j_len(list) + 1, sizeof(*vc->clusters));
	for (vc->nclusters = 0; vc->nclusters < vs_j_len(list);
	     vc->nclusters++) {
		struct vcx_cluster *c = &vc->clusters[vc->nclusters];

		c->pool_moid = text_of(vs_j_at(list, vc->nclusters), "value");
		c->pool = vs_strdup(c->pool_moid);
		c->name = vs_strdup("cluster");
	}
}

static void take_networks(struct vs_vc *vc, struct vs_j list)
{
	free(vc->networks);
	vc->networks = vs_calloc(vs_j_len(list) + 1, sizeof(*vc->networks));
	for (vc->nnetworks = 0; vc->nnetworks < vs_j_len(list);
	     vc->nnetworks++) {
		struct vcx_network *n = &vc->networks[vc->nnetworks];
		struct vs_j at = vs_j_at(list, vc->nnetworks);

		n->moid = text_of(at, "value");
		n->type = text_of(at, "type");
		n->name = vs_strdup(n->moid);
	}
}

static void take_nets(struct vcx_template *t, struct vs_j list)
{
	t->nets = vs_calloc(vs_j_len(list) + 1, sizeof(*t->nets));
	for (; t->nnets < vs_j_len(list); t->nnets++) {
		struct vs_j at = vs_j_at(list, t->nnets);

		t->nets[t->nnets].moid = text_of(at, "value");
		t->nets[t->nnets].type = text_of(at, "type");
	}
}

static void take_templates(struct vs_vc *vc, struct vs_j list)
{
	free(vc->templates);
	vc->templates = vs_calloc(vs_j_len(list) + 1, sizeof(*vc->templates));
	for (vc->ntemplates = 0; vc->ntemplates < vs_j_len(list);
	     vc->ntemplates++) {
		struct vcx_template *t = &vc->templates[vc->ntemplates];
		struct vs_j at = vs_j_at(list, vc->ntemplates);

		t->moid = text_of(at, "moid");
		t->name = vs_strdup(t->moid);
		take_nets(t, vs_j_get(at, "networks"));
	}
}

/* As if the configuration named these objects, each by its moId. */
static void configure(struct vs_vc *vc, struct vs_j of)
{
	vc->session.ids.root = text_of(of, "root");
	vc->session.ids.rights = vs_strdup("AuthorizationManager");
	vc->resolved.dc = text_of(of, "datacenter");
	vs_str_replace(&vc->dc_name, vc->resolved.dc);
	vc->resolved.folder = text_of(of, "folder");
	vs_str_replace(&vc->folder_name, vc->resolved.folder);
	vc->session.user = vs_strdup("replay");
	take_pools(vc, vs_j_get(of, "pools"));
	take_stores(vc, vs_j_get(of, "stores"));
	take_networks(vc, vs_j_get(of, "networks"));
	take_templates(vc, vs_j_get(of, "templates"));
}

static struct json_object *lacks(const struct vs_vc_missing_privilege *list,
				 size_t n)
{
	static const char *const uses[VS_VC_USES] = {
		[VS_VC_FOR_JOBS] = "jobs", [VS_VC_FOR_NOTES] = "notes",
		[VS_VC_FOR_SOURCES] = "parents",
		[VS_VC_FOR_LINKED] = "linked",
		[VS_VC_FOR_VMOTION] = "vmotion",
		[VS_VC_FOR_POLICY] = "policy" };
	struct json_object *a = vs_jb_arr();

	for (size_t i = 0; i < n; i++) {
		struct json_object *o = vs_jb_obj(NULL);

		vs_jb_str(o, "key", list[i].key);
		vs_jb_str(o, "name", list[i].name);
		vs_jb_str(o, "use", uses[list[i].use]);
		vs_jb_str(o, "privs", list[i].privs);
		vs_jb_add(a, o);
	}
	return a;
}

void replay_rights(struct vs_j line)
{
	struct vs_vc *vc = client_new();
	struct json_object *o = vs_jb_obj(NULL);
	struct vs_vc_slow told = { .rights_known = false };
	VS_FREE char *request = NULL;

	configure(vc, vs_j_get(line, "account"));
	request = vs_jb_text_free(vs_vcx_rights_question(vc));
	vs_jb_str(o, "rights", vs_j_str(vs_j_get(line, "name")));
	vs_jb_str(o, "request", request);
	vs_vcx_rights_answer(vc, vs_j_get(line, "rights"), NULL);
	vs_vcx_rights_publish(vc, &told);
	vs_jb_bool(o, "known", told.rights_known);
	vs_jb_put(o, "lacks", lacks(told.lacks, told.nlacks));
	vs_jb_put(o, "excess", lacks(told.excess, told.nexcess));
	replay_print(o);
	vs_vc_free(vc, 0);
}
