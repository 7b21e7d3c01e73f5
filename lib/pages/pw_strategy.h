/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_STRATEGY_H
#define PW_STRATEGY_H

/**
 * @file
 * Recycling strategies: how buffers are cut from pages, and when a page is used again.
 *
 * A strategy is a row of choices. lib/frag (fragments of variable size) and lib/store (buffers of
 * one size) read the same rows.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A page of order 0 has 4096 bytes, whatever the page size of the memory behind it. */
#define PW_PAGE_SHIFT 12
/** Largest page order: 4096 << 9 bytes, a hugepage of 2 MiB. */
#define PW_PAGE_ORDER_MAX 9

/** Where empty pages go and come from. */
enum pw_home {
	PW_HOME_BUDDY, /**< the arena's buddy allocator, each time */
	PW_HOME_CACHE, /**< a stack of the lcore that empties them, then the buddy allocator */
	PW_HOME_RING, /**< a stack of the lcore that took them, by a ring if another empties them */
};

/** When a page is used again without going home. */
enum pw_reuse {
	PW_REUSE_NONE,	/**< never */
	PW_REUSE_RESET, /**< from its end again, while the one who cuts it is the only holder */
	PW_REUSE_FLIP,	/**< its other half, when that is free as its turn comes, as in ixgbe */
};

struct pw_strategy {
	char name[24];	     /**< as parsed, with an order given by hand: "reuse:0" */
	unsigned page_order; /**< pages have 4096 << page_order bytes */
	enum pw_home home;
	enum pw_reuse reuse;
};

/** Name of the strategy used where none is asked for. */
#define PW_STRATEGY_DEFAULT "reuse"

/** Bytes of one page of a strategy. */
static inline size_t
pw_strategy_page_bytes(const struct pw_strategy *strategy)
{
	return (size_t)1 << (PW_PAGE_SHIFT + strategy->page_order);
}

/**
 * Find a strategy by its name, with an optional page order: "reuse", "reuse:0".
 *
 * @param text  NULL or "" stands for PW_STRATEGY_DEFAULT
 * @param out   written only on success
 * @return 0, or -EINVAL: pw_strategy_list() tells what there is
 */
int pw_strategy_parse(const char *text, struct pw_strategy *out);

/**
 * The names pw_strategy_parse() takes, in words for an error message or a help text.
 *
 * @return buf, always terminated, cut when size is too small (256 is enough)
 */
const char *pw_strategy_list(char *buf, size_t size);

/** One line on what row i of the table does, and its name; NULL after the last row. */
const char *pw_strategy_help(unsigned i, const char **name);

#ifdef __cplusplus
}
#endif

#endif
