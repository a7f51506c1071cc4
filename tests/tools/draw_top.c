// SPDX-License-Identifier: GPL-2.0
/*
 * Shows what a program draws on a terminal, as a picture or as text:
 *   draw_top [--svg] [--size COLUMNSxROWS] [--term TYPE] [--locale NAME] [--wait TEXT] [--for MS]
 *            [--keys KEYS | --frames N]... -- PROGRAM [ARGUMENT]...
 *
 * It waits until the screen shows TEXT (`--wait`), and then for MS milliseconds (`--for`). Then it takes these
 * steps in the order in which they are given, and waits that long after each:
 *   --keys KEYS  types them ("\e" is Escape, "\r" is Enter),
 *   --frames N   takes the screen as a frame of a moving picture, N times, with MS milliseconds between them.
 * With frames the picture moves, at the speed at which they were taken. If nothing moves, as for readers who
 * want less motion, the last frame is shown.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "terminal.h"

#define PATIENCE_MS 30000
#define STEPS_MAX   16
#define FRAMES_MAX  64
#define ROWS_MAX    80
#define CELL_WIDTH  8.4
#define CELL_HEIGHT 18
#define MARGIN      10

DEFINE_CLEANUP(struct terminal *, terminal_free)

/* A screen is drawn in layers, with a line of SVG for each piece. Later layers lie above earlier ones. */
enum { LAYER_GROUND, LAYER_LETTERS, N_LAYERS };

struct frame {
	char *rows[ROWS_MAX][N_LAYERS];
};

struct picture {
	struct frame frames[FRAMES_MAX];
	size_t n_frames;
	int columns, rows;
};

static const char *const palette[8] = {"#1e1e1e", "#e06c75", "#98c379", "#e5c07b",
				       "#61afef", "#c678dd", "#56b6c2", "#dcdfe4"};
static const char letters[] = "#dcdfe4", ground[] = "#1e1e1e";

static const char *colour(int number, const char *otherwise)
{
	return number >= 0 && number < 8 ? palette[number] : otherwise;
}

static void put_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			(void)fputs("&lt;", out);
		else if (*text == '>')
			(void)fputs("&gt;", out);
		else if (*text == '&')
			(void)fputs("&amp;", out);
		else
			(void)fputc(*text, out);
	}
}

/* The colours as drawn, with reverse video applied. */
static const char *front_of(const struct terminal_cell *cell)
{
	return cell->reverse ? colour(cell->behind, ground) : colour(cell->colour, letters);
}

static const char *back_of(const struct terminal_cell *cell)
{
	return cell->reverse ? colour(cell->colour, letters) : colour(cell->behind, ground);
}

/*
 * Block elements, U+2581 to U+258F: a number of eighths, from the bottom or from the left. They are drawn as
 * rectangles, because fonts leave gaps between them.
 */
struct block {
	unsigned int eighths; /* 0: the cell is not a block */
	bool from_left;
};

static struct block block_of(const struct terminal_cell *cell)
{
	const unsigned char *text = (const unsigned char *)cell->text;

	if (text[0] != 0xe2 || text[1] != 0x96 || text[2] < 0x81 || text[2] > 0x8f || text[3])
		return (struct block){0};
	if (text[2] <= 0x88)
		return (struct block){.eighths = text[2] - 0x80U};
	return (struct block){.eighths = 0x90U - text[2], .from_left = true};
}

static bool is_blank(const struct terminal_cell *cell)
{
	return !*cell->text || strcmp(cell->text, " ") == 0;
}

static double left_of(int column)
{
	return MARGIN + column * CELL_WIDTH;
}

static void put_rect(FILE *out, double x, double y, double width, double height, const char *fill)
{
	(void)fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x, y,
		      width, height, fill);
}

/* Each of these functions draws the piece that begins at `column`, and returns the column after that piece. */
static int put_ground(FILE *out, const struct terminal *terminal, int row, int column, int columns)
{
	struct terminal_cell cell = terminal_cell(terminal, row, column);
	const char *back = back_of(&cell);
	int end = column;

	do {
		end++;
		if (end == columns)
			break;
		cell = terminal_cell(terminal, row, end);
	} while (strcmp(back_of(&cell), back) == 0);
	if (strcmp(back, ground) != 0)
		put_rect(out, left_of(column), MARGIN + row * (double)CELL_HEIGHT,
			 (end - column) * CELL_WIDTH, CELL_HEIGHT, back);
	return end;
}

static int put_block(FILE *out, const struct terminal *terminal, int row, int column, int columns)
{
	struct terminal_cell first = terminal_cell(terminal, row, column), cell;
	/* Leave a gap between the bars of two rows. */
	double y = MARGIN + 1 + row * (double)CELL_HEIGHT, height = CELL_HEIGHT - 2;
	struct block block = block_of(&first);
	int end = column + 1;

	if (block.from_left) {
		put_rect(out, left_of(column), y, CELL_WIDTH * block.eighths / 8, height, front_of(&first));
		return end;
	}
	for (; end < columns; end++) {
		cell = terminal_cell(terminal, row, end);
		if (strcmp(cell.text, first.text) != 0 || strcmp(front_of(&cell), front_of(&first)) != 0)
			break;
	}
	put_rect(out, left_of(column), y + height * (8.0 - block.eighths) / 8, (end - column) * CELL_WIDTH,
		 height * block.eighths / 8.0, front_of(&first));
	return end;
}

/*
 * Draws one text that begins at `column`. The text ends after two blanks, or before a block or other
 * attributes. In any font, it is as wide as its cells.
 */
static int put_text(FILE *out, const struct terminal *terminal, int row, int column, int columns)
{
	struct terminal_cell first = terminal_cell(terminal, row, column), cell = first;
	int end, last = column;

	for (end = column + 1; end < columns && end - last <= 2; end++) {
		cell = terminal_cell(terminal, row, end);
		if (block_of(&cell).eighths > 0 || cell.bold != first.bold ||
		    strcmp(front_of(&cell), front_of(&first)) != 0)
			break;
		if (!is_blank(&cell))
			last = end;
	}
	end = last + 1;
	(void)fprintf(out, "<text x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" fill=\"%s\"%s>", left_of(column),
		      MARGIN + row * CELL_HEIGHT + CELL_HEIGHT - 5, (end - column) * CELL_WIDTH,
		      front_of(&first), first.bold ? " font-weight=\"bold\"" : "");
	for (int at = column; at < end; at++) {
		cell = terminal_cell(terminal, row, at);
		put_escaped(out, is_blank(&cell) ? " " : cell.text);
	}
	(void)fprintf(out, "</text>\n");
	return end;
}

static void put_layer(FILE *out, const struct terminal *terminal, int row, int columns, int layer)
{
	for (int column = 0; column < columns;) {
		struct terminal_cell cell = terminal_cell(terminal, row, column);

		if (layer == LAYER_GROUND)
			column = put_ground(out, terminal, row, column, columns);
		else if (is_blank(&cell))
			column++;
		else if (block_of(&cell).eighths > 0)
			column = put_block(out, terminal, row, column, columns);
		else
			column = put_text(out, terminal, row, column, columns);
	}
}

/* Adds the present content of the terminal as a frame. Returns 0 or -errno. */
static int take_frame(struct picture *picture, const struct terminal *terminal)
{
	struct frame *frame = &picture->frames[picture->n_frames];
	size_t size;

	terminal_size(terminal, &picture->columns, &picture->rows);
	if (picture->n_frames == FRAMES_MAX || picture->rows > ROWS_MAX)
		return -E2BIG;
	for (int row = 0; row < picture->rows; row++) {
		for (int layer = 0; layer < N_LAYERS; layer++) {
			FILE *out = open_memstream(&frame->rows[row][layer], &size);

			if (!out)
				return -errno;
			put_layer(out, terminal, row, picture->columns, layer);
			if (fclose(out) < 0)
				return -errno;
		}
	}
	picture->n_frames++;
	return 0;
}

static void picture_free(struct picture *picture)
{
	for (size_t i = 0; i < FRAMES_MAX; i++)
		for (int row = 0; row < ROWS_MAX; row++)
			for (int layer = 0; layer < N_LAYERS; layer++)
				free(picture->frames[i].rows[row][layer]);
	free(picture);
}

DEFINE_CLEANUP(struct picture *, picture_free)

/* Returns whether this piece, a line with its line end, is in the frame. */
static bool frame_has(const struct picture *picture, size_t frame, int row, int layer, const char *piece,
		      size_t size)
{
	const char *text = picture->frames[frame].rows[row][layer];

	for (; *text; text = strchr(text, '\n') + 1)
		if (strncmp(text, piece, size) == 0)
			return true;
	return false;
}

/*
 * Writes the pieces of a layer that appear in frame `first`, stay up to frame `last`, and are not in the next
 * one.
 */
static void put_pieces(FILE *out, const struct picture *picture, int layer, size_t first, size_t last)
{
	for (int row = 0; row < picture->rows; row++) {
		const char *piece = picture->frames[first].rows[row][layer];

		for (size_t size; *piece; piece += size) {
			size_t end = first;

			size = (size_t)(strchr(piece, '\n') - piece) + 1;
			if (first > 0 && frame_has(picture, first - 1, row, layer, piece, size))
				continue;
			while (end + 1 < picture->n_frames &&
			       frame_has(picture, end + 1, row, layer, piece, size))
				end++;
			if (end == last)
				(void)fwrite(piece, 1, size, out);
		}
	}
}

/* Writes the CSS rule that shows a group in these frames only. Without animation, the last frame is shown. */
static void put_rule(const struct picture *picture, size_t first, size_t last)
{
	double share = 100.0 / (double)picture->n_frames;

	(void)printf("<style>.f%zu-%zu{animation-name:k%zu-%zu%s}@keyframes k%zu-%zu{", first, last, first,
		     last, last + 1 < picture->n_frames ? ";visibility:hidden" : "", first, last);
	if (first > 0)
		(void)printf("0%%{visibility:hidden}");
	(void)printf("%.2f%%{visibility:visible}", (double)first * share);
	if (last + 1 < picture->n_frames)
		(void)printf("%.2f%%{visibility:hidden}", (double)(last + 1) * share);
	(void)printf("}</style>\n");
}

static int put_layer_of_frames(const struct picture *picture, int layer, bool *rules)
{
	for (size_t first = 0; first < picture->n_frames; first++) {
		for (size_t last = first; last < picture->n_frames; last++) {
			bool always = first == 0 && last + 1 == picture->n_frames;
			_cleanup_free_ char *pieces = NULL;
			size_t size;
			FILE *out = open_memstream(&pieces, &size);

			if (!out)
				return -errno;
			put_pieces(out, picture, layer, first, last);
			if (fclose(out) < 0)
				return -errno;
			if (*pieces && !always && !rules[first * FRAMES_MAX + last])
				put_rule(picture, first, last);
			if (*pieces && always)
				(void)printf("%s", pieces);
			else if (*pieces)
				(void)printf("<g class=\"f f%zu-%zu\">\n%s</g>\n", first, last, pieces);
			if (*pieces)
				rules[first * FRAMES_MAX + last] = true;
		}
	}
	return 0;
}

static int put_svg(const struct picture *picture, int milliseconds)
{
	static bool rules[FRAMES_MAX * FRAMES_MAX];
	int r = 0;

	(void)printf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %d\" "
		     "font-family=\"DejaVu Sans Mono,Menlo,Consolas,monospace\" font-size=\"14\" "
		     "shape-rendering=\"crispEdges\">\n"
		     "<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"%s\"/>\n",
		     2 * MARGIN + picture->columns * CELL_WIDTH, 2 * MARGIN + picture->rows * CELL_HEIGHT,
		     ground);
	if (picture->n_frames > 1)
		(void)printf("<style>.f{animation:%zums step-end infinite}"
			     "@media(prefers-reduced-motion:reduce){.f{animation:none!important}}</style>\n",
			     picture->n_frames * (size_t)milliseconds);
	for (int layer = 0; layer < N_LAYERS && r == 0; layer++)
		r = put_layer_of_frames(picture, layer, rules);
	(void)printf("</svg>\n");
	return r;
}

/* Replaces "\e" and "\r" in the argument. */
static void unescape(char *keys)
{
	char *to = keys;

	for (; *keys; keys++) {
		if (keys[0] == '\\' && (keys[1] == 'e' || keys[1] == 'r')) {
			*to++ = keys[1] == 'e' ? '\033' : '\r';
			keys++;
		} else {
			*to++ = *keys;
		}
	}
	*to = '\0';
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"svg", no_argument, NULL, 's'},
						{"size", required_argument, NULL, 'x'},
						{"term", required_argument, NULL, 't'},
						{"locale", required_argument, NULL, 'l'},
						{"wait", required_argument, NULL, 'w'},
						{"for", required_argument, NULL, 'f'},
						{"keys", required_argument, NULL, 'k'},
						{"frames", required_argument, NULL, 'n'},
						{0}};
	struct terminal_settings settings = {
		.type = "xterm-256color", .locale = "C.UTF-8", .columns = 80, .rows = 24};
	_cleanup_(terminal_freep) struct terminal *terminal = NULL;
	_cleanup_(picture_freep) struct picture *picture = calloc(1, sizeof(*picture));
	const char *wait = NULL;
	struct step {
		char *keys; /* NULL: frames */
		int frames;
	} steps[STEPS_MAX];
	size_t n_steps = 0;
	int option, milliseconds = 200, r = 0;
	bool svg = false;

	if (!picture)
		return 1;

	while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (option == 's')
			svg = true;
		else if (option == 'x' && sscanf(optarg, "%dx%d", &settings.columns, &settings.rows) == 2)
			;
		else if (option == 't')
			settings.type = optarg;
		else if (option == 'l')
			settings.locale = optarg;
		else if (option == 'w')
			wait = optarg;
		else if (option == 'f')
			milliseconds = atoi(optarg);
		else if (option == 'k' && n_steps < STEPS_MAX)
			steps[n_steps++] = (struct step){.keys = optarg};
		else if (option == 'n' && n_steps < STEPS_MAX)
			steps[n_steps++] = (struct step){.frames = atoi(optarg)};
		else
			return 2;
	}
	if (optind == argc)
		return 2;
	terminal = terminal_run(&settings, argv[optind], argv + optind);
	if (!terminal) {
		(void)fprintf(stderr, "draw_top: cannot run %s: %s\n", argv[optind], strerror(errno));
		return 1;
	}
	if (wait && !terminal_wait(terminal, wait, true, PATIENCE_MS)) {
		(void)fprintf(stderr, "draw_top: '%s' does not come\n", wait);
		return 1;
	}
	terminal_watch(terminal, milliseconds);
	for (size_t i = 0; i < n_steps; i++) {
		if (steps[i].keys) {
			unescape(steps[i].keys);
			terminal_type(terminal, steps[i].keys);
			terminal_watch(terminal, milliseconds);
		}
		for (int frame = 0; frame < steps[i].frames && r == 0; frame++) {
			r = take_frame(picture, terminal);
			terminal_watch(terminal, milliseconds);
		}
	}
	if (svg) {
		if (r == 0 && picture->n_frames == 0)
			r = take_frame(picture, terminal);
		if (r == 0)
			r = put_svg(picture, milliseconds);
		if (r < 0)
			(void)fprintf(stderr, "draw_top: cannot draw the picture: %s\n", strerror(-r));
	} else {
		_cleanup_free_ char *text = terminal_text(terminal);

		(void)fputs(text ? text : "", stdout);
	}
	return r < 0;
}
