/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* set gro flush, set gro timeout; also while forwarding */

#include <stdio.h>

#include <cmdline_parse_num.h>

#include "app.h"
#include "cli.h"
#include "gro_stage.h"

struct gro_args {
	cmdline_fixed_string_t set;
	cmdline_fixed_string_t gro;
	cmdline_fixed_string_t setting;
	uint32_t value;
};

PW_CLI_WORD(set, gro_args, "set");
PW_CLI_WORD(gro, gro_args, "gro");
static cmdline_parse_token_string_t flush = TOKEN_STRING_INITIALIZER(
	struct gro_args, setting, "flush");
static cmdline_parse_token_string_t timeout = TOKEN_STRING_INITIALIZER(
	struct gro_args, setting, "timeout");
static cmdline_parse_token_num_t value = TOKEN_NUM_INITIALIZER(struct gro_args, value, RTE_UINT32);

/* Within the limits, which those of the options are too; lcores read the settings meanwhile. */
static void
set_number(struct pw_app *app, const struct gro_args *args, uint32_t *setting, uint32_t min,
	uint32_t max)
{
	if (args->value < min || args->value > max)
		pw_cli_fail(app, "set gro %s %u: expected a number from %u to %u", args->setting,
			args->value, min, max);
	else
		__atomic_store_n(setting, args->value, __ATOMIC_RELAXED);
}

static void
run_flush(void *args, struct cmdline *cl, void *data)
{
	struct pw_app *app = data;

	(void)cl;
	set_number(app, args, &app->options.gro_flush, 1, PW_GRO_FLUSH_MAX);
}

static void
run_timeout(void *args, struct cmdline *cl, void *data)
{
	struct pw_app *app = data;

	(void)cl;
	set_number(app, args, &app->options.gro_timeout_us, 0, PW_GRO_TIMEOUT_US_MAX);
}

static cmdline_parse_inst_t cmd_flush = {
	.f = run_flush,
	.help_str =
		"set gro flush BURSTS:let merged packets go after so many bursts, 1 to " RTE_STR(
			PW_GRO_FLUSH_MAX),
	.tokens = {(void *)&set, (void *)&gro, (void *)&flush, (void *)&value, NULL},
};

static cmdline_parse_inst_t cmd_timeout = {
	.f = run_timeout,
	.help_str =
		"set gro timeout US:let a packet go that was held so many microseconds, 0 to " RTE_STR(
			PW_GRO_TIMEOUT_US_MAX),
	.tokens = {(void *)&set, (void *)&gro, (void *)&timeout, (void *)&value, NULL},
};

static cmdline_parse_ctx_t commands[] = {&cmd_flush, &cmd_timeout, NULL};

PW_CLI_REGISTER(merging, commands)
