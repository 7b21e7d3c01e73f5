/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_PARAM_H
#define NICSIM_PARAM_H

/**
 * @file
 * Settings of the kind key=value: a table a struct serves the parser, the help and the messages.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum param_type {
	PARAM_UINT,    /**< uint64_t: 64, 64K, 1M, 2G (powers of 1024) */
	PARAM_PERCENT, /**< double, as a probability from 0 to 1: 1.5 is 0.015 */
	PARAM_TIME,    /**< uint64_t, ns: 20us, 10ms, 1s; without a unit ms */
	PARAM_TEXT,    /**< const char *, into the text that was parsed */
	PARAM_CHOICE,  /**< uint64_t: the place of the word in words */
	PARAM_CUSTOM,  /**< parse() knows */
};

/** One setting. A table of them ends with a row of which the name is NULL. */
struct param {
	const char *name;
	const char *arg; /**< what the help shows behind "=" */
	const char *help;
	enum param_type type;
	size_t offset;		  /**< of the field in the struct */
	double min, max;	  /**< of what is written: percent, ms with PARAM_TIME */
	const char *const *words; /**< for PARAM_CHOICE, with NULL at the end */
	/** For PARAM_CUSTOM: 0, or -1 when the value is not what help tells. */
	int (*parse)(void *field, const char *value);
};

/** The row of this name, or NULL. */
const struct param *param_find(const struct param *table, const char *name);

/**
 * Read a value into the struct.
 *
 * @param context  what messages begin with, as in "--wire=gen"
 * @return 0, or -EINVAL after an error was printed: what was asked, what is possible
 */
int param_set(const struct param *param, void *base, const char *context, const char *value);

/** Print a line of help for each row. */
void param_usage(const struct param *table, const char *prefix);

#endif
