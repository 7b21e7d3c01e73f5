/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* show tcp connections, show tcp client */

#include "app.h"
#include "cli.h"
#include "stats.h"
#include "tcp_table.h"

struct tcp_args {
	cmdline_fixed_string_t show;
	cmdline_fixed_string_t tcp;
	cmdline_fixed_string_t what;
};

PW_CLI_WORD(show, tcp_args, "show");
PW_CLI_WORD(tcp, tcp_args, "tcp");
static cmdline_parse_token_string_t connections = TOKEN_STRING_INITIALIZER(
	struct tcp_args, what, "connections");
static cmdline_parse_token_string_t client = TOKEN_STRING_INITIALIZER(
	struct tcp_args, what, "client");

static void
run_connections(void *args, struct cmdline *cl, void *data)
{
	struct pw_app *app = data;

	(void)args;
	(void)cl;
	if (pw_tcp_table_print(app) < 0)
		pw_cli_fail(app, "show tcp connections: %s", pw_stats_find("tcp")->absent);
}

static void
run_client(void *args, struct cmdline *cl, void *data)
{
	const struct pw_stats_group *group = pw_stats_find("tcp/client");
	struct pw_app *app = data;

	(void)args;
	(void)cl;
	if (pw_stats_show(app, group) < 0)
		pw_cli_fail(app, "show tcp client: %s", group->absent);
}

static cmdline_parse_inst_t cmd_connections = {
	.f = run_connections,
	.help_str = "show tcp connections:who talks to whom, and how it goes",
	.tokens = {(void *)&show, (void *)&tcp, (void *)&connections, NULL},
};

static cmdline_parse_inst_t cmd_client = {
	.f = run_client,
	.help_str = "show tcp client:results of the connections of --connect",
	.tokens = {(void *)&show, (void *)&tcp, (void *)&client, NULL},
};

static cmdline_parse_ctx_t commands[] = {&cmd_connections, &cmd_client, NULL};

PW_CLI_REGISTER(tcp_stage, commands)
