/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_TCP_POOL_H
#define PW_TCP_POOL_H

/**
 * @file
 * Objects of one size for what few connections need at the same time. Internal to lib/tcp.
 *
 * A pool grows by slabs of EAL's heap up to its bound, and keeps them: so memory follows the most
 * that were in use at once, and what is idle costs nothing. The first slab is there from the start.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#define PW_TCP_POOL_MAX 65536 /**< objects that a pool may have */

/** What an object begins with while it is free, and a slab always. */
struct pw_tcp_pool_link {
	SLIST_ENTRY(pw_tcp_pool_link) next;
};
SLIST_HEAD(pw_tcp_pool_list, pw_tcp_pool_link);

struct pw_tcp_pool {
	const char *name;
	struct pw_tcp_pool_list free, slabs;
	uint32_t object_bytes;
	uint32_t nb_free, nb, max;
	int socket_id;
};

/** Zeroed before. @return 0, or -ENOMEM */
int pw_tcp_pool_init(struct pw_tcp_pool *pool, const char *name, uint32_t object_bytes,
	uint32_t max, int socket_id);
/** All objects are back; a zeroed one is allowed. */
void pw_tcp_pool_fini(struct pw_tcp_pool *pool);

/** An object, not initialised. NULL: as many as allowed are in use, or there is no memory. */
void *pw_tcp_pool_take(struct pw_tcp_pool *pool);
void pw_tcp_pool_give(struct pw_tcp_pool *pool, void *object);

/** Heap for so many objects, with slabs that are not full. */
size_t pw_tcp_pool_bytes(uint32_t object_bytes, uint32_t objects);

#endif
