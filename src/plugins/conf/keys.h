/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of vsphere.conf's keys: parser, error texts, `svf conf` and the
 * man page come from it. No Slurm here.
 */
#ifndef VS_PLUGINS_CONF_KEYS_H
#define VS_PLUGINS_CONF_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum vs_conf_scope {		/* the kinds of lines */
	VS_SCOPE_TOP,
	VS_SCOPE_ADAPTER,
	VS_SCOPE_PARTITION,
	VS_SCOPE_CLUSTER,
	VS_SCOPE_HOST,
	VS_SCOPES
};

enum vs_conf_type {
	VS_CONF_NAME,		/* what opens a line: AdapterName=... */
	VS_CONF_TEXT,
	VS_CONF_URL,		/* https://host[:port] */
	VS_CONF_PATH,		/* absolute */
	VS_CONF_CHOICE,
	VS_CONF_PCI,
	VS_CONF_POOLS,		/* IPv4 addresses, util/ipv4.h; max: how many */
	VS_CONF_IPS,		/* likewise, single ones */
	VS_CONF_DOMAINS,	/* likewise, of DNS */
	VS_CONF_INT,		/* an int */
	VS_CONF_HEX,		/* an int, written 0x10de */
	VS_CONF_MB,		/* an int64_t */
	VS_CONF_BOOL,		/* yes or no */
	VS_CONF_AMOUNT,		/* an int64_t, -1 for "full" */
	VS_CONF_SHARES,		/* an int, see conf_i.h */
	VS_CONF_OPTIONS,	/* ints in a row: "a=1,b=2"; choices names them in order */
};

enum vs_conf_level {		/* who needs the key; the order in which it is listed */
	VS_LEVEL_REQUIRED,
	VS_LEVEL_COMMON,	/* many sites */
	VS_LEVEL_ADVANCED,	/* few sites */
	VS_LEVELS
};

struct vs_conf_key {
	enum vs_conf_scope scope;
	enum vs_conf_type type;
	const char *key;
	const char *dflt;	/* as it would be written; NULL: none */
	bool required;		/* in each line of its kind */
	enum vs_conf_level level;
	const char *choices;	/* "a|b" for VS_CONF_CHOICE and VS_CONF_OPTIONS */
	long min, max;		/* of numbers */
	size_t offset;		/* into vs_conf or vs_conf_adapter, ... */
	const char *doc;	/* one or two sentences */
};

#define VS_CONF_KEYS 96		/* no scope mixes: rows in the table */

extern const struct vs_conf_key vs_conf_keys[];
extern const size_t vs_conf_nkeys;

/* "required", "common", "advanced". */
const char *vs_conf_level_name(enum vs_conf_level level);
/* "AdapterName" and so on; "" for VS_SCOPE_TOP. */
const char *vs_conf_opener(enum vs_conf_scope scope);
/* Index of a key (case doesn't matter) in any scope of the mask, or -1. */
int vs_conf_key_find(const char *key, size_t len, unsigned int scope_mask);
/* What to do instead of a key that an earlier release had (case doesn't matter), as
 * the end of an error's sentence. NULL: there was no such key. */
const char *vs_conf_key_removed(const char *key, size_t len);
/* What to write instead of a key that an earlier release had under this name (case
 * doesn't matter), as the end of an error's sentence. NULL: there was no such key. */
const char *vs_conf_key_renamed(const char *key, size_t len);
/* How many options a key of VS_CONF_OPTIONS has. */
size_t vs_conf_options(const struct vs_conf_key *k);
/* What to write instead of a value that the key had in an earlier release (case
 * doesn't matter). NULL: it had no such value. */
const char *vs_conf_value_renamed(const char *key, const char *value);
/* The name most like this one, or NULL if none is near. */
const char *vs_conf_key_near(const char *key, size_t len,
			     unsigned int scope_mask);

#endif
