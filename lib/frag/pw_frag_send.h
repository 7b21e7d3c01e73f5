/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_FRAG_SEND_H
#define PW_FRAG_SEND_H

/**
 * @file
 * A page that a sender writes its data into, for each of its sockets, in the manner of Linux's
 * sk_page_frag: from the start of the page to its end, as much at a time as comes.
 *
 * Ask for room, write into it, take what was written as a fragment; what was not taken is the next
 * call's room. Fragments are freed as any others, by pw_frag_free() and any thread, and may outlive
 * the struct.
 *
 * When the page is used up it is used from its start again if nobody else holds a reference,
 * whatever the strategy's reuse; else it is left to its fragments, and the pool gives another one.
 *
 * A struct pw_send_frag belongs to one thread at a time. Zero is the empty one. It may be moved.
 */

#include <stddef.h>
#include <stdint.h>

#include "pw_frag_pool.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The fields are the functions' own. */
struct pw_send_frag {
	struct pw_page *page;
	char *start;
	uint32_t offset_bytes; /**< written and taken up to here */
	uint32_t len_bytes;    /**< of the page */
};

/**
 * Where the next bytes can be written.
 *
 * @param pool        always the same one, until the struct is released
 * @param min_bytes   1 to the strategy's page size; a small one fits more often
 * @param room_bytes  how much room there is, at least min_bytes; written on success only
 * @return NULL with rte_errno EINVAL (0 bytes), EMSGSIZE (more than a page of the strategy) or
 *	ENOMEM (no page, or only one of order 0 and more than 4096 bytes wanted). What room there
 *was stays then; only if another thread was quicker to take the page just emptied, there is none.
 */
void *pw_send_frag_room(
	struct pw_send_frag *sf, struct pw_frag_pool *pool, size_t min_bytes, size_t *room_bytes);

/**
 * Take what was written as a fragment, with one reference.
 *
 * @param used_bytes  1 to the room that there was
 * @return its start; NULL with rte_errno EINVAL when there was no such room
 */
void *pw_send_frag_take(struct pw_send_frag *sf, size_t used_bytes);

/** Let go of the page, to be called before the struct goes away; it is empty then, as at first. */
void pw_send_frag_release(struct pw_send_frag *sf, struct pw_frag_pool *pool);

#ifdef __cplusplus
}
#endif

#endif
