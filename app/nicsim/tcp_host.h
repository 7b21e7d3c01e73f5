/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_TCP_HOST_H
#define NICSIM_TCP_HOST_H

/**
 * @file
 * A host with many connections to one peer. Those that may have something to send take turns,
 * several segments at a time. Deadlines are looked at all together, and only when the earliest may
 * be over.
 */

#include <stdbool.h>
#include <stdint.h>

#include "tcp_flow.h"

#define TCP_HOST_FLOWS_MAX 4096
#define TCP_HOST_PORTS 1024	  /**< of an address */
#define TCP_HOST_ADDRESS_STEP 256 /**< from one of its addresses to the next */

struct tcp_host_config {
	struct tcp_flow_config flow;
	struct tcp_ends ends; /**< of the first flow */
	unsigned flows;
	unsigned burst; /**< segments of a flow one after the other */
};

struct tcp_host;

/** @param seed  of sequence numbers. @return NULL when there is no memory */
struct tcp_host *tcp_host_create(const struct tcp_host_config *config, uint64_t seed);

void tcp_host_destroy(struct tcp_host *host);

/** How many addresses it has. */
static inline unsigned
tcp_host_addresses(const struct tcp_host_config *config)
{
	return (config->flows + TCP_HOST_PORTS - 1) / TCP_HOST_PORTS;
}

/** Whether an address is one of the first flow's and those that follow. */
bool tcp_host_has_address(const struct tcp_host_config *config, uint32_t address);

/** Let time pass; cheap when no deadline is over. */
void tcp_host_tick(struct tcp_host *host, uint64_t now_ns);

/** Write the next segment as a frame of up to TCP_HEADERS_BYTES and data. @return bytes, or 0 */
uint32_t tcp_host_output(struct tcp_host *host, uint64_t now_ns, uint8_t *frame);

/** A segment from the ends to one of us. @return false when there is no such flow */
bool tcp_host_input(struct tcp_host *host, uint64_t now_ns, const struct tcp_ends *ends,
	const struct tcp_segment *segment);

/** Whether all flows came to an end, and nothing is left to be sent. */
bool tcp_host_is_over(const struct tcp_host *host);

/** What made a flow fail first, as a sentence; NULL: none did. */
const char *tcp_host_verdict(const struct tcp_host *host);

const struct tcp_flow_stats *tcp_host_get_stats(const struct tcp_host *host);

#endif
