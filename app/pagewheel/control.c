/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "control.h"

#include <errno.h>
#include <stdio.h>

#include "app.h"
#include "cmd_fwd.h"
#include "fwd.h"
#include "link.h"
#include "port.h"

int
pw_control_start(struct pw_port *port)
{
	int rc;

	if (port->state != PW_PORT_STOPPED)
		return port->state == PW_PORT_CLOSED ? -ENODEV : -EALREADY;
	rc = port->ops->start(port);
	if (rc == 0)
		pw_link_look(port);
	return rc;
}

int
pw_control_stop(struct pw_port *port)
{
	int rc;

	if (port->state != PW_PORT_STARTED)
		return port->state == PW_PORT_CLOSED ? -ENODEV : -EALREADY;
	rc = port->ops->stop(port);
	if (rc == 0)
		pw_link_forget(port);
	return rc;
}

int
pw_control_close(struct pw_port *port)
{
	if (port->state == PW_PORT_CLOSED)
		return -ENODEV;
	pw_link_forget(port);
	return port->ops->close(port);
}

int
pw_control_reset(struct pw_app *app, struct pw_port *port)
{
	bool forwarding;
	int rc;

	if (port->state == PW_PORT_CLOSED)
		return -ENODEV;
	forwarding = pw_fwd_pause(app->fwd);
	rc = port->ops->reset(port);
	if (rc == 0)
		pw_link_look(port);
	if (!forwarding)
		return rc;
	if (rc == 0)
		rc = pw_fwd_resume(app->fwd);
	if (rc < 0) {
		pw_error("port %u did not come back: forwarding has stopped", port->id);
		pw_cmd_stop(app);
	}
	return rc;
}

void
pw_control_reset_asked(struct pw_app *app, struct pw_port *port)
{
	printf("Port %u: the device asks for a reset\n", port->id);
	if (pw_control_reset(app, port) < 0)
		app->failed = true;
	else
		printf("Port %u: reset\n", port->id);
	fflush(stdout);
}

void
pw_control_removed(struct pw_app *app, struct pw_port *port)
{
	pw_error("port %u: the device was removed: the port is closed", port->id);
	app->failed = true;
	if (pw_fwd_is_running(app->fwd))
		pw_cmd_stop(app);
	pw_control_close(port);
	/* Without commands there is nobody to go on. */
	if (!app->options.interactive)
		app->quit = true;
}

int
pw_control_set_sending(struct pw_app *app, bool needs_offloads)
{
	int rc = 0;

	for (uint16_t i = 0; i < app->nb_ports; i++) {
		int one = app->ports[i]->ops->set_sending(app->ports[i], needs_offloads);

		if (one < 0)
			rc = one;
		pw_link_look(app->ports[i]);
	}
	return rc;
}

const struct pw_port *
pw_control_find_idle(const struct pw_app *app)
{
	for (uint16_t i = 0; i < app->nb_ports; i++)
		if (app->ports[i]->state != PW_PORT_STARTED)
			return app->ports[i];
	return NULL;
}
