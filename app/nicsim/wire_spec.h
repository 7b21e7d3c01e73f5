/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_WIRE_SPEC_H
#define NICSIM_WIRE_SPEC_H

/**
 * @file
 * One wire as the command line tells it: KIND[=NAME][,key=value]...
 *
 * A key is a setting of the kind or of the line, for both ways, or with rx- or tx- in front for
 * one; or seed.
 */

#include "line.h"
#include "wire.h"

struct wire_spec {
	const struct wire_kind *kind;
	const char *arg; /**< into text, or NULL */
	void *config;	 /**< the kind's, or NULL when it has none */
	struct line_config line[LINE_WAYS];
	uint64_t seed; /**< 1 unless told */
	char *text;    /**< what arg and config point into: it must outlive the wire */
};

/**
 * Read it; wire_spec_free() afterwards.
 *
 * @return 0, or a negative errno after an error was printed; nothing to free then
 */
int wire_spec_parse(struct wire_spec *spec, const char *text);

/** Free what it owns, when its wire is closed. */
void wire_spec_free(struct wire_spec *spec);

/**
 * Change the line by one key=value, as in rx-loss=5.
 *
 * @param context  what messages begin with
 * @return 0, or -EINVAL after an error was printed, and nothing is changed
 */
int wire_spec_set_line(
	struct line_config config[LINE_WAYS], const char *key_value, const char *context);

/** Print the kinds and all keys. */
void wire_spec_usage(void);

#endif
