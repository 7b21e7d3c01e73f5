/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "gen_sizes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The usual "simple IMIX". */
#define IMIX "64:7/594:4/1518:1"

/* Read digits up to another character. */
static int
parse_number(const char **text, unsigned long min, unsigned long max, uint32_t *number)
{
	char *end;
	unsigned long value;

	if (**text < '0' || **text > '9')
		return -1;
	errno = 0;
	value = strtoul(*text, &end, 10);
	if (errno != 0 || value < min || value > max)
		return -1;
	*text = end;
	*number = (uint32_t)value;
	return 0;
}

static int
parse_size(const char **text, struct gen_sizes *sizes)
{
	unsigned i = sizes->n++;

	if (parse_number(text, GEN_SIZE_MIN, GEN_SIZE_MAX, &sizes->bytes[i]) < 0)
		return -1;
	sizes->weights[i] = 1;
	if (**text != ':')
		return 0;
	(*text)++;
	return parse_number(text, 1, GEN_WEIGHT_MAX, &sizes->weights[i]);
}

int
gen_sizes_parse(void *sizes, const char *text)
{
	struct gen_sizes read = {.at_least = strcmp(text, "imix") == 0};

	if (read.at_least)
		text = IMIX;
	for (; read.n < GEN_SIZES_MAX; text++) {
		if (parse_size(&text, &read) < 0)
			return -1;
		if (*text == '\0') {
			*(struct gen_sizes *)sizes = read;
			return 0;
		}
		if (*text != '/')
			return -1;
	}
	return -1;
}

unsigned
gen_sizes_schedule(const struct gen_sizes *sizes, uint8_t schedule[GEN_SCHEDULE_MAX])
{
	int32_t credit[GEN_SIZES_MAX] = {0};
	uint32_t total = 0;

	for (unsigned i = 0; i < sizes->n; i++)
		total += sizes->weights[i];
	/* The size with the most credit goes next, and pays for a whole round. */
	for (unsigned at = 0; at < total; at++) {
		unsigned best = 0;

		for (unsigned i = 0; i < sizes->n; i++) {
			credit[i] += (int32_t)sizes->weights[i];
			if (credit[i] > credit[best])
				best = i;
		}
		credit[best] -= (int32_t)total;
		schedule[at] = (uint8_t)best;
	}
	return total;
}
