/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A byte buffer with a maximum, for what comes from the network.
 *
 * Rules: len never passes max; an addition is whole or not at all; there is
 * always a NUL behind the bytes. Never shrinks while in use.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/buf.h"
#include "util/mem.h"

static int make_room(struct vs_buf *b, size_t len)
{
	size_t need, cap;

	if (len > b->max - b->len)
		return -1;
	need = b->len + len + 1;
	if (need <= b->cap)
		return 0;
	cap = b->cap ? b->cap : 256;
	/* near the maximum too: a step for each addition would copy it all
	 * again each time */
	while (cap < need)
		cap = cap <= b->max / 2 ? cap * 2 : b->max + 1;
	b->data = vs_realloc(b->data, cap, 1);
	b->cap = cap;
	return 0;
}

int vs_buf_add(struct vs_buf *b, const void *data, size_t len)
{
	if (make_room(b, len))
		return -1;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
	return 0;
}

int vs_buf_printf(struct vs_buf *b, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0 || make_room(b, len))
		return -1;
	va_start(ap, fmt);
	vsnprintf(b->data + b->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	b->len += len;
	return 0;
}

void vs_buf_reset(struct vs_buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

void vs_buf_free(struct vs_buf *b)
{
	free(b->data);
	b->data = NULL;
	b->len = b->cap = 0;
}
