/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See fake_vc.h: the trace. One line for each call that is sent, with the time
 * since the trace began and every field that is set, in a fixed order. Texts for
 * people are left out. UUIDs are drawn at random, so the trace numbers them in
 * the order in which they appear.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "fake_vc_i.h"

#define UUID 36
#define UUIDS 1024

static FILE *out;
static int64_t began_ms;
static char uuids[UUIDS][UUID + 1];
static int nuuids;

void fake_trace_to(FILE *file)
{
	out = file;
	began_ms = file ? vs_clock() : 0;
	nuuids = 0;
}

static bool uuid_at(const char *s)
{
	for (int i = 0; i < UUID; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? s[i] != '-' :
		    !isxdigit((unsigned char)s[i]))
			return false;
	return true;
}

static int uuid_number(const char *s)
{
	int i = 0;

	while (i < nuuids && strncmp(uuids[i], s, UUID))
		i++;
	if (i == UUIDS)
		abort();
	if (i == nuuids)
		memcpy(uuids[nuuids++], s, UUID);
	return i + 1;
}

static void value(const char *s)
{
	while (*s) {
		if (uuid_at(s)) {
			fprintf(out, "uuid%d", uuid_number(s));
			s += UUID;
		} else if (*s == '\n') {
			fputs("\\n", out);
			s++;
		} else {
			putc(*s++, out);
		}
	}
}

static void text(const char *key, const char *s)
{
	if (!s)
		return;
	fprintf(out, " %s=", key);
	value(s);
}

static void number(const char *key, int64_t n)
{
	if (n)
		fprintf(out, " %s=%" PRId64, key, n);
}

void fake_trace_line(const char *fmt, ...)
{
	va_list args;

	if (!out)
		return;
	fprintf(out, "%" PRId64 " ", vs_clock() - began_ms);
	va_start(args, fmt);
	vfprintf(out, fmt, args);
	va_end(args);
	putc('\n', out);
}

static void nic(const struct vs_vc_nic_spec *c)
{
	fprintf(out, " nic[kind=%d", (int)c->kind);
	text("mac", c->mac);
	text("network", c->network);
	text("switch", c->switch_uuid);
	text("portgroup", c->portgroup_key);
	text("network_name", c->network_name);
	text("pci", c->pci);
	number("vendor", c->vendor);
	number("device", c->device);
	text("label", c->label);
	text("params", c->params);
	for (size_t i = 0; i < c->noptions; i++) {
		text("option", c->options[i].class);
		text("key", c->options[i].key);
		number("type", c->options[i].type);
	}
	text("name", c->name);
	text("system", c->system);
	number("mtu_change", c->mtu_change_allowed);
	putc(']', out);
}

static void extra(const struct vs_vc_kv *kv, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text(kv[i].key, kv[i].value);
}

static void hardware(const struct vs_vc_hw *hw)
{
	number("vcpus", hw->vcpus);
	number("cores_per_socket", hw->cores_per_socket);
	number("memory_mb", hw->memory_mb);
	number("memory_locked", hw->memory_locked);
	number("mem_reserved_mb", hw->mem_reserved_mb);
	number("cpu_reserved_mhz", hw->cpu_reserved_mhz);
	number("cpu_shares", hw->cpu_shares);
	number("mem_shares", hw->mem_shares);
	number("latency_high", hw->latency_high);
	number("cold", hw->cold);
	number("secure_boot", hw->secure_boot);
	number("exact", hw->exact);
	text("mgmt_mac", hw->mgmt_mac);
	number("mgmt_key", hw->mgmt_key);
	for (int i = 0; i < hw->ngone; i++)
		number("gone", hw->gone[i]);
	for (int i = 0; i < hw->nnics; i++)
		nic(&hw->nics[i]);
	extra(hw->extra, hw->nextra);
}

static void begin(const char *call)
{
	fprintf(out, "%" PRId64 " %s", vs_clock() - began_ms, call);
}

void fake_trace_clone(const struct vs_vc_clone *cl)
{
	if (!out)
		return;
	begin("clone");
	text("source", cl->source);
	text("folder", cl->folder);
	text("name", cl->name);
	text("uuid", cl->uuid);
	text("like", cl->like);
	text("pool", cl->pool);
	text("host", cl->host);
	text("datastore", cl->datastore);
	text("snapshot", cl->snapshot);
	text("policy", cl->policy);
	for (size_t i = 0; i < cl->ndisks; i++)
		number("disk", cl->disks[i]);
	number("annotated", cl->annotation != NULL);
	hardware(&cl->hw);
	putc('\n', out);
}

void fake_trace_instant(const struct vs_vc_instant *in)
{
	if (!out)
		return;
	begin("instant_clone");
	text("source", in->source);
	text("folder", in->folder);
	text("name", in->name);
	text("bios_uuid", in->bios_uuid);
	text("pool", in->pool);
	text("like", in->like);
	text("mgmt_mac", in->mgmt_mac);
	for (int i = 0; i < in->nnics; i++) {
		number("key", in->keys[i]);
		nic(&in->nics[i]);
	}
	extra(in->extra, in->nextra);
	putc('\n', out);
}

void fake_trace_reconfigure(const char *vm, const char *version,
			    const struct vs_vc_hw *hw)
{
	if (!out)
		return;
	begin("reconfigure");
	text("vm", vm);
	text("version", version);
	hardware(hw);
	putc('\n', out);
}
