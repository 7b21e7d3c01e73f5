/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef BENCH_GRO_CONTENDER_H
#define BENCH_GRO_CONTENDER_H

/** @file Who merges packets: DPDK's rte_gro in its two modes, pagewheel, and the floor. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_gro.h>
#include <rte_mbuf.h>

#include "grid.h"
#include "gro_settings.h"
#include "pw_gro.h"

/** The one that is for a flush each burst only is the first, the floor is the last. */
#define PW_GRO_BENCH_CONTENDERS 4

/** What came out since the last look. */
struct pw_gro_bench_output {
	uint32_t n; /**< may be more than there is room for: that is an error */
	struct rte_mbuf *packets[PW_GRO_BENCH_WINDOW_MAX];
};

struct pw_gro_bench_contender {
	const struct pw_gro_bench_kind *kind;
	struct pw_gro_bench_output *output;
	bool verifies; /**< in software, before rte_gro */
	struct pw_gro *gro;
	void *rte_ctx;
	struct rte_gro_param rte;
	uint64_t now_us;    /**< as pagewheel is told */
	uint64_t sum;	    /**< of what the floor read */
	uint32_t bad_cksum; /**< packets found bad */
};

struct pw_gro_bench_kind {
	struct pw_bench_column column;
	int (*open)(struct pw_gro_bench_contender *c, uint32_t window);
	void (*close)(struct pw_gro_bench_contender *c);
	/** Measured. May change the array. */
	void (*receive)(struct pw_gro_bench_contender *c, struct rte_mbuf **pkts, uint16_t n);
	/** Measured; NULL: there is nothing to flush. */
	void (*flush)(struct pw_gro_bench_contender *c);
};

extern const struct pw_gro_bench_kind pw_gro_bench_kinds[PW_GRO_BENCH_CONTENDERS];

/** Ready for a group; 0 or -ENOMEM. */
int pw_gro_bench_contender_open(struct pw_gro_bench_contender *c,
	const struct pw_gro_bench_kind *kind, const struct pw_gro_bench_settings *settings,
	struct pw_gro_bench_output *output);

/** Nothing is done when it is not open. */
void pw_gro_bench_contender_close(struct pw_gro_bench_contender *c);

#endif
