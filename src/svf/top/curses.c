/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf top's terminal: the only file that knows ncurses. It draws lines of cells
 * and hands on keys; whatever ends the program, top_curses_end() gives the
 * terminal back as it was. Without colours attributes alone tell things apart.
 */
#include <curses.h>
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

#include "top.h"

#define PAIR_BAD 1
#define PAIR_WARN 2
#define PAIR_JOB0 3

static SCREEN *screen;
static bool coloured;
static bool many;		/* colours, beside the eight of old */

/* Behind a job's letter: as far apart as they go, none of them red. */
static const short wide[TOP_COLOURS] = { 114, 75, 221, 177, 80, 215, 149, 111,
					 183, 187, 109, 181 };
static const short narrow[] = { COLOR_GREEN, COLOR_CYAN, COLOR_YELLOW,
				COLOR_MAGENTA, COLOR_BLUE };
#define NARROW (int)(sizeof(narrow) / sizeof(narrow[0]))

static void colours_begin(void)
{
	start_color();
	use_default_colors();
	many = COLORS >= 256 && COLOR_PAIRS > PAIR_JOB0 + TOP_COLOURS;
	init_pair(PAIR_BAD, COLOR_RED, -1);
	init_pair(PAIR_WARN, COLOR_YELLOW, -1);
	for (int i = 0; i < TOP_COLOURS; i++)
		init_pair((short)(PAIR_JOB0 + i), COLOR_BLACK,
			  many ? wide[i] : narrow[i % NARROW]);
}

int top_curses_begin(bool colour)
{
	const char *term = getenv("TERM");
	const char *move;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		svf_wrong("top", "a terminal is needed; svf map prints the same picture once, svf hosts -i 5 prints again and again in a pipe");
		return -1;
	}
	setlocale(LC_CTYPE, "");
	use_tioctl(TRUE);	/* LINES and COLUMNS are of another size */
	screen = newterm(NULL, stdout, stdin);
	move = screen ? tigetstr("cup") : NULL;
	if (!move || move == (const char *)-1) {
		top_curses_end();
		svf_wrong("top", "a terminal with a cursor to move is needed, TERM=%s has none; svf map prints the same picture once",
			  term ? term : "");
		return -1;
	}
	coloured = colour && has_colors();
	if (coloured)
		colours_begin();
	cbreak();
	noecho();
	nonl();
	set_escdelay(50);
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	return 0;
}

void top_curses_end(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

void top_curses_size(int *rows, int *cols)
{
	getmaxyx(stdscr, *rows, *cols);
}

void top_curses_again(void)
{
	clearok(stdscr, TRUE);
}

/* What a style is on this terminal. */
static attr_t look_of(unsigned char style, short *pair)
{
	int plain = style & ~TOP_MARK;

	*pair = 0;
	if (style & TOP_MARK)
		return A_REVERSE | A_BOLD;
	if (plain >= TOP_JOB0) {
		*pair = coloured ? (short)(PAIR_JOB0 + plain - TOP_JOB0) : 0;
		return coloured ? A_NORMAL : A_BOLD;
	}
	switch (plain) {
	case TOP_BAR:
		return A_REVERSE;
	case TOP_HEAD:
		return A_BOLD;
	case TOP_DIM:
		return A_DIM;
	case TOP_BAD:
		*pair = coloured ? PAIR_BAD : 0;
		return A_BOLD;
	case TOP_WARN:
		*pair = coloured ? PAIR_WARN : 0;
		return A_NORMAL;
	default:
		return A_NORMAL;
	}
}

void top_curses_show(const struct top_lines *lines)
{
	erase();
	for (size_t i = 0; i < lines->n; i++)
		for (int k = 0; k < lines->l[i].n; k++) {
			const struct top_glyph *g = &lines->l[i].g[k];
			wchar_t text[2] = { (wchar_t)g->ch, 0 };
			cchar_t c;
			short pair;
			attr_t look = look_of(g->style, &pair);

			if (g->ch == ' ' && !look && !pair)
				continue;
			setcchar(&c, text, look, pair, NULL);
			mvadd_wch((int)i, k, &c);
		}
	refresh();
}

int64_t top_curses_key(void)
{
	wint_t ch;

	switch (get_wch(&ch)) {
	case OK:
		return ch == 0x7f || ch == 8 ? TOP_KEY_BACK :
		       ch == 12 ? -1 : ch ? (int64_t)ch : ' ';
	case KEY_CODE_YES:
		break;
	default:
		return 0;
	}
	switch (ch) {
	case KEY_RESIZE:
		return -1;
	case KEY_UP:
		return TOP_KEY_UP;
	case KEY_DOWN:
		return TOP_KEY_DOWN;
	case KEY_PPAGE:
		return TOP_KEY_PGUP;
	case KEY_NPAGE:
		return TOP_KEY_PGDN;
	case KEY_HOME:
		return TOP_KEY_HOME;
	case KEY_END:
		return TOP_KEY_END;
	case KEY_BACKSPACE:
		return TOP_KEY_BACK;
	case KEY_ENTER:
		return '\n';
	default:
		return 1;		/* a key that means nothing */
	}
}
