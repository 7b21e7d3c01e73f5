/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "events.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "app.h"
#include "control.h"
#include "link.h"

/* A pipe: a write of one event is whole or not at all, and none is seen half. */
static int fds[2] = {-1, -1};

int
pw_events_open(void)
{
	return pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0 ? -errno : fds[0];
}

void
pw_events_raise(const struct pw_event *event)
{
	/* Thousands unread: one more tells nothing new. The link is read again in the end. */
	if (write(fds[1], event, sizeof(*event)) < 0)
		return;
}

static void
handle(struct pw_app *app, const struct pw_event *event)
{
	struct pw_port *port = event->port < app->nb_ports ? app->ports[event->port] : NULL;

	/* It may have been stopped or closed since. */
	if (port == NULL || port->state == PW_PORT_CLOSED)
		return;
	switch (event->kind) {
	case PW_EVENT_LINK:
		if (port->state == PW_PORT_STARTED)
			pw_link_say(port, &event->link);
		break;
	case PW_EVENT_RESET:
		pw_control_reset_asked(app, port);
		break;
	case PW_EVENT_REMOVED:
		pw_control_removed(app, port);
		break;
	}
}

void
pw_events_handle(struct pw_app *app)
{
	struct pw_event event;

	while (read(fds[0], &event, sizeof(event)) == sizeof(event))
		handle(app, &event);
	/* After a flood of events, or one that was overtaken: how it is now. */
	for (uint16_t i = 0; i < app->nb_ports; i++)
		pw_link_look(app->ports[i]);
}
