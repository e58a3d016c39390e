/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text in XML 1.0: names are escaped, because any user may have chosen them. A
 * character that no document may hold (controls, halves of characters) becomes
 * a '?'.
 */
#include "map.h"

/* How many bytes of *s are one character that XML may hold; 0: none are. */
static int char_len(const unsigned char *s)
{
	int n = *s < 0x80 ? 1 : *s >= 0xc2 && *s < 0xe0 ? 2 :
		*s >= 0xe0 && *s < 0xf0 ? 3 : *s >= 0xf0 && *s < 0xf5 ? 4 : 0;

	for (int i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((*s < ' ' && *s != '\t') || *s == 0x7f)
		return 0;
	if (n == 2 && s[0] == 0xc2 && s[1] < 0xa0)
		return 0;		/* C1 controls */
	if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) ||
		       (s[0] == 0xed && s[1] >= 0xa0) ||
		       (s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe)))
		return 0;		/* overlong, surrogates, no characters */
	if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) ||
		       (s[0] == 0xf4 && s[1] > 0x8f)))
		return 0;
	return n;
}

/* At most so many characters; "..." says that there were more. */
void map_put_text(FILE *f, const char *text, int most)
{
	const unsigned char *s = (const unsigned char *)text;

	for (int i = 0; *s; i++) {
		int n = char_len(s);

		if (i == most) {
			fputs("...", f);
			return;
		}
		switch (n ? *s : '?') {
		case '&':
			fputs("&amp;", f);
			break;
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		default:
			fwrite(n ? s : (const unsigned char *)"?", 1,
			       n ? (size_t)n : 1, f);
		}
		s += n ? n : 1;
	}
}

void map_text_at(FILE *f, int x, int y, const char *class, const char *text,
		 int most)
{
	fprintf(f, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, class);
	map_put_text(f, text, most);
	fputs("</text>\n", f);
}
