/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* port start, stop, reset, close; set link-up, link-down */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "cli.h"
#include "control.h"
#include "fwd.h"
#include "link.h"
#include "port.h"

struct state_args {
	cmdline_fixed_string_t port;
	cmdline_fixed_string_t action;
	cmdline_fixed_string_t set;
	cmdline_fixed_string_t id;
};

static cmdline_parse_token_string_t port_word = TOKEN_STRING_INITIALIZER(
	struct state_args, port, "port");
static cmdline_parse_token_string_t action_word = TOKEN_STRING_INITIALIZER(
	struct state_args, action, "start#stop#reset#close");
static cmdline_parse_token_string_t set_word = TOKEN_STRING_INITIALIZER(
	struct state_args, set, "set");
static cmdline_parse_token_string_t link_word = TOKEN_STRING_INITIALIZER(
	struct state_args, action, "link-up#link-down");
static cmdline_parse_token_string_t id_word = TOKEN_STRING_INITIALIZER(struct state_args, id, NULL);

struct action {
	const char *name;
	const char *done;
	bool while_forwarding;
	int (*run)(struct pw_app *app, struct pw_port *port);
};

static int
start(struct pw_app *app, struct pw_port *port)
{
	(void)app;
	return pw_control_start(port);
}

static int
stop(struct pw_app *app, struct pw_port *port)
{
	(void)app;
	return pw_control_stop(port);
}

static int
close_port(struct pw_app *app, struct pw_port *port)
{
	(void)app;
	return pw_control_close(port);
}

static const struct action actions[] = {
	{"start", "started", false, start},
	{"stop", "stopped", false, stop},
	{"reset", "reset", true, pw_control_reset},
	{"close", "closed", false, close_port},
};

static const struct action *
find_action(const char *name)
{
	for (unsigned i = 0; i < RTE_DIM(actions); i++)
		if (strcmp(actions[i].name, name) == 0)
			return &actions[i];
	return NULL;
}

static const char *
explain(int rc, const struct action *action, char *buf, size_t size)
{
	if (rc == -ENODEV)
		return "it is closed, for good";
	if (rc != -EALREADY)
		return strerror(-rc);
	snprintf(buf, size, "it is %s already", action->done);
	return buf;
}

/* With "all", those that are as they should be already are left alone. */
static void
act_on(struct pw_app *app, const struct action *action, struct pw_port *p, bool all)
{
	char buf[64];
	int rc = action->run(app, p);

	if (rc == 0)
		printf("Port %u: %s\n", p->id, action->done);
	else if (!all || (rc != -EALREADY && rc != -ENODEV))
		pw_cli_fail(app, "port %s %u: %s", action->name, p->id,
			explain(rc, action, buf, sizeof(buf)));
}

static void
run_action(void *args, struct cmdline *cl, void *data)
{
	const struct state_args *words = args;
	const struct action *found = find_action(words->action);
	struct pw_app *app = data;
	uint16_t first, last;

	(void)cl;
	if (!pw_cli_ports(app, words->id, &first, &last))
		return;
	if (pw_fwd_is_running(app->fwd) && !found->while_forwarding) {
		pw_cli_fail(app, "port %s: not while forwarding: stop first", found->name);
		return;
	}
	for (uint16_t i = first; i <= last; i++)
		act_on(app, found, app->ports[i], strcmp(words->id, "all") == 0);
}

static int
set_link(struct pw_port *p, bool up)
{
	int rc;

	if (p->state != PW_PORT_STARTED)
		return -ENETDOWN;
	rc = p->ops->set_link(p, up);
	if (rc == 0)
		pw_link_look(p);
	return rc;
}

static const char *
explain_link(int rc)
{
	if (rc == -ENETDOWN)
		return "the port is not started";
	return rc == -ENOTSUP ? "its driver has no such switch" : strerror(-rc);
}

static void
run_link(void *args, struct cmdline *cl, void *data)
{
	const struct state_args *words = args;
	struct pw_app *app = data;
	uint16_t first, last;

	(void)cl;
	if (!pw_cli_ports(app, words->id, &first, &last))
		return;
	for (uint16_t i = first; i <= last; i++) {
		int rc = set_link(app->ports[i], strcmp(words->action, "link-up") == 0);

		if (rc < 0)
			pw_cli_fail(app, "set %s port %u: %s", words->action, i, explain_link(rc));
	}
}

static cmdline_parse_inst_t cmd_action = {
	.f = run_action,
	.help_str =
		"port start|stop|reset|close PORT|all:what it says; reset also while forwarding, which pauses",
	.tokens = {(void *)&port_word, (void *)&action_word, (void *)&id_word, NULL},
};

static cmdline_parse_inst_t cmd_link = {
	.f = run_link,
	.help_str = "set link-up|link-down port PORT|all:turn the port's transmitter on or off",
	.tokens = {(void *)&set_word, (void *)&link_word, (void *)&port_word, (void *)&id_word,
		NULL},
};

static cmdline_parse_ctx_t commands[] = {&cmd_action, &cmd_link, NULL};

PW_CLI_REGISTER(port_states, commands)
