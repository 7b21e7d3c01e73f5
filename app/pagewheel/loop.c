/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "loop.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "app.h"
#include "cli.h"
#include "events.h"
#include "fwd.h"
#include "link.h"
#include "notice.h"
#include "tcp_client.h"

/* What the periodic report shows the change of. */
struct report {
	uint64_t when; /* TSC */
	struct pw_lcore_stats lcores;
	struct pw_port_stats *ports;
};

static void
read_report(const struct pw_app *app, struct report *report)
{
	report->when = rte_rdtsc();
	pw_fwd_get_lcore_stats(app->fwd, &report->lcores);
	for (uint16_t i = 0; i < app->nb_ports; i++)
		app->ports[i]->ops->get_stats(app->ports[i], &report->ports[i]);
}

/* A counter that was cleared meanwhile is below what it was. */
static double
rate(uint64_t now, uint64_t before, double seconds)
{
	return now < before ? 0.0 : (now - before) / seconds;
}

static void
print_report(struct pw_app *app, struct report *last)
{
	struct report now = {.ports = calloc(app->nb_ports, sizeof(*now.ports))};
	double s;

	if (now.ports == NULL)
		return;
	read_report(app, &now);
	s = (double)(now.when - last->when) / rte_get_tsc_hz();
	for (uint16_t i = 0; i < app->nb_ports; i++) {
		const struct pw_port_stats *a = &last->ports[i], *b = &now.ports[i];

		printf("port %u: RX %.0f packets/s, %.3f Mbit/s; TX %.0f packets/s, %.3f Mbit/s; "
		       "missed %.0f packets/s\n",
			i, rate(b->rx_packets, a->rx_packets, s),
			rate(b->rx_bytes, a->rx_bytes, s) * 8 / 1e6,
			rate(b->tx_packets, a->tx_packets, s),
			rate(b->tx_bytes, a->tx_bytes, s) * 8 / 1e6,
			rate(b->rx_missed, a->rx_missed, s));
	}
	if (now.lcores.cycles > last->lcores.cycles)
		printf("busy %.1f %%\n",
			100.0 * (now.lcores.busy_cycles - last->lcores.busy_cycles) /
				(now.lcores.cycles - last->lcores.cycles));
	fflush(stdout);
	free(last->ports);
	*last = now;
}

static int
report_timeout_ms(const struct pw_app *app, const struct report *last)
{
	uint64_t period = app->options.stats_period_s * rte_get_tsc_hz();
	uint64_t passed = rte_rdtsc() - last->when;

	if (period == 0)
		return -1;
	return passed >= period ? 0 : (period - passed) * 1000 / rte_get_tsc_hz() + 1;
}

/* Until the report or a look at the links. */
static int
timeout_ms(const struct pw_app *app, const struct report *last)
{
	int report = report_timeout_ms(app, last), link = pw_link_timeout_ms();

	return report < 0 ? link : RTE_MIN(report, link);
}

/* Without commands, Enter or the end of input quits, as in testpmd. */
static void
read_input(struct pw_app *app)
{
	char c = '\n'; /* also when there is none, or no standard input */

	if (app->options.interactive)
		app->quit = !pw_cli_read_stdin(app->cli) || app->quit;
	else if (read(STDIN_FILENO, &c, 1) >= 0 || errno != EINTR)
		app->quit = c == '\n';
}

/* One of them may be that a run has ended. */
static void
print_notices(struct pw_app *app)
{
	pw_notice_print();
	pw_tcp_client_report(app);
}

/* A run of the client ends by itself. */
bool
pw_loop_waits_for_enter(const struct pw_options *options)
{
	bool ends = !pw_addr_is_none(&options->connect_addr) && options->duration_s > 0;

	return !options->interactive && options->stats_period_s == 0 && !ends;
}

void
pw_loop_run(struct pw_app *app, int signals_fd, int notices_fd, int events_fd)
{
	bool wants_input = app->options.interactive || pw_loop_waits_for_enter(&app->options);
	struct pollfd fds[] = {
		{.fd = signals_fd, .events = POLLIN},
		{.fd = notices_fd, .events = POLLIN},
		{.fd = events_fd, .events = POLLIN},
		{.fd = wants_input ? STDIN_FILENO : -1, .events = POLLIN},
	};
	struct report last = {.ports = calloc(app->nb_ports, sizeof(*last.ports))};

	if (last.ports == NULL)
		return;
	read_report(app, &last);
	while (!app->quit) {
		int ready = poll(fds, RTE_DIM(fds), timeout_ms(app, &last));

		if (ready < 0 && errno != EINTR)
			break;
		if (report_timeout_ms(app, &last) == 0)
			print_report(app, &last);
		if (ready > 0 && fds[0].revents != 0)
			app->quit = true;
		else if (ready > 0 && fds[1].revents != 0)
			print_notices(app);
		else if (ready > 0 && fds[2].revents != 0)
			pw_events_handle(app);
		else if (ready > 0 && fds[3].revents != 0)
			read_input(app);
		pw_link_poll(app);
		if (ferror(stdout)) /* whoever read our output is gone */
			app->quit = true;
	}
	free(last.ports);
}
