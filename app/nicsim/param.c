/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "param.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

struct unit {
	const char *name;
	double factor;
};

static const struct unit counts[] = {{"", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {0}};
static const struct unit percents[] = {{"", 1}, {"%", 1}, {0}};
static const struct unit times[] = {
	{"", 1}, {"ns", 1e-6}, {"us", 1e-3}, {"ms", 1}, {"s", 1e3}, {0}};

/* Digits, a point at most, and a unit of the list. */
static int
parse_number(const char *value, const struct unit *units, double *number)
{
	char *end;

	/* strtod() knows exponents and hexadecimal too. */
	if (value[0] < '0' || value[0] > '9' || strspn(value, "0123456789.") > 20 ||
		strpbrk(value, "eExX") != NULL)
		return -EINVAL;
	*number = strtod(value, &end);
	if (!isfinite(*number))
		return -EINVAL;
	for (; units->name != NULL; units++)
		if (strcmp(end, units->name) == 0) {
			*number *= units->factor;
			return 0;
		}
	return -EINVAL;
}

static int
set_uint(const struct param *param, void *field, const char *value)
{
	double number;

	if (parse_number(value, counts, &number) < 0 || number < param->min ||
		number > param->max || floor(number) != number)
		return -EINVAL;
	*(uint64_t *)field = (uint64_t)number;
	return 0;
}

static int
set_percent(const struct param *param, void *field, const char *value)
{
	double number;

	if (parse_number(value, percents, &number) < 0 || number < param->min ||
		number > param->max)
		return -EINVAL;
	*(double *)field = number / 100;
	return 0;
}

static int
set_time(const struct param *param, void *field, const char *value)
{
	double number;

	if (parse_number(value, times, &number) < 0 || number < param->min || number > param->max)
		return -EINVAL;
	*(uint64_t *)field = (uint64_t)(number * 1e6 + 0.5);
	return 0;
}

static int
set_text(const struct param *param, void *field, const char *value)
{
	(void)param;
	if (value[0] == '\0')
		return -EINVAL;
	*(const char **)field = value;
	return 0;
}

static int
set_choice(const struct param *param, void *field, const char *value)
{
	for (uint64_t i = 0; param->words[i] != NULL; i++)
		if (strcmp(param->words[i], value) == 0) {
			*(uint64_t *)field = i;
			return 0;
		}
	return -EINVAL;
}

/* What would have been right. */
static const char *
expected(const struct param *param, char *text, size_t size)
{
	size_t used = 0;

	switch (param->type) {
	case PARAM_UINT:
		snprintf(text, size, "a number from %.0f to %.0f", param->min, param->max);
		break;
	case PARAM_PERCENT:
		snprintf(text, size, "percent from %g to %g", param->min, param->max);
		break;
	case PARAM_TIME:
		snprintf(text, size, "a time from %g to %g ms, as in 20us, 10ms, 1s", param->min,
			param->max);
		break;
	case PARAM_CHOICE:
		used = snprintf(text, size, "one of:");
		for (unsigned i = 0; param->words[i] != NULL && used < size; i++)
			used += snprintf(text + used, size - used, " %s", param->words[i]);
		break;
	case PARAM_TEXT:
	case PARAM_CUSTOM:
		snprintf(text, size, "%s (%s)", param->arg, param->help);
		break;
	}
	return text;
}

const struct param *
param_find(const struct param *table, const char *name)
{
	for (; table != NULL && table->name != NULL; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

int
param_set(const struct param *param, void *base, const char *context, const char *value)
{
	static int (*const setters[])(const struct param *, void *, const char *) = {
		[PARAM_UINT] = set_uint,
		[PARAM_PERCENT] = set_percent,
		[PARAM_TIME] = set_time,
		[PARAM_TEXT] = set_text,
		[PARAM_CHOICE] = set_choice,
	};
	void *field = (char *)base + param->offset;
	int rc = param->type == PARAM_CUSTOM ? param->parse(field, value)
					     : setters[param->type](param, field, value);
	char text[256];

	if (rc < 0) {
		nicsim_error("%s: %s=%s: expected %s", context, param->name, value,
			expected(param, text, sizeof(text)));
		return -EINVAL;
	}
	return 0;
}

void
param_usage(const struct param *table, const char *prefix)
{
	char left[64];

	for (; table != NULL && table->name != NULL; table++) {
		snprintf(left, sizeof(left), "%s%s=%s", prefix, table->name, table->arg);
		printf("    %-26s %s\n", left, table->help);
	}
}
