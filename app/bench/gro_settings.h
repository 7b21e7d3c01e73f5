/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_GRO_SETTINGS_H
#define BENCH_GRO_SETTINGS_H

/** @file What the traffic of "gro" is like: the settings of a group, and the options for them. */

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

#define PW_GRO_BENCH_BURST 32U
#define PW_GRO_BENCH_FLOWS_MAX 65536U
#define PW_GRO_BENCH_PAYLOAD_MAX 1448U
#define PW_GRO_BENCH_FLUSH_MAX 32U
/** Packets between two flushes, at most. */
#define PW_GRO_BENCH_WINDOW_MAX (PW_GRO_BENCH_BURST * PW_GRO_BENCH_FLUSH_MAX)

/** Whose packet comes next. */
enum pw_gro_bench_order {
	PW_GRO_BENCH_ROBIN,
	PW_GRO_BENCH_RANDOM1,
	PW_GRO_BENCH_RANDOM4,
};

enum pw_gro_bench_headers {
	PW_GRO_BENCH_HOT,
	PW_GRO_BENCH_COLD,
};

enum pw_gro_bench_cksum {
	PW_GRO_BENCH_VOUCHED,
	PW_GRO_BENCH_SOFTWARE,
};

enum pw_gro_bench_hash {
	PW_GRO_BENCH_GOOD,
	PW_GRO_BENCH_SAME,
};

/** Words of the options, NULL at the end: indexes are the enums above. */
extern const char *const pw_gro_bench_order_words[];
extern const char *const pw_gro_bench_headers_words[];
extern const char *const pw_gro_bench_cksum_words[];
extern const char *const pw_gro_bench_hash_words[];

/** All that is the same in a group; the flows are its rows. */
struct pw_gro_bench_settings {
	enum pw_gro_bench_order order;
	enum pw_gro_bench_headers headers;
	enum pw_gro_bench_cksum cksum;
	enum pw_gro_bench_hash hash;
	uint32_t payload_bytes;
	uint32_t reorder_percent; /**< of packets that change places with the next of their flow */
	uint32_t flush_bursts;	  /**< bursts from flush to flush */
};

/** Chosen values; of words their indexes. */
struct pw_gro_bench_options {
	struct pw_bench_numbers flows;
	struct pw_bench_numbers order, payload, reorder, headers, flush, cksum, hash;
	bool all;
};

extern const struct pw_bench_option pw_gro_bench_option_table[];

/** Fill in what was not chosen. */
void pw_gro_bench_set_defaults(struct pw_gro_bench_options *options, bool quick);

/** Groups of settings: the product of all lists but the flows. */
unsigned pw_gro_bench_count_settings(const struct pw_gro_bench_options *options);

/** The settings of group i: flushes change first, then the order. */
struct pw_gro_bench_settings pw_gro_bench_settings_of(
	const struct pw_gro_bench_options *options, unsigned i);

/** The same as text: "order robin, payload 1448, ...". */
void pw_gro_bench_settings_print(
	const struct pw_gro_bench_settings *settings, char *text, size_t size);

static inline uint32_t
pw_gro_bench_window(const struct pw_gro_bench_settings *settings)
{
	return settings->flush_bursts * PW_GRO_BENCH_BURST;
}

#endif
