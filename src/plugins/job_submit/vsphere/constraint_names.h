/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What users write: the names in a constraint, and texts fit to be repeated. */
#ifndef VS_PLUGINS_JOB_SUBMIT_VSPHERE_CONSTRAINT_NAMES_H
#define VS_PLUGINS_JOB_SUBMIT_VSPHERE_CONSTRAINT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The names in a constraint, in order, without what stands between them and
 * without counts; not NUL-terminated. fn ends it by returning false; so does the
 * result. NULL has none. */
typedef bool vs_feature_fn(void *arg, const char *name, size_t len);
bool vs_features_each(const char *text, vs_feature_fn *fn, void *arg);

#define VS_NAME_CLEAN_LEN 120
/* s in a line of a log or terminal, and between quotation marks: cut short, and
 * with '?' for what is no plain letter there. Returns out. */
const char *vs_name_clean(const char *s, size_t len,
			  char out[VS_NAME_CLEAN_LEN]);

#endif
