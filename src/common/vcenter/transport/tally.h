/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls to vCenter that came to an end, by name and outcome, of all clients that
 * this process had. Any thread may ask.
 */
#ifndef VS_VCENTER_TRANSPORT_TALLY_H
#define VS_VCENTER_TRANSPORT_TALLY_H

#include <stddef.h>
#include <stdint.h>
#include "util/err.h"

#define VS_TALLY_NAMES 64	/* one counts what has no place: "other" */
#define VS_TALLY_NAME_LEN 48

struct vs_tally {
	char name[VS_TALLY_NAME_LEN];	/* "PowerOnVM_Task" */
	uint64_t ended[VS_CODES];	/* by enum vs_code */
	int64_t us;			/* they took in all */
};

/* what: method and path, as call->what; its last component is the name. */
void vs_tally_note(const char *what, enum vs_code code, int64_t us);
/* The names that were called, in the order of their first call; how many. */
size_t vs_tally_get(struct vs_tally out[VS_TALLY_NAMES]);

#endif
