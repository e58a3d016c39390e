/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command line that is wrong: one form for all that svf refuses, getopt's. */
#include <stdarg.h>
#include <stdio.h>

#include "rpc.h"
#include "util/mem.h"

int svf_try(void)
{
	fputs("Try 'svf --help' for more information.\n", stderr);
	return SVF_USAGE;
}

int svf_wrong(const char *verb, const char *fmt, ...)
{
	VS_FREE char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = vs_vasprintf(fmt, ap);
	va_end(ap);
	fprintf(stderr, "svf: %s%s%s\n", verb ? verb : "", verb ? ": " : "",
		svf_clean(text));
	return svf_try();
}
