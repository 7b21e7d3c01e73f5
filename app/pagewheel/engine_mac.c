/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Forward to the other port with new Ethernet addresses, as a router's last step does. */

#include <errno.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_malloc.h>
#include <rte_prefetch.h>

#include "app.h"
#include "engine.h"
#include "fwd.h"

/* Headers are fetched so many packets ahead. */
#define AHEAD 4

/* Both addresses, as they stand at the beginning of a frame. */
struct addresses {
	struct rte_ether_addr dst, src;
};

static int
open_stream(struct pw_stream *stream, const struct pw_app *app)
{
	struct addresses *addresses = rte_zmalloc("pw_mac", sizeof(*addresses), 0);
	struct pw_port *port = stream->tx_port;
	struct pw_port_info info;
	int rc = addresses == NULL ? -ENOMEM : port->ops->get_info(port, &info);

	if (rc < 0) {
		pw_error("the mode mac does not start: %s", strerror(-rc));
		rte_free(addresses);
		return rc;
	}
	addresses->src = info.mac;
	addresses->dst = app->options.eth_peers[port->id];
	stream->engine_data = addresses;
	return 0;
}

static void
close_stream(struct pw_stream *stream)
{
	rte_free(stream->engine_data);
	stream->engine_data = NULL;
}

static void
receive(struct pw_stream *stream, struct rte_mbuf **pkts, uint16_t n, uint64_t now_us)
{
	const struct addresses *addresses = stream->engine_data;

	(void)now_us;
	for (uint16_t i = 0; i < n; i++) {
		if (i + AHEAD < n)
			rte_prefetch0(rte_pktmbuf_mtod(pkts[i + AHEAD], void *));
		*rte_pktmbuf_mtod(pkts[i], struct addresses *) = *addresses;
	}
	pw_stream_send(stream, pkts, n);
}

static struct pw_engine mac = {
	.name = "mac",
	.help = "as io, with the port's own address as source and --eth-peer's as destination",
	.open = open_stream,
	.close = close_stream,
	.receive = receive,
};

PW_ENGINE_REGISTER(mac)
