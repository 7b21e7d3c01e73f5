/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* help, quit */

#include <stdio.h>

#include "app.h"
#include "cli.h"

struct word_args {
	cmdline_fixed_string_t help;
	cmdline_fixed_string_t quit;
};

PW_CLI_WORD(help, word_args, "help");
PW_CLI_WORD(quit, word_args, "quit");

static void
run_help(void *args, struct cmdline *cl, void *data)
{
	const struct pw_app *app = data;

	(void)args;
	(void)cl;
	pw_cli_help(app->cli);
}

static void
run_quit(void *args, struct cmdline *cl, void *data)
{
	struct pw_app *app = data;

	(void)args;
	app->quit = true;
	cmdline_quit(cl);
}

static cmdline_parse_inst_t cmd_help = {
	.f = run_help,
	.help_str = "help:this list",
	.tokens = {(void *)&help, NULL},
};

static cmdline_parse_inst_t cmd_quit = {
	.f = run_quit,
	.help_str = "quit:stop forwarding, print the summary, leave",
	.tokens = {(void *)&quit, NULL},
};

static cmdline_parse_ctx_t commands[] = {&cmd_help, &cmd_quit, NULL};

PW_CLI_REGISTER(general, commands)
