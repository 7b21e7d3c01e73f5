/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef FUZZ_POOLS_H
#define FUZZ_POOLS_H

/** @file What fuzz targets with a TCP endpoint take their buffers from. */

#include <rte_mbuf.h>

#include "pw_frag_pool.h"

extern struct rte_mempool *fuzz_mbufs;
extern struct pw_frag_pool *fuzz_frags;

/** Start EAL, and make both pools. */
void fuzz_pools_open(unsigned mbufs, size_t frags_bytes);

/** Ends the program unless all of both is back. */
void fuzz_pools_expect_home(void);

#endif
