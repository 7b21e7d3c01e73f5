/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "link.h"

#include <stdio.h>

#include <rte_cycles.h>

#include "app.h"

#define POLL_MS 1000

static uint64_t polled; /* TSC */

void
pw_link_say(struct pw_port *port, const struct pw_link *link)
{
	if (port->link_known && port->link.up == link->up &&
		(!link->up || port->link.mbps == link->mbps))
		return;
	port->link_downs += port->link_known && port->link.up && !link->up;
	port->link_known = true;
	port->link = *link;
	if (!link->up)
		printf("Port %u: link down\n", port->id);
	else if (link->mbps == UINT32_MAX)
		printf("Port %u: link up, speed unknown\n", port->id);
	else
		printf("Port %u: link up, %u Mbit/s\n", port->id, link->mbps);
	fflush(stdout);
}

void
pw_link_look(struct pw_port *port)
{
	struct pw_link link;

	if (port->state == PW_PORT_STARTED && port->ops->get_link(port, &link) == 0)
		pw_link_say(port, &link);
}

void
pw_link_forget(struct pw_port *port)
{
	port->link_known = false;
}

int
pw_link_timeout_ms(void)
{
	uint64_t passed_ms = (rte_rdtsc() - polled) * 1000 / rte_get_tsc_hz();

	return passed_ms >= POLL_MS ? 0 : POLL_MS - passed_ms;
}

void
pw_link_poll(struct pw_app *app)
{
	if (pw_link_timeout_ms() != 0)
		return;
	polled = rte_rdtsc();
	for (uint16_t i = 0; i < app->nb_ports; i++)
		pw_link_look(app->ports[i]);
}
