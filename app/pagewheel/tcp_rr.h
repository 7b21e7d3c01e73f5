/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef TCP_RR_H
#define TCP_RR_H

/** @file What a connection of request and response begins with. */

#include <rte_byteorder.h>

#define PW_RR_BYTES_MAX (1 << 20)

/** The bytes of each request and reply, 1 to PW_RR_BYTES_MAX. */
struct pw_rr_sizes {
	rte_be32_t request_bytes;
	rte_be32_t reply_bytes;
};

#endif
