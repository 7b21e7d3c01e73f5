/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* nicsim: an Intel 82599 in software. Options, set-up, and the loop that polls all ports. */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "control.h"
#include "error.h"
#include "report.h"
#include "sim.h"

#define HOUSEKEEPING_NS 1000000
#define LINGER_NS 5000000000

static volatile sig_atomic_t signals;

static void
on_signal(int number)
{
	(void)number;
	signals++;
}

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int
pin(const struct sim *sim)
{
	cpu_set_t set;

	if (sim->cpu == SIM_ANY_CPU)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(sim->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) == 0)
		return 0;
	nicsim_error("--cpu=%u: %s", (unsigned)sim->cpu, strerror(errno));
	return -errno;
}

static int
open_wire(struct sim *sim, unsigned i)
{
	const struct wire_spec *spec = &sim->specs[i];
	struct wire_context context = {
		.port = i,
		.seed = spec->seed * 1000003 + sim->seed,
		.wires = sim->wires,
	};

	memcpy(context.port_mac, sim->nics[i].mac, sizeof(context.port_mac));
	sim->wires[i] = spec->kind->open(&context, spec->arg, spec->config);
	if (sim->wires[i] == NULL)
		return -EINVAL;
	sim->lines[i] = line_create(sim->wires[i], spec->line, context.seed);
	if (sim->lines[i] == NULL) {
		nicsim_error("out of memory");
		return -ENOMEM;
	}
	return 0;
}

static int
open_port(struct sim *sim, unsigned i)
{
	/* Locally administered (IEEE 802, 8.4). */
	const uint8_t mac[] = {0x02, 0x70, 0x77, 0, 0, (uint8_t)i};
	struct nic *nic = &sim->nics[i];
	int rc = pci_folder_add(sim->dir, i, &sim->ports[i]);

	if (rc < 0)
		return rc;
	memcpy(nic->mac, mac, sizeof(mac));
	nic->bar = sim->ports[i].bar;
	nic->config = sim->ports[i].config;
	nic->irq_fd = sim->ports[i].uio_fd;
	nic->dma = &sim->dma;
	nic->wire_wait_ns = sim->wire_wait_ns;
	nic->faults.random[0] = (unsigned short)sim->seed;
	rc = open_wire(sim, i);
	if (rc < 0)
		return rc;
	nic->line = sim->lines[i];
	return nic_init(nic);
}

static int
check_wires(const struct sim *sim)
{
	for (unsigned i = 0; i < sim->nb_ports; i++) {
		const struct wire *wire = sim->wires[i];
		const char *lacks = wire->kind->lacks == NULL ? NULL : wire->kind->lacks(wire);

		if (lacks != NULL) {
			nicsim_error("%s", lacks);
			return -EINVAL;
		}
	}
	return 0;
}

static int
open_all(struct sim *sim)
{
	int fds[SIM_PORTS_MAX];
	int rc = pin(sim);

	if (rc == 0)
		rc = dma_open(&sim->dma, sim->huge_dir, sim->prefix);
	for (unsigned i = 0; i < sim->nb_ports && rc == 0; i++) {
		rc = open_port(sim, i);
		fds[i] = sim->ports[i].bar_fd;
	}
	if (rc == 0)
		rc = check_wires(sim);
	if (rc == 0)
		rc = control_open(sim);
	if (rc == 0)
		watch_init(&sim->watch, sim->nics, sim->nb_ports, fds);
	return rc;
}

static void
close_all(struct sim *sim)
{
	watch_fini(&sim->watch);
	control_close(sim);
	for (unsigned i = 0; i < sim->nb_ports; i++) {
		nic_fini(&sim->nics[i]);
		if (sim->lines[i] != NULL)
			line_destroy(sim->lines[i]);
	}
	/* A wire may be joined with an earlier one. */
	for (unsigned i = sim->nb_ports; i-- > 0;) {
		if (sim->wires[i] != NULL)
			sim->wires[i]->kind->close(sim->wires[i]);
		pci_folder_remove(&sim->ports[i]);
	}
	if (sim->dma.base != NULL)
		dma_close(&sim->dma);
}

/* Tell whoever started us that the card is there. */
static int
mark_ready(const struct sim *sim)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/ready", sim->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0) {
		nicsim_error("%s: %s", path, strerror(errno));
		return -errno;
	}
	close(fd);
	return 0;
}

static void
keep_house(struct sim *sim, uint64_t now)
{
	control_poll(sim, now);
	watch_look(&sim->watch, now);
	fault_plan_tick(&sim->plan, sim->nics, now);
}

/*
 * The driver asks the card for a lot while it stops a port, and waits minutes for a card that is
 * gone: an application that ends with us is answered to its end. A second signal is for us alone.
 */
static bool
is_over(struct sim *sim, uint64_t now)
{
	if (signals == 0 && !sim->stop)
		return false;
	if (sim->linger_until_ns == 0)
		sim->linger_until_ns = now + LINGER_NS;
	return signals > 1 || !watch_has_application(&sim->watch) || now > sim->linger_until_ns;
}

static void
run(struct sim *sim)
{
	uint64_t now = now_ns(), next_house = now, before = __rdtsc(), after;

	while (!is_over(sim, now)) {
		unsigned moved = 0;

		now = now_ns();
		for (unsigned i = 0; i < sim->nb_ports; i++) {
			sim->nics[i].wire_held = sim->held;
			moved += nic_poll(&sim->nics[i], now);
		}
		/* What was read is known before more is shown. */
		watch_poll(&sim->watch);
		for (unsigned i = 0; i < sim->nb_ports; i++)
			stats_publish(&sim->nics[i]);
		if (now >= next_house) {
			keep_house(sim, now);
			next_house = now + HOUSEKEEPING_NS;
		}
		if (moved == 0 && sim->cpu == SIM_ANY_CPU)
			sched_yield();
		after = __rdtsc();
		sim->cycles += after - before;
		if (moved > 0)
			sim->busy_cycles += after - before;
		before = after;
	}
}

static void
catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* What a wire found wrong, or counters that do not agree, is a failure of the run. */
static int
judge(const struct sim *sim)
{
	int code = EXIT_SUCCESS;

	for (unsigned i = 0; i < sim->nb_ports; i++) {
		const struct wire *wire = sim->wires[i];

		if (!nic_adds_up(&sim->nics[i], NULL) ||
			(wire->kind->verdict != NULL && wire->kind->verdict(wire) != NULL))
			code = EXIT_FAILURE;
	}
	return code;
}

int
main(int argc, char **argv)
{
	static struct sim sim;
	int code = EXIT_FAILURE;

	if (argc > 1 && strcmp(argv[1], "ctl") == 0)
		return control_client(argc - 2, argv + 2);
	if (sim_options_parse(&sim, argc, argv) < 0) {
		sim_options_free(&sim);
		return EXIT_FAILURE;
	}
	if (sim.help) {
		sim_options_usage();
		printf("\n");
		control_usage();
		sim_options_free(&sim);
		return EXIT_SUCCESS;
	}
	catch_signals();
	if (open_all(&sim) == 0 && mark_ready(&sim) == 0) {
		run(&sim);
		report_print(stderr, &sim);
		code = judge(&sim);
		if (report_write(&sim) < 0)
			code = EXIT_FAILURE;
	}
	close_all(&sim);
	sim_options_free(&sim);
	return code;
}
