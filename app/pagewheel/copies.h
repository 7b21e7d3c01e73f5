/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef COPIES_H
#define COPIES_H

/** @file Copy-break on the lcores that receive: small packets go on as copies in fragments. */

#include <stdint.h>

#include <rte_mbuf.h>

struct pw_app;
struct pw_copies;

/**
 * Make a cache of fragments for each worker lcore, and a pool of mbufs without room of their own.
 *
 * @return NULL after an error was printed
 */
struct pw_copies *pw_copies_create(const struct pw_app *app);

/** Free them; tells how many mbufs are missing. NULL is allowed. */
unsigned pw_copies_destroy(struct pw_copies *copies);

/** Replace the small ones of a burst by copies. For the lcore of this id. */
void pw_copies_take(struct pw_copies *copies, unsigned lcore, struct rte_mbuf **pkts, uint16_t n);

/** Counters of all lcores, a struct pw_copybreak_stats. -ENOENT without --copy-break. */
int pw_copies_read(const struct pw_app *app, void *stats);

#endif
