/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "app.h"
#include "cli.h"
#include "cmd_fwd.h"
#include "copies.h"
#include "events.h"
#include "fwd.h"
#include "gso.h"
#include "hugefiles.h"
#include "link.h"
#include "loop.h"
#include "notice.h"
#include "pool.h"
#include "port.h"
#include "pw_frag_pool.h"
#include "signals.h"
#include "stats.h"

void
pw_error(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("pagewheel: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

/* Where EAL's arguments end: at "--", which takes the place of the program's name for ours. */
static int
find_own_arguments(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0)
		i++;
	return i;
}

static int
open_ports(struct pw_app *app)
{
	uint16_t count = pw_port_ethdev_count();

	if (count == 0) {
		pw_error("no port: bind a NIC, as in dpdk-devbind.py -b vfio-pci 0000:01:00.0, or "
			 "make one before the --, as in --vdev=net_af_packet0,iface=veth0 or "
			 "--vdev=net_null0");
		return -ENODEV;
	}
	app->ports = calloc(count, sizeof(*app->ports));
	if (app->ports == NULL)
		return -ENOMEM;
	for (; app->nb_ports < count; app->nb_ports++) {
		struct pw_port *port = pw_port_ethdev_open(app->nb_ports, &app->options, app->pool);

		if (port == NULL)
			return -EIO;
		app->ports[app->nb_ports] = port;
		pw_link_look(port);
	}
	return 0;
}

static int
open_memory(struct pw_app *app)
{
	app->pool = pw_pool_create(&app->options, rte_socket_id());
	if (app->pool == NULL)
		return -1;
	app->frags = pw_pool_create_frags(&app->options, app->pool->socket_id);
	if (app->frags == NULL)
		return -1;
	if (app->options.copy_break == 0)
		return 0;
	app->copies = pw_copies_create(app);
	return app->copies == NULL ? -1 : 0;
}

static int
open_app(struct pw_app *app)
{
	if (open_memory(app) < 0 || open_ports(app) < 0)
		return -1;
	app->fwd = pw_fwd_create(app);
	if (app->fwd == NULL)
		return -1;
	app->cli = pw_cli_create(app);
	if (app->cli == NULL)
		return -1;
	pw_stats_telemetry_start(app);
	return 0;
}

/* Every buffer has to be back when all that could hold one is closed. */
static void
close_pool(struct pw_app *app)
{
	unsigned available;

	if (app->pool == NULL)
		return;
	available = rte_mempool_avail_count(app->pool);
	if (available != app->pool->size) {
		pw_error("%u of %u buffers are missing at the end", app->pool->size - available,
			app->pool->size);
		app->failed = true;
	}
	rte_mempool_free(app->pool);
}

/* Likewise every fragment. */
static void
close_frags(struct pw_app *app)
{
	unsigned missing = pw_copies_destroy(app->copies);

	if (missing > 0) {
		pw_error("%u copies of packets are missing at the end", missing);
		app->failed = true;
	}
	if (app->frags != NULL)
		pw_arena_defragment(pw_frag_pool_arena(app->frags));
	if (pw_frag_pool_destroy(app->frags) < 0) {
		pw_error("%" PRIu64 " fragments are missing at the end",
			pw_frag_pool_in_flight(app->frags));
		app->failed = true;
	}
}

/* Likewise every piece of a packet that was cut. */
static void
close_gso(struct pw_app *app)
{
	unsigned missing = pw_gso_memory_close(app->gso_memory);

	if (missing == 0)
		return;
	pw_error("%u buffers of cut packets are missing at the end", missing);
	app->failed = true;
}

static void
close_app(struct pw_app *app)
{
	pw_stats_telemetry_pause();
	pw_cli_destroy(app->cli);
	pw_fwd_destroy(app->fwd);
	for (uint16_t i = 0; i < app->nb_ports; i++)
		app->ports[i]->ops->destroy(app->ports[i]);
	free(app->ports);
	close_gso(app);
	close_frags(app);
	close_pool(app);
}

static void
run(struct pw_app *app, int signals_fd, int notices_fd, int events_fd)
{
	const struct pw_options *options = &app->options;

	if (options->cmdline_file != NULL && pw_cli_run_file(app->cli, options->cmdline_file) < 0) {
		app->failed = true;
		return;
	}
	if (app->quit || pw_signals_came())
		return;
	if ((!options->interactive || options->auto_start) && !pw_fwd_is_running(app->fwd))
		pw_cmd_start(app);
	if (options->interactive && pw_cli_open_stdin(app->cli) < 0) {
		app->failed = true;
		return;
	}
	if (pw_loop_waits_for_enter(options))
		printf("Press Enter to exit\n");
	pw_loop_run(app, signals_fd, notices_fd, events_fd);
}

static int
init_eal(const struct pw_options *options, int argc, char **argv)
{
	rte_set_application_usage_hook(pw_options_usage);
	if (rte_eal_init(argc, argv) < 0) {
		/* EAL's own messages say why, its rte_errno often does not. */
		pw_error(
			"EAL does not start, see its messages above; if hugepages are the reason:");
		pw_pool_explain_hugepages(options);
		return -1;
	}
	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		pw_error(
			"pagewheel runs as a primary process only: give it a --file-prefix of its own");
		rte_eal_cleanup();
		return -1;
	}
	return 0;
}

/* Without the three standard descriptors, the next file opened would be taken for one of them. */
static void
open_standard_descriptors(void)
{
	int fd = open("/dev/null", O_RDWR);

	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = open("/dev/null", O_RDWR);
	if (fd >= 0)
		close(fd);
}

int
main(int argc, char **argv)
{
	int own = find_own_arguments(argc, argv);
	struct pw_gso_memory gso_memory = {0};
	struct pw_app app = {.gso_memory = &gso_memory};
	char *no_arguments[] = {argv[0], NULL};
	int signals_fd, notices_fd, events_fd;

	open_standard_descriptors();
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (pw_options_parse(&app.options, own < argc ? argc - own : 1,
		    own < argc ? argv + own : no_arguments) < 0)
		return EXIT_FAILURE;
	if (app.options.help) {
		pw_options_usage(argv[0]);
		return EXIT_SUCCESS;
	}
	pw_signals_block();
	if (init_eal(&app.options, own, argv) < 0)
		return EXIT_FAILURE;
	notices_fd = pw_notice_open();
	events_fd = pw_events_open();
	if (notices_fd < 0 || events_fd < 0 || open_app(&app) < 0)
		app.failed = true;
	/* A signal that came meanwhile comes now: starting a port must not be interrupted. */
	signals_fd = pw_signals_open();
	if (!app.failed && signals_fd >= 0)
		run(&app, signals_fd, notices_fd, events_fd);
	if (app.fwd != NULL && pw_fwd_is_running(app.fwd))
		pw_cmd_stop(&app);
	close_app(&app);
	pw_notice_print();
	pw_hugefiles_remove();
	rte_eal_cleanup();
	if (fflush(stdout) != 0 || ferror(stdout)) {
		pw_error("the output could not be written");
		app.failed = true;
	}
	pw_signals_close();
	return app.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
