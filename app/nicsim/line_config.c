/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Settings of a direction of the line. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "line.h"

#define RATE_MIN 1000 /* bits a second */
#define RATE_MAX 1e12
#define DELAY_MAX_MS 10000
#define GAP_MAX 256 /* frames that one is put behind are searched one by one */

const struct line_config line_config_default = {
	.rate_bps = 10000000000,
	.reorder_gap = 3,
};

/* Digits, a point at most; k or K, M, G in powers of 1000. NULL: no number. */
static const char *
parse_amount(const char *value, double *amount)
{
	static const char prefixes[] = "KMG";
	const char *prefix;
	char *end;

	/* strtod() knows exponents and hexadecimal too. */
	if (value[0] < '0' || value[0] > '9' || strpbrk(value, "eExX") != NULL)
		return NULL;
	*amount = strtod(value, &end);
	prefix = *end != '\0' ? strchr(prefixes, *end == 'k' ? 'K' : *end) : NULL;
	if (prefix == NULL)
		return end;
	*amount *= pow(1000, (double)(prefix - prefixes + 1));
	return end + 1;
}

static int
parse_rate(void *field, const char *value)
{
	struct line_config *config = field;
	const char *unit;
	double amount;

	if (strcmp(value, "max") == 0) {
		config->rate_bps = config->rate_fps = 0;
		return 0;
	}
	unit = parse_amount(value, &amount);
	if (unit == NULL || amount > RATE_MAX)
		return -EINVAL;
	if (strcmp(unit, "pps") == 0 && amount >= 1)
		config->rate_fps = (uint64_t)amount;
	else if (unit[0] == '\0' && amount >= RATE_MIN)
		config->rate_bps = (uint64_t)amount;
	else
		return -EINVAL;
	return 0;
}

#define PERCENT(name, field, help)                                                                 \
	{                                                                                          \
		name, "%", help, PARAM_PERCENT, offsetof(struct line_config, field), 0, 100, NULL, \
			NULL                                                                       \
	}
#define TIME(name, field, help)                                                         \
	{                                                                               \
		name, "TIME", help, PARAM_TIME, offsetof(struct line_config, field), 0, \
			DELAY_MAX_MS, NULL, NULL                                        \
	}

const struct param line_params[] = {
	/* The parser writes two fields: it gets the struct. */
	{"rate", "RATE", "10G, 100M: bit/s; 1Mpps, 500kpps: frames/s too; max: no limit (10G)",
		PARAM_CUSTOM, 0, 0, 0, NULL, parse_rate},
	TIME("delay", delay_ns, "that each frame takes, as in 100us"),
	TIME("jitter", jitter_ns, "up to so much more, order kept"),
	PERCENT("loss", loss, "frames lost"),
	PERCENT("reorder", reorder, "frames overtaken by later ones"),
	{"gap", "N", "by up to how many frames (3)", PARAM_UINT,
		offsetof(struct line_config, reorder_gap), 1, GAP_MAX, NULL, NULL},
	PERCENT("dup", duplicate, "frames that come twice"),
	PERCENT("corrupt", corrupt, "a bit changed, under a right CRC"),
	PERCENT("bad-crc", bad_crc, "a bit changed, and the CRC tells"),
	PERCENT("bad-cksum", bad_cksum, "a wrong checksum of TCP or UDP, else of IPv4"),
	PERCENT("truncate", truncate, "cut off, down to 14 bytes"),
	PERCENT("oversize", oversize, "made longer, up to 15868 bytes"),
	{0},
};
