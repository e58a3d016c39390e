/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A call to vCenter for a node: a part of node_i.h. */
#ifndef VS_ENGINE_OPERATION_H
#define VS_ENGINE_OPERATION_H

#include <stdbool.h>
#include <stdint.h>
#include "plan/inventory/inventory.h"

enum vs_op_type { VS_OP_NONE, VS_OP_CLONE, VS_OP_RECONFIGURE, VS_OP_RELOCATE,
		  VS_OP_POWER_ON, VS_OP_SHUTDOWN, VS_OP_POWER_OFF,
		  VS_OP_DESTROY, VS_OP_ADOPTED, VS_OP_VMOTION, VS_OPS };

/* One call under way for a node, or just done and not yet shown by vCenter. */
struct vs_node_op {
	enum vs_op_type kind;
	uint64_t id;			/* the client's; 0: done, settling */
	char task[VS_MOID_LEN];
	char vm[VS_MOID_LEN], source[VS_MOID_LEN];	/* a clone's parent */
	char host[VS_MOID_LEN];
	int64_t since_ms;		/* sent, or done while settling */
	bool cancel_asked;
	bool devices;			/* its spec adds VFs or devices */
};

#endif
