/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that cannot be had aborts, as in slurmctld; cleanup attributes take
 * the place of goto ladders.
 */
#ifndef VS_UTIL_MEM_H
#define VS_UTIL_MEM_H

#include <stdarg.h>
#include <stddef.h>

void *vs_calloc(size_t n, size_t size);
void *vs_realloc(void *p, size_t n, size_t size);
char *vs_strdup(const char *s);			/* NULL gives NULL */
char *vs_asprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *vs_vasprintf(const char *fmt, va_list ap)
	__attribute__((format(printf, 1, 0)));

/* Replace the string *slot owns by a copy of s (or NULL). True if changed. */
int vs_str_replace(char **slot, const char *s);

/* Copy with truncation, always terminated; returns dst. */
char *vs_strlcpy(char *dst, const char *src, size_t size);

/* Control characters become blanks, in place; returns s. Whatever comes from
 * outside goes through it before it is said to Slurm or to a log. */
char *vs_one_line(char *s);

void vs_cleanup_free(void *slot);
void vs_cleanup_fd(int *fd);
void vs_cleanup_file(void *slot);
#define VS_FREE __attribute__((cleanup(vs_cleanup_free)))
#define VS_CLOSE __attribute__((cleanup(vs_cleanup_fd)))
#define VS_FCLOSE __attribute__((cleanup(vs_cleanup_file)))

#define VS_COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Grow array a (capacity cap, in items) so that n items fit. */
#define VS_GROW(a, cap, n) do {						\
	if ((size_t)(n) > (size_t)(cap)) {				\
		size_t vs_c_ = (cap) ? (size_t)(cap) * 2 : 8;		\
		if (vs_c_ < (size_t)(n))				\
			vs_c_ = (n);					\
		(a) = vs_realloc((a), vs_c_, sizeof(*(a)));		\
		(cap) = vs_c_;						\
	}								\
} while (0)

#endif
