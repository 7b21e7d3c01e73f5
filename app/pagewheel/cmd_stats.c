/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* show pool, frags, copies, gro, gso, inet, tcp, lcores: the groups of stats.c */

#include "app.h"
#include "cli.h"
#include "stats.h"

struct stats_args {
	cmdline_fixed_string_t show;
	cmdline_fixed_string_t group;
};

PW_CLI_WORD(show, stats_args, "show");
PW_CLI_WORD(group, stats_args, "pool#frags#copies#gro#gso#inet#tcp#stages#lcores");

static void
run_show(void *args, struct cmdline *cl, void *data)
{
	const char *name = ((struct stats_args *)args)->group;
	const struct pw_stats_group *found = pw_stats_find(name);
	struct pw_app *app = data;

	(void)cl;
	if (pw_stats_show(app, found) < 0)
		pw_cli_fail(app, "show %s: %s", name, found->absent);
}

static cmdline_parse_inst_t cmd_show = {
	.f = run_show,
	.help_str =
		"show pool|frags|copies|gro|gso|inet|tcp|stages|lcores:counters of a stage, also telemetry's /pagewheel/...",
	.tokens = {(void *)&show, (void *)&group, NULL},
};

static cmdline_parse_ctx_t commands[] = {&cmd_show, NULL};

PW_CLI_REGISTER(counters, commands)
