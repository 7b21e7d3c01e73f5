/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef POOL_H
#define POOL_H

/** @file The pool of RX buffers, and that of fragments. */

#include "options.h"

/**
 * Make a pool on the handler pagewheel with the strategy asked for.
 *
 * @return NULL after an error was printed
 */
struct rte_mempool *pw_pool_create(const struct pw_options *options, int socket_id);

/**
 * Make the memory that fragments are cut from, with the strategy asked for.
 *
 * @return NULL after an error was printed
 */
struct pw_frag_pool *pw_pool_create_frags(const struct pw_options *options, int socket_id);

/** Say on stderr how many hugepages there are, how many the options ask for, and how to get them.
 */
void pw_pool_explain_hugepages(const struct pw_options *options);

#endif
