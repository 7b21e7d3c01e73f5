/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "bench.h"

#define ROWS_MAX 48

#define COMMON(name) offsetof(struct pw_bench_common, name)

static const struct pw_bench_option common_table[] = {
	{"rounds", "N", "rounds wanted of each cell, in the near regime",
		"15, of seconds 3; with --quick 3, of seconds 2", pw_bench_parse_number,
		COMMON(rounds), 1, 1000},
	{"max-rounds", "N", "more of them, until the half-width is narrow enough",
		"twice those wanted, of seconds five times; with --quick none",
		pw_bench_parse_number, COMMON(max_rounds), 1, 1000},
	{"warm-up", "N", "rounds before them, which are not kept",
		"0, of seconds 1; with --quick 0", pw_bench_parse_number, COMMON(warm_up), 0, 100},
	{"max-seconds", "N", "end after that time with the rounds there are",
		"300, of seconds 900; with --quick 30", pw_bench_parse_number, COMMON(max_seconds),
		1, 86400},
	{"confidence", "PERCENT", "of half-widths (Student's t)", "99", pw_bench_parse_real,
		COMMON(confidence_percent), 0, 100},
	{"half-width", "PERCENT", "of the value, that is narrow enough", "2.5", pw_bench_parse_real,
		COMMON(half_width_percent), 0, 100},
	{"baseline", "NAME", "the column that percents are of", "the first one",
		pw_bench_parse_text, COMMON(baseline), 0, 0},
	{"near", "NS", "the cores are near when a cache line takes less from one to the other",
		"60", pw_bench_parse_number, COMMON(near_ns), 1, 10000},
	{"seed", "N", "of all that is random", "1", pw_bench_parse_number, COMMON(seed), 0,
		UINT32_MAX},
	{"quick", NULL, "few rounds of the small things, to see that it works", NULL,
		pw_bench_parse_flag, COMMON(quick), 0, 0},
	{"json", NULL, "print JSON with every sample instead of tables", NULL, pw_bench_parse_flag,
		COMMON(json), 0, 0},
	{"out", "DIR", "also write JSON, CSV, text, plots and a page into this folder", NULL,
		pw_bench_parse_text, COMMON(out), 0, 0},
	{"help", NULL, "this text", NULL, pw_bench_parse_flag, COMMON(help), 0, 0},
	{0},
};

/* An option, and where its value goes. */
struct bound_option {
	const struct pw_bench_option *option;
	void *values;
};

int
pw_bench_wrong_value(const struct pw_bench_option *option, const char *value, const char *expected)
{
	pw_bench_error("--%s=%s: expected %s", option->name, value, expected);
	return -EINVAL;
}

int
pw_bench_parse_flag(void *values, const struct pw_bench_option *option, char *value)
{
	(void)value;
	*(bool *)((char *)values + option->offset) = true;
	return 0;
}

static bool
read_number(const struct pw_bench_option *option, const char *text, uint32_t *number)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || n < option->min ||
		n > option->max)
		return false;
	*number = n;
	return true;
}

int
pw_bench_parse_number(void *values, const struct pw_bench_option *option, char *value)
{
	char expected[64];

	if (read_number(option, value, (uint32_t *)(void *)((char *)values + option->offset)))
		return 0;
	snprintf(expected, sizeof(expected), "a number from %u to %u", option->min, option->max);
	return pw_bench_wrong_value(option, value, expected);
}

int
pw_bench_parse_text(void *values, const struct pw_bench_option *option, char *value)
{
	if (value[0] == '\0')
		return pw_bench_wrong_value(option, value, "a name");
	*(const char **)(void *)((char *)values + option->offset) = value;
	return 0;
}

int
pw_bench_parse_real(void *values, const struct pw_bench_option *option, char *value)
{
	char expected[64], *end;
	double number = strtod(value, &end);

	if (value[0] >= '0' && value[0] <= '9' && *end == '\0' && number > option->min &&
		number < option->max) {
		*(double *)(void *)((char *)values + option->offset) = number;
		return 0;
	}
	snprintf(expected, sizeof(expected), "a number above %u and below %u", option->min,
		option->max);
	return pw_bench_wrong_value(option, value, expected);
}

int
pw_bench_parse_list(void *values, const struct pw_bench_option *option, char *value)
{
	struct pw_bench_list *list = (void *)((char *)values + option->offset);
	char *word, *rest = value;
	unsigned n = 0;

	while ((word = strsep(&rest, ",")) != NULL) {
		if (n == PW_BENCH_LIST_MAX)
			return pw_bench_wrong_value(option, word, "at most 32 in a list");
		if (word[0] == '\0')
			return pw_bench_wrong_value(option, word, "a list parted by commas");
		for (unsigned i = 0; i < n; i++)
			if (strcmp(list->items[i], word) == 0)
				return pw_bench_wrong_value(option, word, "each once");
		list->items[n++] = word;
	}
	list->n = n;
	return 0;
}

int
pw_bench_parse_numbers(void *values, const struct pw_bench_option *option, char *value)
{
	const struct pw_bench_option words_option = {.name = option->name};
	struct pw_bench_numbers *numbers = (void *)((char *)values + option->offset);
	struct pw_bench_list words = {0};
	char expected[96];

	if (pw_bench_parse_list(&words, &words_option, value) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < words.n; i++) {
		if (read_number(option, words.items[i], &numbers->items[i]))
			continue;
		snprintf(expected, sizeof(expected), "numbers from %u to %u, parted by commas",
			option->min, option->max);
		return pw_bench_wrong_value(option, words.items[i], expected);
	}
	numbers->n = words.n;
	return 0;
}

static bool
begins_with(const char *name, const char *word)
{
	return strncmp(name, word, strlen(word)) == 0;
}

bool
pw_bench_is_chosen(const struct pw_bench_list *words, const char *name)
{
	for (unsigned i = 0; i < words->n; i++)
		if (begins_with(name, words->items[i]))
			return true;
	return words->n == 0;
}

static int
refuse_beginning(const struct pw_bench_option *option, const char *word, pw_bench_name_t name)
{
	char expected[512];
	size_t used = snprintf(expected, sizeof(expected), "the beginning of one of:");

	for (unsigned i = 0; name(i) != NULL && used < sizeof(expected); i++)
		used += snprintf(expected + used, sizeof(expected) - used, " %s", name(i));
	return pw_bench_wrong_value(option, word, expected);
}

int
pw_bench_parse_beginnings(
	void *values, const struct pw_bench_option *option, char *value, pw_bench_name_t name)
{
	const struct pw_bench_list *list = (void *)((char *)values + option->offset);
	int rc = pw_bench_parse_list(values, option, value);

	for (unsigned w = 0; rc == 0 && w < list->n; w++) {
		unsigned i = 0;

		while (name(i) != NULL && !begins_with(name(i), list->items[w]))
			i++;
		if (name(i) == NULL)
			return refuse_beginning(option, list->items[w], name);
	}
	return rc;
}

static unsigned
bind_options(
	struct bound_option *rows, unsigned n, const struct pw_bench_option *table, void *values)
{
	for (; table != NULL && table->name != NULL && n < ROWS_MAX; table++)
		rows[n++] = (struct bound_option){table, values};
	return n;
}

static int
refuse(int found, char **argv)
{
	const char *arg = argv[optind - 1];

	if (found == ':')
		pw_bench_error("option %s needs a value", arg);
	else if (optopt >= 256)
		pw_bench_error("option %s takes no value", arg);
	else if (optopt != 0) /* one of several letters */
		pw_bench_error("unknown option -%c; --help lists them all", optopt);
	else
		pw_bench_error("unknown option %s; --help lists them all", arg);
	return -EINVAL;
}

static int
parse_rows(const struct bound_option *rows, unsigned n, int argc, char **argv)
{
	struct option longs[ROWS_MAX + 1] = {0};
	int found;

	for (unsigned i = 0; i < n; i++)
		longs[i] = (struct option){
			.name = rows[i].option->name,
			.has_arg = rows[i].option->arg == NULL ? no_argument : required_argument,
			.val = 256 + i,
		};
	optind = 0;
	while ((found = getopt_long(argc, argv, ":h", longs, NULL)) != -1) {
		const struct bound_option *row;

		if (found == 'h')
			found = 256 + n - 1; /* --help, the last of the common ones */
		if (found < 256)
			return refuse(found, argv);
		row = &rows[found - 256];
		if (row->option->parse(row->values, row->option, optarg) < 0)
			return -EINVAL;
	}
	if (optind < argc) {
		pw_bench_error("unknown argument %s; --help lists the options", argv[optind]);
		return -EINVAL;
	}
	return 0;
}

static void
set_defaults(struct pw_bench_common *common, bool seconds)
{
	bool quick = common->quick;

	if (common->rounds == 0)
		common->rounds = seconds ? (quick ? 2 : 3) : (quick ? 3 : 15);
	if (common->max_rounds == 0)
		common->max_rounds = common->rounds * (quick ? 1 : seconds ? 5 : 2);
	common->max_rounds = RTE_MAX(common->max_rounds, common->rounds);
	if (common->warm_up == UINT32_MAX)
		common->warm_up = seconds && !quick;
	if (common->max_seconds == 0)
		common->max_seconds = quick ? 30 : seconds ? 900 : 300;
}

int
pw_bench_options_parse(const struct pw_bench_option *table, void *values,
	struct pw_bench_common *common, bool seconds, int argc, char **argv)
{
	struct bound_option rows[ROWS_MAX];
	unsigned n = bind_options(rows, 0, table, values);

	*common = (struct pw_bench_common){.seed = 1,
		.near_ns = 60,
		.confidence_percent = 99,
		.half_width_percent = 2.5,
		.warm_up = UINT32_MAX};
	n = bind_options(rows, n, common_table, common);
	if (parse_rows(rows, n, argc, argv) < 0)
		return -EINVAL;
	set_defaults(common, seconds);
	return 0;
}

bool
pw_bench_is_common_option(const char *arg)
{
	size_t length;

	if (strncmp(arg, "--", 2) != 0)
		return strcmp(arg, "-h") == 0;
	length = strcspn(arg + 2, "=");
	for (const struct pw_bench_option *option = common_table; option->name != NULL; option++)
		if (strlen(option->name) == length && strncmp(option->name, arg + 2, length) == 0)
			return true;
	return false;
}

static void
print_row(const struct pw_bench_option *option)
{
	bool number = option->parse == pw_bench_parse_number ||
		option->parse == pw_bench_parse_numbers || option->parse == pw_bench_parse_real;
	char left[48];

	snprintf(left, sizeof(left), "--%s%s%s", option->name, option->arg ? "=" : "",
		option->arg ? option->arg : "");
	printf("  %-20s %s", left, option->help);
	if (number || option->preset != NULL)
		printf(" (");
	if (number)
		printf("%u to %u", option->min, option->max);
	if (option->preset != NULL)
		printf("%sdefault %s", number ? "; " : "", option->preset);
	printf(number || option->preset != NULL ? ")\n" : "\n");
}

void
pw_bench_options_print(const struct pw_bench_option *table)
{
	printf("Options:\n");
	for (; table != NULL && table->name != NULL; table++)
		print_row(table);
	for (table = common_table; table->name != NULL; table++)
		print_row(table);
}
