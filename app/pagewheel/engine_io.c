/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Forward each packet as it is to the other port. */

#include "engine.h"
#include "fwd.h"

static void
receive(struct pw_stream *stream, struct rte_mbuf **pkts, uint16_t n, uint64_t now_us)
{
	(void)now_us;
	pw_stream_send(stream, pkts, n);
}

static struct pw_engine io = {
	.name = "io",
	.help = "send each packet, unchanged, out of the other port of its pair",
	.receive = receive,
};

PW_ENGINE_REGISTER(io)
