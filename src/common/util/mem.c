/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory and its cleanup.
 *
 * Rules: what is returned is never NULL unless the header says so, zero sizes
 * included; a size that overflows aborts like one that cannot be had. Never
 * keeps anything.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* vasprintf */
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "util/mem.h"

static void *must(void *p, const char *what)
{
	if (!p) {
		fprintf(stderr, "slurm-vsphere: out of memory (%s)\n", what);
		abort();
	}
	return p;
}

void *vs_calloc(size_t n, size_t size)
{
	if (!n || !size)
		n = size = 1;
	return must(calloc(n, size), "calloc");
}

void *vs_realloc(void *p, size_t n, size_t size)
{
	if (!n || !size)
		n = size = 1;
	return must(reallocarray(p, n, size), "realloc");
}

char *vs_strdup(const char *s)
{
	return s ? must(strdup(s), "strdup") : NULL;
}

char *vs_vasprintf(const char *fmt, va_list ap)
{
	char *s = NULL;

	return must(vasprintf(&s, fmt, ap) < 0 ? NULL : s, "asprintf");
}

char *vs_asprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = vs_vasprintf(fmt, ap);
	va_end(ap);
	return s;
}

int vs_str_replace(char **slot, const char *s)
{
	char *copy;

	if (*slot == s || (*slot && s && !strcmp(*slot, s)))
		return 0;
	copy = vs_strdup(s);	/* first: s may lie inside *slot */
	free(*slot);
	*slot = copy;
	return 1;
}

char *vs_strlcpy(char *dst, const char *src, size_t size)
{
	size_t len = src ? strlen(src) : 0;

	if (!size)
		return dst;
	if (len >= size)
		len = size - 1;
	if (len)
		memmove(dst, src, len);
	dst[len] = '\0';
	return dst;
}

char *vs_one_line(char *s)
{
	for (unsigned char *p = (unsigned char *)s; *p; p++) {
		/* controls in UTF-8: C1 are c2 80 to c2 9f */
		if (*p < ' ' || *p == 0x7f)
			*p = ' ';
		else if (*p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f)
			p[0] = p[1] = ' ';
	}
	return s;
}

void vs_cleanup_free(void *slot)
{
	free(*(void **)slot);
}

void vs_cleanup_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

void vs_cleanup_file(void *slot)
{
	FILE *f = *(FILE **)slot;

	if (f)
		fclose(f);
}
