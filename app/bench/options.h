/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

/** @file Options of an experiment: one table for the parser and the help. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pw_bench_option;

/** Read a value into the field that the option names; says itself what would be right. */
typedef int (*pw_bench_parse_t)(void *values, const struct pw_bench_option *option, char *value);

/** A row; the last one of a table has no name. */
struct pw_bench_option {
	const char *name;
	const char *arg; /**< name of the value in the help; NULL: a flag */
	const char *help;
	const char *preset; /**< the default, in words; NULL: none */
	pw_bench_parse_t parse;
	size_t offset;	   /**< of the field */
	uint32_t min, max; /**< of numbers */
};

/** Options of all experiments. */
struct pw_bench_common {
	bool help;
	bool json;
	bool quick;
	uint32_t rounds;     /**< wanted a cell */
	uint32_t max_rounds; /**< of those that the half-width needs */
	uint32_t warm_up;    /**< rounds before them */
	double confidence_percent;
	double half_width_percent; /**< of the first metric, that is narrow enough */
	const char *baseline;	   /**< name of a column; NULL: the experiment's */
	const char *out;	   /**< folder for files; NULL: none */
	uint32_t max_seconds;	   /**< for all of the experiment */
	uint32_t seed;
	uint32_t near_ns; /**< a one-way line transfer below is near */
};

#define PW_BENCH_LIST_MAX 32

/** Words of a list, parted by commas. */
struct pw_bench_list {
	unsigned n;
	const char *items[PW_BENCH_LIST_MAX];
};

/** Numbers of a list, parted by commas. */
struct pw_bench_numbers {
	unsigned n;
	uint32_t items[PW_BENCH_LIST_MAX];
};

int pw_bench_parse_flag(void *values, const struct pw_bench_option *option, char *value);
/** A text, which is not looked at. */
int pw_bench_parse_text(void *values, const struct pw_bench_option *option, char *value);
/** A number with a fraction, above min and below max, into a double. */
int pw_bench_parse_real(void *values, const struct pw_bench_option *option, char *value);
int pw_bench_parse_number(void *values, const struct pw_bench_option *option, char *value);
int pw_bench_parse_numbers(void *values, const struct pw_bench_option *option, char *value);
/** Refuses empty words and words that come twice; a value that is a list keeps pointing to argv. */
int pw_bench_parse_list(void *values, const struct pw_bench_option *option, char *value);

/** Name of the i-th of some things; NULL after the last. */
typedef const char *(*pw_bench_name_t)(unsigned i);

/** pw_bench_parse_list() of words that each begin one of the names. */
int pw_bench_parse_beginnings(
	void *values, const struct pw_bench_option *option, char *value, pw_bench_name_t name);

/** Whether a word of the list begins the name; all are chosen when there is none. */
bool pw_bench_is_chosen(const struct pw_bench_list *words, const char *name);

/** Say what was expected; returns -EINVAL. */
int pw_bench_wrong_value(
	const struct pw_bench_option *option, const char *value, const char *expected);

/**
 * Read the common options and an experiment's.
 *
 * @param table  NULL: it has none
 * @param seconds  one measurement takes seconds: fewer rounds by default
 * @param argv  argv[0] is not looked at
 * @return 0, or -EINVAL: it has said why
 */
int pw_bench_options_parse(const struct pw_bench_option *table, void *values,
	struct pw_bench_common *common, bool seconds, int argc, char **argv);

/** Whether an argument is one of the common options. */
bool pw_bench_is_common_option(const char *arg);

/** Print the help of the same options. */
void pw_bench_options_print(const struct pw_bench_option *table);

#endif
