/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A byte buffer that cannot be made without a maximum. */
#ifndef VS_UTIL_BUF_H
#define VS_UTIL_BUF_H

#include <stddef.h>

struct vs_buf {
	char *data;		/* always terminated once something was added */
	size_t len, cap, max;
};

#define VS_BUF_INIT(maximum) { .max = (maximum) }

/* 0, or -1 if the maximum would be passed (the buffer stays as it was). */
int vs_buf_add(struct vs_buf *b, const void *data, size_t len);
int vs_buf_printf(struct vs_buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void vs_buf_reset(struct vs_buf *b);		/* len = 0, memory kept */
void vs_buf_free(struct vs_buf *b);

#endif
