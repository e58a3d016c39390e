/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the picture is made of: the answers to four questions that svf's other
 * verbs ask, put together. Nodes are asked for first, so that what is counted
 * on hosts is the later word.
 */
#include <string.h>
#include <time.h>

#include "top.h"
#include "util/mem.h"

int top_ask(struct json_object **all)
{
	static const char *const verbs[] = { "nodes", "hosts", "jobs",
					     "status" };
	struct json_object *top = vs_jb_obj(NULL);
	struct svf_where where;
	struct vs_err err;

	if (!svf_where(&where, &err)) {
		vs_jb_str(top, "site", where.cluster);
		svf_where_free(&where);
	}
	for (size_t i = 0; i < VS_COUNT(verbs); i++) {
		struct vs_jdoc doc;
		int rc = svf_ask(verbs[i], 0, "", &doc);

		if (rc) {
			vs_jb_free(top);
			return rc;
		}
		vs_jb_put(top, verbs[i], doc.root);
		doc.root = NULL;
		vs_jdoc_free(&doc);
	}
	vs_jb_int(top, "at", (int64_t)time(NULL));
	*all = top;
	return SVF_OK;
}
