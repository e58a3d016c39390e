/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A PartitionName= line's words on its VMs' hardware. What ESXi demands of a VM
 * with passthrough or with LatencySensitivity=high is so without a word; an own
 * value that contradicts it is refused here, with the reason, and not by a
 * power-on later. What a type demands is plan/devices/adapter_type's word.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "plan/devices/vm_hardware.h"
#include "conf_i.h"

static int number(const struct vs_conf_key *k, const char *s, long *out)
{
	char *end;

	errno = 0;
	*out = strtol(s, &end, 10);
	return errno || end == s || *end || *out < k->min || *out > k->max ?
		-1 : 0;
}

int vs_conf_amount(const struct vs_conf_key *k, const char *s, int64_t *out,
		   struct vs_err *err)
{
	long n = VS_RESERVE_FULL;

	if (strcasecmp(s, "full") && number(k, s, &n))
		return vs_err_set(err, VS_E_CONFIG,
			"%.40s: expected full, or a number from %ld to %ld", s,
			k->min, k->max);
	*out = n;
	return 0;
}

int vs_conf_shares(const struct vs_conf_key *k, const char *s, int *out,
		   struct vs_err *err)
{
	long n = !strcasecmp(s, "low") ? VS_SHARES_LOW :
		!strcasecmp(s, "high") ? VS_SHARES_HIGH : VS_SHARES_NORMAL;

	if (!n && strcasecmp(s, "normal") && number(k, s, &n))
		return vs_err_set(err, VS_E_CONFIG,
			"%.40s: expected low, normal, high, or a number from %ld to %ld",
			s, k->min, k->max);
	*out = (int)n;
	return 0;
}

/* ---- beside the line's other words ------------------------------------------ */

static bool kind_of(const struct vs_conf_adapter *a, struct vs_adapter *out)
{
	memset(out, 0, sizeof(*out));
	out->per_node = a->per_node;
	return !vs_adapter_type_parse(a->type, &out->type, NULL);
}

/* What pins all memory: "Type=sriov", or NULL. */
static const char *pins(const struct vs_conf *conf,
			const struct vs_conf_adapter *a)
{
	const struct vs_conf_adapter *with = a->with ?
		vs_conf_adapter_named(conf, a->with) : NULL;
	struct vs_adapter kind;

	if (kind_of(a, &kind) && vs_adapter_pins(&kind))
		return a->type;
	return with && kind_of(with, &kind) && vs_adapter_pins(&kind) ?
		with->type : NULL;
}

static bool is_high(const struct vs_conf_partition *p)
{
	return p->latency && !strcasecmp(p->latency, "high");
}

static int check_reservations(const struct vs_conf *conf,
			      const struct vs_conf_partition *p,
			      const struct vs_conf_adapter *a,
			      const struct vs_conf_file *f,
			      const struct vs_conf_record *r,
			      struct vs_err *err)
{
	const char *type = pins(conf, a);
	bool cpu = p->cpu_reservation != VS_RESERVE_FULL &&
		r->values[vs_conf_key_find("CPUReservation", 14,
					   1u << VS_SCOPE_PARTITION)];
	bool mem = p->memory_reservation != VS_RESERVE_FULL &&
		r->values[vs_conf_key_find("MemoryReservation", 17,
					   1u << VS_SCOPE_PARTITION)];

	if (is_high(p) && cpu)
		return vs_conf_err(
			f, vs_conf_key_line(r, "CPUReservation"), err,
			"CPUReservation=%lld contradicts LatencySensitivity=high, which needs all of the VM's CPU reserved: expected full, or no CPUReservation",
			(long long)p->cpu_reservation);
	if (mem && type)
		return vs_conf_err(f, vs_conf_key_line(r, "MemoryReservation"),
			err, "MemoryReservation=%lld contradicts Adapter=%s: with Type=%s the device writes to any of the VM's memory, and all of it must be reserved: expected full, or no MemoryReservation",
			(long long)p->memory_reservation, a->name, type);
	if (mem && is_high(p))
		return vs_conf_err(f, vs_conf_key_line(r, "MemoryReservation"),
			err, "MemoryReservation=%lld contradicts LatencySensitivity=high, which needs all of the VM's memory reserved: expected full, or no MemoryReservation",
			(long long)p->memory_reservation);
	return 0;
}

static int check_numa(const struct vs_conf_partition *p,
		      const struct vs_conf_adapter *a,
		      const struct vs_conf_file *f,
		      const struct vs_conf_record *r, struct vs_err *err)
{
	struct vs_adapter kind;

	if (!p->numa_affinity || strcasecmp(p->numa_affinity, "pf") ||
	    (kind_of(a, &kind) && vs_adapter_vfs(&kind)))
		return 0;
	return vs_conf_err(f, vs_conf_key_line(r, "NumaAffinity"), err,
		"NumaAffinity=pf: a VM with Adapter=%s (Type=%s) has no PF or device of its host, whose NUMA node it could be on: expected none",
		a->name, a->type);
}

int vs_conf_hardware_check(const struct vs_conf *conf,
			   const struct vs_conf_file *f, struct vs_err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < f->nrecords; i++) {
		const struct vs_conf_record *r = &f->records[i];
		const struct vs_conf_partition *p;
		const struct vs_conf_adapter *a;

		if (r->scope != VS_SCOPE_PARTITION)
			continue;
		p = &conf->partitions[n++];
		a = vs_conf_adapter_named(conf, p->adapter);
		if (!a)
			continue;
		if (check_reservations(conf, p, a, f, r, err) ||
		    check_numa(p, a, f, r, err))
			return -1;
	}
	return 0;
}

int vs_conf_hardware_node(const struct vs_conf_partition *p, int vcpus,
			  int64_t memory_mb, struct vs_err *err)
{
	if (p->cores_per_socket && vcpus % p->cores_per_socket)
		return vs_err_set(err, VS_E_CONFIG,
			"CoresPerSocket=%d does not divide the %d CPUs of a node",
			p->cores_per_socket, vcpus);
	if (p->memory_reservation > memory_mb)
		return vs_err_set(err, VS_E_CONFIG,
			"MemoryReservation=%lld is more than the %lld MB of a VM: expected full",
			(long long)p->memory_reservation,
			(long long)memory_mb);
	return 0;
}

static bool same_word(const char *a, const char *b)
{
	return !strcasecmp(a ? a : "", b ? b : "");
}

bool vs_conf_hardware_same(const struct vs_conf_partition *a,
			   const struct vs_conf_partition *b)
{
	return a->cpu_reservation == b->cpu_reservation &&
	       a->memory_reservation == b->memory_reservation &&
	       a->cpu_shares == b->cpu_shares &&
	       a->memory_shares == b->memory_shares &&
	       a->cores_per_socket == b->cores_per_socket &&
	       same_word(a->secure_boot, b->secure_boot) &&
	       same_word(a->numa_affinity, b->numa_affinity);
}
