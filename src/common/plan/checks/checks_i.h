/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the checks share; no other folder includes it. A check is a
 * row of check_rows.h and, unless a flag that is set is all, a judge here.
 */
#ifndef VS_PLAN_CHECKS_I_H
#define VS_PLAN_CHECKS_I_H

#include "plan/checks/checks.h"

/* ---- judges ------------------------------------------------------------- */

/* What a judge is asked about. Members that its row's unit lacks are NULL. */
struct vs_subject {
	const struct vs_check_site *site;
	struct vs_usual *usual;
	const struct vs_host *host;
	const struct vs_template_facts *template;
	const struct vs_store_facts *store;
	const struct vs_pool_facts *pool;
	size_t i;			/* the unit's index, such as a PF's */
	bool counting;			/* vs_check_odd() only counts */
	/* the table's */
	const struct vs_check_row *row;
	enum vs_check code;
	unsigned int known, bad;	/* facts */
	const char *most;		/* as vs_check_odd() found it */
	int nmost;
	struct vs_found_list *l;
	const char *object;		/* default: the host's or other name */
	bool added;
};

/* The RealMemory= whose VM, with the default of MemoryOverhead=, has at most vm_mb. */
long long vs_check_real_memory(long long vm_mb);
/* Returns true if it has found something, which vs_check_find() has added. */
typedef bool vs_judge(struct vs_subject *k);

/* Adds the row's finding. The text is "what is" SHOULD "what should be" FIX
 * "commands, one a line"; in it "{}" is the object's name. Returns the finding,
 * never NULL. It is valid until the next one is added. */
struct vs_found *vs_check_find(struct vs_subject *k, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
#define VS_CHECK_PART "\036"
#define SHOULD VS_CHECK_PART
#define FIX VS_CHECK_PART

/* Into maintenance, these commands, each with its newline, a reboot, and back
 * when the host is there again: no line comes before what it needs. */
#define REBOOT(commands) \
	"govc host.maintenance.enter {}\n" commands \
	"govc host.shutdown -r {}\n" \
	"govc object.collect -wait 15m \"$(govc find / -type h -name {})\" -runtime.connectionState notResponding\n" \
	"govc object.collect -wait 60m \"$(govc find / -type h -name {})\" -runtime.connectionState connected\n" \
	"govc host.maintenance.exit {}"
#define ESXCLI "govc host.esxcli -host {} "
#define UPDATE REBOOT(ESXCLI "software profile update -d DEPOT -p PROFILE\n")
#define ADD_UPLINK "govc dvs.add -dvs %s -pnic %s {}"
#define SMALL_MTU "MTU %d on %s" SHOULD "%d (adapter %s)" \
	FIX "govc dvs.change -mtu %d %s"
/* A command that changes a template, which must be a VM for it. */
#define AS_VM(command) \
	"govc vm.markasvm -host HOST {}\n" command "\ngovc vm.markastemplate {}"
#define READONLY "govc permissions.set -principal '%s' -role ReadOnly -propagate=true /"

/* Returns true if another value is usual for the row and the key: k->most, which
 * k->nmost have. Returns false if the value is usual, or "". Returns false in
 * the first pass, which counts. */
bool vs_check_odd(struct vs_subject *k, const char *key, const char *value);

#define FOUND(...)
#define CHECK(id, code, severity, of, unit, facts, chain, judge, ...) \
	vs_judge vs_judge_##judge;
#define FLAG(...)
#define AGAIN(id, unit, facts, chain, judge) vs_judge vs_judge_##judge;
#include "plan/checks/check_rows.h"

/* ---- what is usual ------------------------------------------------------ */

struct vs_usual {
	struct usual *all;
	struct { int64_t mem, cores; } *fits;	/* VMs, by profile */
};

/* One more has this value; "" counts nothing. */
void vs_usual_add(struct vs_usual *u, const char *kind, const char *key,
		  const char *value);
/* The value that most have; of those that as many have, the greatest. NULL:
 * none is known. *n: how many have it, *others: how many have another. */
const char *vs_usual_value(const struct vs_usual *u, const char *kind,
			   const char *key, int *n, int *others);
/* How many have this value. */
int vs_usual_has(const struct vs_usual *u, const char *kind, const char *key,
		 const char *value);
/* Which networks and uplinks hosts have; which NICs PFs are, with how many
 * VFs. */
void vs_usual_count_networks(struct vs_usual *u, const struct vs_check_site *s,
			     const struct vs_host *h);
void vs_usual_count_pfs(struct vs_usual *u, const struct vs_check_site *s,
			const struct vs_host *h);

/* ---- hosts and PFs -------------------------------------------------------- */

static inline bool vs_check_takes_vf(const struct vs_adapter *a)
{
	return vs_adapter_vfs(a) && vs_adapter_nics(a);
}

/* What the host says of the switch of an adapter's network; NULL: nothing. */
const struct vs_switch_facts *vs_check_switch(const struct vs_host *h,
					      const struct vs_network *net);
/* The first adapter with VFs that draws on the PF; NULL: none. */
const struct vs_adapter *vs_check_drawn_by(const struct vs_check_site *s,
					   const struct vs_host *h,
					   const struct vs_pf *pf);
/* A PF by which the adapter's VMs get to its network? Of this driver, which the
 * host's facts must say; "": of any. */
bool vs_check_has_pf(const struct vs_check_site *s, const struct vs_host *h,
		     size_t a, const char *driver);
/* Is the host judged by whether this adapter's network has an uplink there? */
bool vs_check_wants_uplink(const struct vs_check_site *s,
			   const struct vs_host *h, size_t a);
/* Should this uplink of the adapter's network be a PF, though it can't be one?
 * All should if the network has no PF there, else those of the PFs' driver. */
bool vs_check_incapable(const struct vs_check_site *s, const struct vs_usual *u,
			const struct vs_host *h, size_t a,
			const struct vs_incapable_facts *f);
/* Could the PF be one by which the adapter's VMs get to its network, if it were
 * an uplink of its switch? */
bool vs_check_would_reach(const struct vs_check_site *s, size_t a,
			  const struct vs_pf *pf);
/* It has one that no adapter draws on, though it could be this one's. */
bool vs_check_surplus(const struct vs_check_site *s, const struct vs_usual *u,
		      const struct vs_host *h, size_t a);

#endif
