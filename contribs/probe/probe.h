/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf-probe: what its files share. See main.c for what it is and never does. */
#ifndef PROBE_H
#define PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/buf.h"
#include "util/json.h"
#include "vcenter/calls/raw_call.h"
#include "vcenter/calls/calls.h"

#define PROBE_VMS 4		/* never more at a time */
#define PROBE_TASK_MS 900000	/* patience with one task */
#define PROBE_SHOW_MS 30000	/* until an effect is shown */

/* ---- options.c ----------------------------------------------------------- */
struct options {
	char *vcenter, *username, *password_file, *ca_file, *datacenter,
	     *folder, *datastore, *cluster, *pool, *network, *template_name,
	     *conf, *only, *json_file, *record;
	char *taken_folder;	/* Folder= of vsphere.conf */
	int memory_mb, poll_seconds;
	bool read_only, plan, yes, names, hosts, verbose, quick;
};
/* Returns 0 to continue, else an exit code + 1. */
int options_read(struct options *o, int argc, char **argv);
void options_free(struct options *o);

/* ---- what vCenter showed (link.c) ------------------------------------------ */
struct host {
	char *moid, *name, *cluster;
	bool connected, maintenance;
	struct { char pci[16]; char *switch_uuid; int vfs; bool link_up; }
		pfs[8];
	size_t npfs;
};

struct vm {
	char *moid, *name, *folder, *host, *uuid, *power, *mark, *word, *pci;
	char *change_version;
	bool connected, is_template, has_nic, automatic, mtu_change;
	int64_t power_ms;	/* when this power was shown */
	int64_t word_ms;
};

struct op {			/* one mutating call, from its start on */
	bool started, done;
	char task[64], result[64];
	struct vs_err err;	/* code 0: success */
	int64_t sent_ms, started_ms, done_ms;
};

struct reply {			/* of a call by hand */
	bool done;
	long status;
	char *text;		/* owned */
	size_t len;
	struct vs_jdoc doc;	/* owned */
	struct vs_err err;
	int64_t sent_ms, ms;
};

/* ---- the stages of first contact (contact.c) --------------------------------- */
enum stage { STAGE_TLS, STAGE_HELLO, STAGE_VERSIONS, STAGE_CONTENT,
	STAGE_LOGIN, STAGE_NAMES, STAGE_READ, STAGE_FILTER, STAGE_WAIT,
	STAGE_OTHER };
enum {				/* exit codes, those of svf(1) */
	PROBE_OK = 0,
	PROBE_NO = 1,		/* not complete, or a VM remains */
	PROBE_USAGE = 2,
	PROBE_AWAY = 3,		/* vCenter gives no usable answer */
	PROBE_AUTH = 4,		/* vCenter refuses the login */
	PROBE_FILE = 5,		/* a file is wrong or can't be written */
};
struct contact {		/* of one stage: its last answer */
	int answers;
	long status;
	int64_t us;
	size_t bytes;
	struct vs_err err;	/* code 0: none */
};

/* What stands for names, addresses and other texts of the site (scrub.c). */
struct name { char *name, *alias; size_t next; };
struct names {
	struct name *list;
	size_t n, cap;
	size_t heads[256];	/* by the first letter: index and 1 */
};
struct record;			/* record.c */

/* ---- answers (report.c) ---------------------------------------------------- */
enum verdict { UNKNOWN, AGREES, DIFFERS };
struct answer {
	enum verdict verdict;
	struct vs_buf seen;
};

struct probe;
enum kind { READ, CHANGE, WATCH };
struct question {
	const char *id;
	enum kind kind;
	const char *asked;
	const char *does;	/* for --plan; NULL: reads */
	const char *assumed;	/* by the code */
	void (*run)(struct probe *p, struct answer *a);
};
extern const struct question read_questions[], wire_questions[],
	check_questions[], vm_questions[],
	power_questions[], host_questions[];
extern const struct question *const all_questions[];	/* NULL at the end */
/* By --only, --read-only and --hosts. */
bool is_wanted(const struct options *o, const struct question *q);

struct probe {
	struct options o;
	struct vs_vc *vc;
	bool up, loaded;
	struct vs_err down;
	int ups;
	struct reply **late;	/* their callers have stopped waiting */
	size_t nlate, cap_late;
	/* copies of vs_vc_found */
	char *about, *release, *user, *dc, *folder, *store, *cluster, *pool,
	     *network, *switch_uuid, *portgroup_key, *source, *source_host,
	     *drs_behavior;
	bool drs, ha;			/* on, as q_drs and q_ha read it */
	enum vs_vc_auto drs_auto, ha_auto;	/* as the client makes of it */
	bool rights_known;
	char lacks[600], excess[400];
	struct host *hosts;
	size_t nhosts, cap_hosts;
	struct vm *vms;
	size_t nvms, cap_vms;
	struct json_object *tasks;	/* of the last slow beat */
	uint64_t beats;
	char run_id[40];	/* our mark's first word */
	int names_used;
	struct op **ops;	/* all that was ever sent */
	size_t nops, cap_ops;
	bool cleaning, changed;
	struct names names, addresses, values;
	char *secret;			/* the password; NULL: not read */
	struct record *record;		/* NULL: nothing is recorded */
	const char *asking;		/* the question's id, or NULL */
	struct contact contact[STAGE_OTHER + 1];
	enum stage at, ended;		/* the last answer's; where it ended */
	bool met, truncated;		/* first contact is over */
	struct vs_err refused;		/* the last answer that was an error */
	struct { const struct question *q; struct answer a; } *answers;
	size_t nanswers, cap_answers;
};

extern volatile int probe_stop;

int link_open(struct probe *p, struct vs_err *err);
void link_close(struct probe *p);
/* Polls until test(p, arg) is true. Returns false if ms have passed or a signal
 * stops the probe. */
bool link_until(struct probe *p, bool (*test)(struct probe *p, void *arg),
		void *arg, int64_t ms);
void link_sleep(struct probe *p, int64_t ms);
struct vm *vm_get(struct probe *p, const char *moid);
struct host *host_get(struct probe *p, const char *moid);
/* Fill by a call by hand; 0, or -1 with r->err. reply_free it in any case. */
int ask(struct probe *p, struct reply *r, const char *type, const char *moid,
	const char *method, struct json_object *body_take, int timeout_ms);
int ask_get(struct probe *p, struct reply *r, const char *type,
	    const char *moid, const char *property);
/* Any question: its fn and arg are set here. */
int ask_any(struct probe *p, struct reply *r, struct vs_vc_raw_request *q);
void reply_free(struct reply *r);
/* What the task itself says: the fault's own type and words, before our client
 * makes sense of them. */
void saw_task(struct probe *p, struct answer *a, const char *what,
	      const char *task);
/* DRS and HA as the cluster is set, into p; reply_free it. */
void read_cluster(struct probe *p, struct answer *a, struct reply *r);
/* Of a host: how many bindings of assignable hardware it shows. */
void saw_bindings(struct probe *p, struct answer *a, const struct host *h);
/* The task a call by hand began, followed to its end. */
struct op *ask_task(struct probe *p, const char *type, const char *moid,
		    const char *method, struct json_object *body_take);

/* ---- vms.c ------------------------------------------------------------------- */
struct make {			/* how a VM is to be made */
	const char *name;	/* NULL: the next one */
	const char *host;	/* moid */
	bool nic;
	const char *pci;	/* NULL: automatic */
	const char *uuid;	/* NULL: random */
	const char *mac;	/* of the template's NIC, NULL: as it is */
	const char *snapshot;	/* linked clone of it, NULL: a full one */
	int latency_mhz;	/* sensitivity high, this reserved; 0: normal */
	const struct vs_vc_nic_spec *as;	/* the NIC, NULL: SR-IOV on our
						 * network */
};
/* The body of CloneVM_Task, for a call by hand. */
struct json_object *vm_clone_body(struct probe *p, const struct make *m);
/* A clone is under way; NULL: it could not be sent, or there are too many. */
struct op *vm_begin(struct probe *p, const struct make *m, struct vs_err *err);
/* Up to its end, and shown. The VM's moid lives as long as p; NULL with a's
 * words if it came to nothing. */
const char *vm_make(struct probe *p, const struct make *m, struct answer *a);
struct op *vm_power(struct probe *p, const char *moid, bool on,
		    const char *host);
/* A pending op, to be handed to the client; it lives as long as p. */
struct op *op_new(struct probe *p, struct vs_vc_op *cb);
bool op_wait(struct probe *p, struct op *op, int64_t ms);	/* it ended */
bool op_good(struct probe *p, struct op *op);	/* and ended well */
/* Until vCenter shows it on or off. */
bool vm_shown(struct probe *p, const char *moid, bool on, int64_t ms);
/* Switch it, wait for the end and for the showing; a's words if it fails. */
bool vm_switch(struct probe *p, const char *moid, bool on, struct answer *a);
void vm_end(struct probe *p, const char *moid);
bool vm_ours(const struct probe *p, const struct vm *vm);
size_t vms_ours(const struct probe *p);
/* Removes all that the probe created. Returns false, with a message, if an
 * object stays. */
bool vms_end(struct probe *p);
/* A usable host of our cluster, the n-th (with a PF of our network if there is
 * one at all); NULL: there is none. */
struct host *host_for(struct probe *p, size_t n);
bool pf_reaches(const struct probe *p, const struct host *h, size_t pf);
/* NICs of VMs that are on that may be on this PF. */
int pf_used(const struct probe *p, const struct host *h, size_t pf);

/* ---- report.c ------------------------------------------------------------------ */
void saw(struct answer *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void judge(struct answer *a, bool agrees);
/* Questions of forms.c that stand among those of checks.c. */
void q_transcoder(struct probe *p, struct answer *a);
void q_faultform(struct probe *p, struct answer *a);
void q_capacity(struct probe *p, struct answer *a);
void q_emptypost(struct probe *p, struct answer *a);
void q_session(struct probe *p, struct answer *a);
/* A fault in data, in whichever form it comes, and which that is: "flat" or
 * "nested". checks.c. */
void saw_fault(struct answer *a, const char *what, struct vs_j fault);
const char *fault_form(struct vs_j fault);
/* A fault as far as it may be told. */
void saw_err(struct answer *a, const char *what, const struct vs_err *err);
void report_text(struct probe *p, FILE *f);
int report_json(struct probe *p, const char *path);
void print_plan(const struct probe *p);

/* ---- scrub.c -------------------------------------------------------------------- */
/* name is KIND-N from now on, wherever it stands as a word. */
void alias_add(struct probe *p, const char *name, const char *kind);
/* Without names, addresses, uuids (--names: as it is). free() it. */
char *scrub(struct probe *p, const char *text);
/* The same, but equal addresses stay equal and keep their form. */
char *scrub_numbered(struct probe *p, const char *text);
/* The same for a path of HTTP: types, ids and methods are no names. */
char *scrub_path(struct probe *p, const char *path);
/* What stands for a whole value; lives as long as p. names_get and
 * address_alias: NULL if it is none. */
const char *names_get(const struct names *m, const char *name);
const char *address_alias(struct probe *p, const char *value);
const char *value_alias(struct probe *p, const char *value, const char *member);
void names_free(struct names *m);

/* ---- contact.c ------------------------------------------------------------------ */
const char *stage_name(enum stage stage);
enum stage stage_of(const char *path);
/* A vs_vc_exchange_fn, with the probe as arg. */
void contact_seen(void *arg, const struct vs_vc_exchange *x);
void contact_down(struct probe *p, const struct vs_err *err);
void contact_text(struct probe *p, FILE *f);
struct json_object *contact_json(struct probe *p);
int contact_exit(const struct probe *p);

/* ---- record.c ------------------------------------------------------------------- */
/* The directory of --record, made and empty. Returns 0, also if there is none
 * to be made; -1 once the cause is said. */
int record_open(struct probe *p);
void record_add(struct probe *p, enum stage stage,
		const struct vs_vc_exchange *x);
/* All of it, scrubbed. Returns -1 if it can't be written, which is said. */
int record_write(struct probe *p);
void record_free(struct probe *p);

#endif
