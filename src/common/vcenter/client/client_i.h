/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the client share with each other and with those of calls.
 * Inner functions start with vs_vcx_. Only client, calls and tests include this.
 *
 * Nine files of this folder depend on each other in a cycle: states.c begins each
 * state (session.c, resolve.c, watch.c ...), what a state asks vCenter is answered
 * in a callback, and the callback brings the next event to states.c. A table of
 * callbacks would hide that, not end it. testsuite/lint/structure.txt keeps how
 * many they are.
 */
#ifndef VS_VCENTER_CLIENT_CLIENT_I_H
#define VS_VCENTER_CLIENT_CLIENT_I_H

#include <sys/types.h>
#include <time.h>

#include "util/json.h"
#include "vcenter/client/client.h"
#include "vcenter/decode/inventory.h"
#include "vcenter/decode/objects.h"
#include "vcenter/transport/fault.h"
#include "vcenter/transport/http.h"

/* ---- reading in pages (retrieve.c) --------------------------------------- */
struct vcx_read {
	struct vs_vc *vc;
	void (*object)(struct vcx_read *r, const char *type, const char *moid,
		       struct vs_j prop_set, struct vs_j missing_set);
	void (*end)(struct vcx_read *r);
	/* NULL: an error goes to vs_vcx_fail. */
	void (*failed)(struct vcx_read *r, const struct vs_err *err);
	void *arg;
};
/*
 * Limits of one answer that comes in pages. vCenter 8 pages at 100 objects and
 * has 50,000 VMs at most: 500 pages. An answer beyond a limit has no end.
 */
#define VCX_PAGES_MAX 10000
#define VCX_OBJECTS_MAX 1000000
struct vcx_pages { unsigned int pages; size_t objects; };
/* Counts one page. Returns 0 on success. Returns -1 and sets err if the answer
 * to that method is beyond a limit. */
int vs_vcx_page(struct vcx_pages *p, size_t objects, const char *method,
		struct vs_err *err);
/* Read specs: object per object, then end or failed, then r is freed. The loss
 * of the session drops it without a call. object() must not fail the client. */
void vs_vcx_read(const struct vcx_read *proto, struct json_object *spec_take);
void vs_vcx_reads_drop(struct vs_vc *vc);
/* ---- operations (tasks.c) ------------------------------------------------- */
struct vcx_op {
	uint64_t id;
	char *what;
	char *task;		/* NULL: no answer yet */
	char *result;		/* may come before the end does, */
	struct vs_err *error;	/* and so may this */
	bool listed;		/* the ListView has it or is being told */
	struct vs_vc_op cb;
	UT_hash_handle hh;	/* by id */
	UT_hash_handle ht;	/* by task */
};

/* An id that no other operation or question of this client has; never 0. */
uint64_t vs_vcx_new_id(struct vs_vc *vc);
uint64_t vs_vcx_op_new(struct vs_vc *vc, const char *what,
		       const struct vs_vc_op *cb);
struct vcx_op *vs_vcx_op_find(struct vs_vc *vc, uint64_t id);
/* The call was accepted as this task. */
void vs_vcx_op_task(struct vs_vc *vc, struct vcx_op *op, const char *task);
void vs_vcx_op_done(struct vs_vc *vc, struct vcx_op *op, const char *result,
		    const struct vs_err *err);
void vs_vcx_ops_lose(struct vs_vc *vc, const char *why);
void vs_vcx_ops_free(struct vs_vc *vc);
/* Tell the ListView what came and went, if it must know. */
void vs_vcx_list_sync(struct vs_vc *vc, bool also_removals);
/* Tells the ListView of the tasks that were gathered, if it is time. */
void vs_vcx_list_timer(struct vs_vc *vc);
void vs_vcx_list_forget(struct vs_vc *vc);
/* Acts on what vCenter says of a task: ends its operations, if it has ended or is
 * lost. */
void vs_vcx_task_received(struct vs_vc *vc, const struct vcx_task_update *t);

/* ---- the client ---------------------------------------------------------- */
enum vcx_state {
	VCX_WAITING,		/* backoff, or an administrator must act */
	VCX_HELLO,
	VCX_CONTENT,
	VCX_LOGIN,
	VCX_RESOLVE,
	VCX_WATCH,		/* views, collector, filters, first slow read */
	VCX_LOAD,
	VCX_UP,
	VCX_NSTATES,
};

/* What happens to it. Steps forward, then failures by what they leave. */
enum vcx_event {
	VCX_EV_START,		/* the wait is over */
	VCX_EV_RELEASE,		/* both sides speak this one */
	VCX_EV_CONTENT,		/* it is a vCenter, its ids are known */
	VCX_EV_LOGGED_IN,
	VCX_EV_RESOLVED,	/* all names have their objects */
	VCX_EV_WATCHES,		/* the filters are made */
	VCX_EV_LOADED,
	VCX_EV_VERSION_LOST,	/* vCenter forgot what it had told */
	VCX_EV_LOST,		/* no answer, or none that is understood */
	VCX_EV_NO_SESSION,	/* NotAuthenticated, or its objects are gone */
	VCX_EV_REFUSED,		/* the login, for a reason that stays */
	VCX_EV_WRONG,		/* an administrator must correct something */
	VCX_NEVENTS,
};
#define VCX_PASSWORD_CHECK_MS 2000
#define VCX_SETTLED_MS 5000	/* a session that lasted this long is sound */

struct vcx_network {
	char *name, *type, *moid, *switch_uuid, *portgroup_key;
	bool seen, nsx;
	unsigned int accepts;	/* VS_VC_ACCEPTS_* */
};

struct vcx_ids {		/* from ServiceContent */
	char *root, *collector, *views, *sessions, *search, *tasks, *rights;
};

/* The configuration, which doesn't change: client.c owns it. */
struct vcx_conf {
	char *username, *password_file;	/* our own copies */
	unsigned int password_uid;
	bool read_only, notes, linked, instant, vmotion, policy;
};

/* VCX_WAITING, and what leads to it: states.c owns it. */
struct vcx_wait {
	int64_t retry_at;		/* -1: only when fixed */
	int fails;
	enum vcx_state again;		/* where it leads; 0: hello */
	bool watch_files;
	int64_t password_check_at;
	char last_down[640];
};

/* The files as they were when they were read last: session.c owns it. */
struct vcx_files {
	struct timespec password_mtime, password_ctime, ca_ctime;
	ino_t password_ino;
	off_t password_size;
};

/* Of the vCenter and of the login: session.c owns it. */
struct vcx_session {
	char *about, *version, *instance_uuid, *user;
	struct vcx_ids ids;
};

/* moIds of the datacenter, its VM folder and the configured one: resolve.c owns
 * it. */
struct vcx_resolved {
	char *dc, *vm_folder, *folder;
};

/* Views, collector and the long poll: watch.c owns it. A new poll interval moves
 * poll_at (vs_vc_poll_set). */
struct vcx_watch {
	char *pc, *list_view;
	char **views;			/* one per cluster, then the folder's */
	size_t nviews, step;
	char *poll_version;
	bool poll_truncated, poll_open, poll_news;
	struct vcx_pages poll_pages;	/* truncated updates in a row */
	int poll_fails;
	int reloads;			/* since the connection was sound */
	int64_t poll_at;		/* not before; 0: it is open, or none */
	bool gathers;			/* so long for changes' sake alone */
	int64_t told_at;		/* of the last answer to it */
};

/* Operations, and the ListView of their tasks: tasks.c owns it. */
struct vcx_tasks {
	struct vcx_op *by_id, *by_task;
	uint64_t next_id;
	char **gone_tasks;		/* to take out of the ListView */
	size_t ngone, capgone;
	bool list_busy;
	int list_fails;
	int64_t list_at;
};

struct vs_vc {
	struct vs_vc_events ev;
	void *ev_arg;
	struct vcx_conf conf;
	/* what the configuration names, our own copies, and what it is */
	char *dc_name, *folder_name;
	struct vs_vc_store *stores;	/* whose texts are our own */
	bool *stores_seen;
	struct vcx_cluster *clusters;
	struct vcx_network *networks;
	struct vcx_template *templates;
	size_t nclusters, nnetworks, ntemplates, nstores;
	struct vcx_http http;
	/* life */
	enum vcx_state state;
	int64_t now, up_at;
	struct vcx_wait wait;
	struct vcx_files files;
	struct vcx_session session;
	struct vcx_resolved resolved;
	struct vcx_resolve *resolve;
	struct vcx_lookup *lookup;		/* of templates */
	int64_t search_at;			/* not before */
	struct vs_inv *inv;
	struct vcx_watch watch;
	enum vs_vc_poll calm;
	/* slow beat */
	struct vcx_slow *slow;
	struct vcx_rights *rights;
	bool slow_busy;
	int64_t slow_at;
	int64_t rights_at;		/* while calm, not before */
	struct vcx_tasks tasks;
	/* Read for svf status, in any thread. */
	struct {
		_Atomic uint64_t logins, refused_events;
	} stats;
	struct vcx_read_list *reads;
};

/* ---- the states (states.c) ------------------------------------------------ */
/* The only door to another state. Returns false if the table has no entry for
 * the state and this event: the state stays, and the refusal is counted and
 * logged. Entering a state may call back and may fail the client again. */
bool vs_vcx_event(struct vs_vc *vc, enum vcx_event ev);
/* The table's entry, for tests. Returns false if the pair is refused. *again:
 * where the wait leads, if *to is VCX_WAITING. */
bool vs_vcx_leads(enum vcx_state from, enum vcx_event ev, enum vcx_state *to,
		  enum vcx_state *again);
/* Frees what belongs to a session, or to the work for one. */
void vs_vcx_session_forget(struct vs_vc *vc);
/* The session, the connection or the start has failed: say so, clean up, come
 * back later. */
void vs_vcx_fail(struct vs_vc *vc, const struct vs_err *err);
/* Called in VCX_WAITING: starts if the wait is over, or if the client waits for a
 * file and the file has changed. */
void vs_vcx_wait_timer(struct vs_vc *vc);
/* fail() if the document read so far is not what it must be. */
bool vs_vcx_bad(struct vs_vc *vc, struct vs_j reply);

void vs_vcx_hello(struct vs_vc *vc);
void vs_vcx_content(struct vs_vc *vc);
void vs_vcx_login(struct vs_vc *vc);
bool vs_vcx_files_changed(struct vs_vc *vc);
/* A new password file does not fix a failure that came before the file was
 * read. */
void vs_vcx_files_received(struct vs_vc *vc);
void vs_vcx_resolve(struct vs_vc *vc);
void vs_vcx_resolve_free(struct vs_vc *vc);
void vs_vcx_details(struct vs_vc *vc);
void vs_vcx_watch(struct vs_vc *vc);
void vs_vcx_watch_forget(struct vs_vc *vc);
void vs_vcx_load(struct vs_vc *vc);
void vs_vcx_poll(struct vs_vc *vc);
void vs_vcx_poll_timer(struct vs_vc *vc);
/* poll_interval.c: how long changes are gathered after an answer that brought some, or
 * none; when the slow values are read next. */
int vs_vcx_gather_ms(const struct vs_vc *vc, bool news);
int vs_vcx_poll_ms(const struct vs_vc *vc);
void vs_vcx_slow(struct vs_vc *vc);
void vs_vcx_slow_free(struct vs_vc *vc);
/* Fits all hosts' figures to what is known; those that changed wait for
 * vs_inv_flush. */
void vs_vcx_capacity(struct vs_vc *vc);
/* The beat is left out; before the inventory is loaded, the start has failed. */
void vs_vcx_slow_failed(struct vs_vc *vc, const struct vs_err *err);
/* The beat's last part, once its templates have been read: what the account may
 * do. Then the client's user is told the values of the beat. */
void vs_vcx_slow_rights(struct vs_vc *vc);

/* ---- rights (rights.c) ---------------------------------------------------- */
/* Returns the arguments of HasUserPrivilegeOnEntities, which the caller owns.
 * Returns NULL if it is not time to ask, or this vCenter can't be asked. */
struct json_object *vs_vcx_rights_question(struct vs_vc *vc);
/* Keeps the answer to that question. With err, or an answer that is not understood,
 * the rights are unknown. */
void vs_vcx_rights_answer(struct vs_vc *vc, struct vs_j reply,
			  const struct vs_err *err);
void vs_vcx_rights_free(struct vs_vc *vc);
void vs_vcx_rights_publish(const struct vs_vc *vc, struct vs_vc_slow *out);

/* ---- templates (templates.c) ---------------------------------------------- */
/* Looks for templates without a moid, and reads those that are stale. At the login
 * vs_vcx_details() follows, on a slow beat vs_vcx_slow_rights(). An error goes to
 * vs_vcx_fail() or vs_vcx_slow_failed(). */
void vs_vcx_templates(struct vs_vc *vc);
void vs_vcx_lookup_free(struct vs_vc *vc);
void vs_vcx_templates_publish(struct vs_vc *vc);

#endif
