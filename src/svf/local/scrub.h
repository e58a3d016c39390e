/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf support: texts without secrets. */
#ifndef SVF_SCRUB_H
#define SVF_SCRUB_H

#include "util/buf.h"

/* Adds the text to out, with HIDDEN in the place of each secret. given: secrets that
 * are known, ended by NULL, or NULL. */
void svf_scrub(const char *text, const char *const *given, struct vs_buf *out);

#endif
