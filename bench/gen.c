/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs for the benchmark programs, made from nothing but a seed.
 *
 *     gen KIND A B SEED > FILE
 *
 * One seed gives the same bytes on every machine: integers only, and the
 * generator SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014).  Cost: linear in the output.
 *
 * Text has a skewed vocabulary and repeats phrases, so that compressors find
 * what they find in prose; "mixed" alternates prose, binary records, noise
 * and runs, so that they also leave their favourite case.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t next(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* A number below n, n at most 2^32. */
static uint32_t below(uint64_t n)
{
	return (uint32_t)(((next() >> 32) * n) >> 32);
}

/* A number below n, small ones far more often than large ones. */
static uint32_t skewed(uint32_t n)
{
	uint32_t limit = 1 + below(n);

	limit = 1 + below(limit);
	return below(limit);
}

#define NWORDS 5000
#define WORD_SIZE 16

static char words[NWORDS][WORD_SIZE];

/* Words of one to four syllables. */
static void make_words(void)
{
	static const char onset[] = "bcdfghklmnprstvw";
	static const char nucleus[] = "aeiou";
	static const char coda[] = "nrstl";

	for (int i = 0; i < NWORDS; i++) {
		char *p = words[i];
		for (uint32_t n = 1 + below(4); n > 0; n--) {
			*p++ = onset[below(sizeof(onset) - 1)];
			*p++ = nucleus[below(sizeof(nucleus) - 1)];
			if (below(3) == 0)
				*p++ = coda[below(sizeof(coda) - 1)];
		}
		*p = '\0';
	}
}

static uint64_t written;
static unsigned column;

static void put_word(const char *word)
{
	static const char ends[] = ",,;.";
	size_t n = strlen(word);

	fputs(word, stdout);
	if (below(8) == 0) {
		putchar(ends[below(sizeof(ends) - 1)]);
		n++;
	}
	column += (unsigned)n + 1;
	putchar(column > 72 ? '\n' : ' ');
	if (column > 72)
		column = 0;
	written += n + 1;
}

/* Prose until `end` bytes are out; one word in six repeats a phrase. */
static void put_text(uint64_t end)
{
	static uint16_t recent[256];
	uint8_t at = 0;

	while (written < end) {
		if (below(6) == 0) {
			uint8_t from = (uint8_t)below(256);
			for (uint32_t n = 2 + below(4); n > 0; n--)
				put_word(words[recent[from++]]);
			continue;
		}
		recent[at] = (uint16_t)skewed(NWORDS);
		put_word(words[recent[at++]]);
	}
}

static void put_byte(uint32_t value)
{
	putchar((int)(value & 0xff));
	written++;
}

static void put_records(uint64_t end)
{
	uint32_t key = below(1u << 20);

	for (uint32_t i = 0; written < end; i++) {
		key += 1 + below(40);
		for (int shift = 0; shift < 32; shift += 8)
			put_byte(key >> shift);
		put_byte(below(12));
		put_byte(i);
		put_byte(0);
	}
}

static void put_noise(uint64_t end)
{
	while (written < end)
		put_byte((uint32_t)next());
}

static void put_runs(uint64_t end)
{
	while (written < end) {
		uint32_t value = below(10);
		for (uint32_t n = 1 + below(90); n > 0; n--)
			put_byte(value);
	}
}

static void gen_text(uint64_t size, uint64_t unused)
{
	(void)unused;
	put_text(size);
}

static void gen_mixed(uint64_t size, uint64_t unused)
{
	static void (*const kinds[])(uint64_t) = {
	        put_text, put_records, put_text, put_runs, put_text, put_noise};
	unsigned kind = 0;

	(void)unused;
	while (written < size) {
		uint64_t end = written + 4000 + below(24000);
		kinds[kind++ % 6](end < size ? end : size);
	}
}

/* Smooth colours under random discs, with a little grain. */
static void gen_image(uint64_t width, uint64_t height)
{
	enum { NDISCS = 40 };
	int64_t disc[NDISCS][4];

	for (int i = 0; i < NDISCS; i++) {
		disc[i][0] = below(width);
		disc[i][1] = below(height);
		disc[i][2] = 10 + below(width / 8 + 1);
		disc[i][3] = below(1u << 24);
	}
	printf("P6\n%" PRIu64 " %" PRIu64 "\n255\n", width, height);
	for (int64_t y = 0; y < (int64_t)height; y++) {
		for (int64_t x = 0; x < (int64_t)width; x++) {
			uint32_t rgb[3] = {
			        (uint32_t)(200 * x / (int64_t)width),
			        (uint32_t)(200 * y / (int64_t)height),
			        (uint32_t)((x ^ y) & 63)};
			int i = (int)((x / 50 + y / 50 * 7) % NDISCS);
			int64_t dx = x - disc[i][0], dy = y - disc[i][1];
			bool in = dx * dx + dy * dy < disc[i][2] * disc[i][2];
			for (int c = 0; c < 3; c++) {
				uint32_t tint = (uint32_t)disc[i][3] >> (8 * c);
				if (in)
					rgb[c] = (rgb[c] + (tint & 255)) / 2;
				put_byte(rgb[c] + below(10));
			}
		}
	}
}

/* Orders of a shop: id, customer, article, amount, price, remark. */
static void gen_table(uint64_t rows, uint64_t unused)
{
	(void)unused;
	for (uint64_t i = 1; i <= rows; i++) {
		uint32_t customer = skewed(NWORDS), article = skewed(400);
		uint32_t amount = 1 + below(20), price = 100 + below(90000);
		printf("%" PRIu64 ",%s,%s,%" PRIu32 ",%" PRIu32 ",%s %s\n", i,
		       words[customer], words[article], amount, price,
		       words[below(NWORDS)], words[skewed(NWORDS)]);
	}
}

/* Random 3-SAT in DIMACS form, three different variables to a clause. */
static void gen_sat(uint64_t nvars, uint64_t nclauses)
{
	printf("p cnf %" PRIu64 " %" PRIu64 "\n", nvars, nclauses);
	for (uint64_t i = 0; i < nclauses; i++) {
		uint32_t a = 1 + below(nvars), b, c;
		do
			b = 1 + below(nvars);
		while (b == a);
		do
			c = 1 + below(nvars);
		while (c == a || c == b);
		uint32_t sign = below(8);
		printf("%s%" PRIu32 " %s%" PRIu32 " %s%" PRIu32 " 0\n",
		       sign & 1 ? "-" : "", a, sign & 2 ? "-" : "", b,
		       sign & 4 ? "-" : "", c);
	}
}

/* A random graph in DIMACS form; an edge exists with `percent` / 100. */
static void gen_graph(uint64_t n, uint64_t percent)
{
	uint64_t nedges = 0, start = state;

	for (uint64_t i = 0; i < n * (n - 1) / 2; i++)
		nedges += below(100) < percent;
	printf("p edge %" PRIu64 " %" PRIu64 "\n", n, nedges);
	state = start;
	for (uint64_t i = 2; i <= n; i++)
		for (uint64_t j = 1; j < i; j++)
			if (below(100) < percent)
				printf("e %" PRIu64 " %" PRIu64 "\n", i, j);
}

static const struct kind {
	const char *name;
	void (*make)(uint64_t, uint64_t);
} kinds[] = {
        {"text", gen_text},   {"mixed", gen_mixed}, {"image", gen_image},
        {"table", gen_table}, {"sat", gen_sat},     {"graph", gen_graph},
};

/* True if `text` is a number between 1 and 2^32. */
static bool parse(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno == 0 && end != text && *end == '\0' && text[0] != '-' &&
	       *value >= 1 && *value <= UINT64_C(1) << 32;
}

int main(int argc, char **argv)
{
	uint64_t a, b, seed;

	if (argc != 5 || !parse(argv[2], &a) || !parse(argv[3], &b) ||
	    !parse(argv[4], &seed)) {
		fputs("usage: gen text|mixed|image|table|sat|graph A B SEED\n",
		      stderr);
		return 2;
	}
	state = seed;
	make_words();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(argv[1], kinds[i].name) != 0)
			continue;
		kinds[i].make(a, b);
		return fflush(stdout) == 0 ? 0 : 1;
	}
	fprintf(stderr, "gen: unknown kind %s\n", argv[1]);
	return 2;
}
