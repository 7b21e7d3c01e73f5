/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* start, stop, set fwd, show fwd stats, clear fwd stats, show config fwd */

#include <errno.h>
#include <stdio.h>

#include "app.h"
#include "cli.h"
#include "cmd_fwd.h"
#include "control.h"
#include "engine_tcp.h"
#include "fwd.h"
#include "gro_stage.h"
#include "stats.h"

struct fwd_args {
	cmdline_fixed_string_t start;
	cmdline_fixed_string_t stop;
	cmdline_fixed_string_t set;
	cmdline_fixed_string_t show;
	cmdline_fixed_string_t clear;
	cmdline_fixed_string_t config;
	cmdline_fixed_string_t fwd;
	cmdline_fixed_string_t stats;
	cmdline_fixed_string_t all;
	cmdline_fixed_string_t mode;
};

PW_CLI_WORD(start, fwd_args, "start");
PW_CLI_WORD(stop, fwd_args, "stop");
PW_CLI_WORD(set, fwd_args, "set");
PW_CLI_WORD(show, fwd_args, "show");
PW_CLI_WORD(clear, fwd_args, "clear");
PW_CLI_WORD(config, fwd_args, "config");
PW_CLI_WORD(fwd, fwd_args, "fwd");
PW_CLI_WORD(stats, fwd_args, "stats");
PW_CLI_WORD(all, fwd_args, "all");
PW_CLI_WORD(mode, fwd_args, NULL);

void
pw_cmd_start(struct pw_app *app)
{
	const struct pw_port *idle = pw_control_find_idle(app);
	int rc;

	if (idle != NULL) {
		pw_cli_fail(app, "port %u is %s", idle->id,
			idle->state == PW_PORT_CLOSED ? "closed, for good"
						      : "stopped: start it first, port start all");
		return;
	}
	rc = pw_fwd_start(app->fwd);
	if (rc == -EALREADY)
		pw_cli_fail(app, "already started: stop first");
	else if (rc < 0)
		pw_cli_fail(app, "an lcore is busy with something else");
	else
		printf("%s packet forwarding - ports=%u - streams=%u\n",
			pw_fwd_engine(app->fwd)->name, app->nb_ports, pw_fwd_nb_streams(app->fwd));
}

void
pw_cmd_stop(struct pw_app *app)
{
	pw_fwd_stop(app->fwd);
	pw_fwd_print_stats(app->fwd);
	pw_engine_tcp_print_cure(app);
}

static void
run_start(void *args, struct cmdline *cl, void *data)
{
	(void)args;
	(void)cl;
	pw_cmd_start(data);
}

static void
run_stop(void *args, struct cmdline *cl, void *data)
{
	struct pw_app *app = data;

	(void)args;
	(void)cl;
	if (pw_fwd_is_running(app->fwd))
		pw_cmd_stop(app);
	else
		pw_cli_fail(app, "not started");
}

/* What ports do for packets to send is chosen before the engine looks. */
static int
set_engine(struct pw_app *app, const struct pw_engine *engine)
{
	int rc = pw_control_set_sending(app, engine->needs_offloads);

	if (rc == 0)
		rc = pw_fwd_set_engine(app->fwd, app, engine);
	if (rc < 0)
		pw_control_set_sending(app, pw_fwd_engine(app->fwd)->needs_offloads);
	return rc;
}

static void
run_set(void *args, struct cmdline *cl, void *data)
{
	const struct pw_engine *engine = pw_engine_find(((struct fwd_args *)args)->mode);
	struct pw_app *app = data;
	char names[256];

	(void)cl;
	if (engine == NULL) {
		pw_cli_fail(app, "unknown mode %s: expected one of %s",
			((struct fwd_args *)args)->mode, pw_engine_names(names, sizeof(names)));
		return;
	}
	if (pw_fwd_is_running(app->fwd)) {
		pw_cli_fail(app, "the mode cannot be changed while forwarding: stop first");
		return;
	}
	pw_stats_telemetry_pause();
	if (set_engine(app, engine) < 0)
		pw_cli_fail(app, "the mode stays %s", pw_fwd_engine(app->fwd)->name);
	else
		printf("Set %s packet forwarding mode\n", engine->name);
	pw_stats_telemetry_resume(app);
}

static void
run_show_stats(void *args, struct cmdline *cl, void *data)
{
	(void)args;
	(void)cl;
	pw_fwd_print_stats(((struct pw_app *)data)->fwd);
}

static void
run_clear_stats(void *args, struct cmdline *cl, void *data)
{
	(void)args;
	(void)cl;
	pw_fwd_clear_stats(((struct pw_app *)data)->fwd);
}

static void
print_stream(const struct pw_engine *engine, const struct pw_stream *s)
{
	char names[64];

	printf("  lcore %u: RX port %u queue %u -> TX port %u queue %u", s->lcore, s->rx_port->id,
		s->rx_queue, s->tx_port->id, s->tx_queue);
	if (s->rx_lcore != s->lcore)
		printf(", received by lcore %u", s->rx_lcore);
	if (engine->gro != NULL)
		printf(", merges %s",
			pw_gro_types_names(engine->gro(s)->types, names, sizeof(names)));
	printf("\n");
}

static void
run_show_config(void *args, struct cmdline *cl, void *data)
{
	const struct pw_app *app = data;

	(void)args;
	(void)cl;
	printf("%s packet forwarding - ports=%u - burst=%u packets - %s\n",
		pw_fwd_engine(app->fwd)->name, app->nb_ports, app->options.burst,
		pw_fwd_is_running(app->fwd) ? "started" : "stopped");
	for (unsigned i = 0; i < pw_fwd_nb_streams(app->fwd); i++)
		print_stream(pw_fwd_engine(app->fwd), pw_fwd_stream(app->fwd, i));
	if (pw_fwd_engine(app->fwd)->gro != NULL)
		printf("  GRO: %u flows a stream, which go after %u burst%s or %u us\n",
			app->options.gro_flows, app->options.gro_flush,
			app->options.gro_flush == 1 ? "" : "s", app->options.gro_timeout_us);
	printf("  %u buffers of %u bytes, strategy %s, %u kept an lcore by rte_mempool\n",
		app->options.total_num_mbufs, app->options.mbuf_size, app->options.strategy.name,
		app->options.mbcache);
}

static cmdline_parse_inst_t cmd_start = {
	.f = run_start,
	.help_str = "start:start forwarding",
	.tokens = {(void *)&start, NULL},
};

static cmdline_parse_inst_t cmd_stop = {
	.f = run_stop,
	.help_str = "stop:stop forwarding and print its statistics",
	.tokens = {(void *)&stop, NULL},
};

static cmdline_parse_inst_t cmd_set = {
	.f = run_set,
	.help_str = "set fwd MODE:choose what is done with packets",
	.tokens = {(void *)&set, (void *)&fwd, (void *)&mode, NULL},
};

static cmdline_parse_inst_t cmd_show_stats = {
	.f = run_show_stats,
	.help_str = "show fwd stats all:packets forwarded since they were cleared",
	.tokens = {(void *)&show, (void *)&fwd, (void *)&stats, (void *)&all, NULL},
};

static cmdline_parse_inst_t cmd_clear_stats = {
	.f = run_clear_stats,
	.help_str = "clear fwd stats all:count forwarded packets from here",
	.tokens = {(void *)&clear, (void *)&fwd, (void *)&stats, (void *)&all, NULL},
};

static cmdline_parse_inst_t cmd_show_config = {
	.f = run_show_config,
	.help_str = "show config fwd:mode, streams, GRO and buffers",
	.tokens = {(void *)&show, (void *)&config, (void *)&fwd, NULL},
};

static cmdline_parse_ctx_t commands[] = {
	&cmd_start, &cmd_stop, &cmd_set, &cmd_show_stats, &cmd_clear_stats, &cmd_show_config, NULL};

PW_CLI_REGISTER(forwarding, commands)
