/* SPDX-License-Identifier: GPL-2.0-or-later */
/* svf map: the picture of a site (svf/top/top.h) as text and as SVG. */
#ifndef SVF_MAP_H
#define SVF_MAP_H

#include "svf/top/top.h"

extern const struct svf_verb svf_map;

/* ---- xml.c, svg.c ------------------------------------------------------- */
/* Escaped; at most so many characters, "..." says that there were more. */
void map_put_text(FILE *f, const char *text, int most);
/* The same as a <text> of such a class. */
void map_text_at(FILE *f, int x, int y, const char *class, const char *text,
		 int most);
void map_svg(const struct top_model *m, FILE *f);

#endif
