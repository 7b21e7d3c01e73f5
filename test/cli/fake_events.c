/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * Preloaded, it takes the place of two functions of ethdev: events of ports, and how their links
 * are, come from the lines of a FIFO (FAKE_EVENTS), as in "0 down" or "1 removed". They are raised
 * on a thread of its own, as EAL's are.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#define PORTS 2

static struct {
	rte_eth_dev_cb_fn run;
	void *arg;
} callbacks[PORTS][RTE_ETH_EVENT_MAX];
static bool is_down[PORTS]; /* atomic */

int
rte_eth_dev_callback_register(
	uint16_t port_id, enum rte_eth_event_type event, rte_eth_dev_cb_fn cb_fn, void *cb_arg)
{
	callbacks[port_id][event].run = cb_fn;
	callbacks[port_id][event].arg = cb_arg;
	return 0;
}

int
rte_eth_link_get_nowait(uint16_t port_id, struct rte_eth_link *link)
{
	*link = (struct rte_eth_link){
		.link_speed = RTE_ETH_SPEED_NUM_10G,
		.link_status = !__atomic_load_n(&is_down[port_id], __ATOMIC_RELAXED),
	};
	return 0;
}

static void
raise_event(unsigned port, const char *what)
{
	enum rte_eth_event_type type = RTE_ETH_EVENT_INTR_LSC;

	if (strcmp(what, "reset") == 0)
		type = RTE_ETH_EVENT_INTR_RESET;
	else if (strcmp(what, "removed") == 0)
		type = RTE_ETH_EVENT_INTR_RMV;
	else
		__atomic_store_n(&is_down[port], strcmp(what, "down") == 0, __ATOMIC_RELAXED);
	if (callbacks[port][type].run != NULL)
		callbacks[port][type].run(port, type, callbacks[port][type].arg, NULL);
}

static void *
read_events(void *path)
{
	FILE *fifo = fopen(path, "r");
	char what[16];
	unsigned port;

	while (fifo != NULL && fscanf(fifo, "%u %15s", &port, what) == 2 && port < PORTS)
		raise_event(port, what);
	return NULL;
}

__attribute__((constructor)) static void
start(void)
{
	char *path = getenv("FAKE_EVENTS");
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (path != NULL && pthread_create(&thread, NULL, read_events, path) == 0)
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
