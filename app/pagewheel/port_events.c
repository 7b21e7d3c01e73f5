/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* Events of an ethdev port, told on a thread of EAL's, to the main loop. */

#include <string.h>

#include "app.h"
#include "events.h"
#include "port_ethdev.h"

static int
on_event(uint16_t dev, enum rte_eth_event_type type, void *arg, void *ret_param)
{
	struct pw_ethdev *port = arg;
	struct pw_event event = {.port = port->base.id};

	(void)dev;
	(void)ret_param;
	switch (type) {
	case RTE_ETH_EVENT_INTR_LSC:
		event.kind = PW_EVENT_LINK;
		if (port->base.ops->get_link(&port->base, &event.link) < 0)
			return 0;
		break;
	case RTE_ETH_EVENT_INTR_RESET:
		event.kind = PW_EVENT_RESET;
		break;
	case RTE_ETH_EVENT_INTR_RMV:
		event.kind = PW_EVENT_REMOVED;
		break;
	default:
		return 0;
	}
	pw_events_raise(&event);
	return 0;
}

int
pw_ethdev_watch(struct pw_ethdev *port)
{
	static const enum rte_eth_event_type types[] = {
		RTE_ETH_EVENT_INTR_LSC, RTE_ETH_EVENT_INTR_RESET, RTE_ETH_EVENT_INTR_RMV};
	int rc = 0;

	for (unsigned i = 0; i < RTE_DIM(types) && rc == 0; i++)
		rc = rte_eth_dev_callback_register(port->dev, types[i], on_event, port);
	if (rc < 0)
		pw_error("port %u: its events cannot be had: %s", port->base.id, strerror(-rc));
	return rc;
}
