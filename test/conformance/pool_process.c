/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * A DPDK program that knows nothing of pagewheel, primary or secondary, for test_secondary.py: it
 * does with a pool of mbufs what the lines of its standard input say, and answers each with one.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#define POOL "shared_pool"
#define HELD_MAX 65536

static struct rte_mempool *pool;
static struct rte_mbuf *held[HELD_MAX];
static unsigned nb_held;

static bool
create(unsigned n)
{
	pool = rte_pktmbuf_pool_create(POOL, n, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	return pool != NULL;
}

static bool
find(unsigned unused)
{
	(void)unused;
	pool = rte_mempool_lookup(POOL);
	return pool != NULL;
}

/* Hold n more. */
static bool
take(unsigned n)
{
	if (n > HELD_MAX - nb_held || rte_pktmbuf_alloc_bulk(pool, held + nb_held, n) < 0)
		return false;
	for (unsigned i = nb_held; i < nb_held + n; i++)
		memset(rte_pktmbuf_append(held[i], 1500), i, 1500);
	nb_held += n;
	return true;
}

/* Free n of those that are held, the oldest first. */
static bool
give(unsigned n)
{
	if (n > nb_held)
		return false;
	rte_pktmbuf_free_bulk(held, n);
	nb_held -= n;
	memmove(held, held + n, nb_held * sizeof(held[0]));
	return true;
}

/* Get and free bursts of many sizes; not dry, as long as another holds no more than half. */
static int
work(void *rounds)
{
	struct rte_mbuf *burst[512];

	for (uintptr_t i = 0; i < (uintptr_t)rounds; i++) {
		unsigned n = 1 + i * 37 % RTE_DIM(burst);

		if (rte_pktmbuf_alloc_bulk(pool, burst, n) < 0)
			return -1;
		for (unsigned m = 0; m < n; m++)
			if (rte_mbuf_refcnt_read(burst[m]) != 1 || burst[m]->pool != pool)
				return -1;
		rte_pktmbuf_free_bulk(burst, n);
	}
	return 0;
}

static void *
work_as_thread(void *rounds)
{
	return work(rounds) < 0 ? pool : NULL;
}

/* On all lcores, and on a thread that is none. */
static bool
work_together(unsigned rounds)
{
	void *arg = (void *)(uintptr_t)rounds, *failed;
	pthread_t thread;
	unsigned lcore;
	int rc;

	if (pthread_create(&thread, NULL, work_as_thread, arg) != 0)
		return false;
	rte_eal_mp_remote_launch(work, arg, SKIP_MAIN);
	rc = work(arg);
	RTE_LCORE_FOREACH_WORKER (lcore) {
		if (rte_eal_wait_lcore(lcore) < 0)
			rc = -1;
	}
	pthread_join(thread, &failed);
	return rc == 0 && failed == NULL;
}

static bool
count(unsigned expected)
{
	unsigned free = rte_mempool_avail_count(pool);

	if (free != expected)
		printf("%u are free\n", free);
	return free == expected;
}

static const struct {
	const char *name;
	bool (*run)(unsigned n);
} commands[] = {
	{"create", create},
	{"find", find},
	{"take", take},
	{"give", give},
	{"work", work_together},
	{"count", count},
};

static const char *
run_line(const char *line)
{
	char word[16] = "";
	unsigned n = 0;

	sscanf(line, "%15s %u", word, &n);
	for (unsigned i = 0; i < RTE_DIM(commands); i++)
		if (strcmp(word, commands[i].name) == 0)
			return commands[i].run(n) ? "yes" : "no";
	return "unknown";
}

int
main(int argc, char **argv)
{
	char line[64];

	if (rte_eal_init(argc, argv) < 0) {
		printf("no: %s\n", rte_strerror(rte_errno));
		return EXIT_FAILURE;
	}
	while (fgets(line, sizeof(line), stdin) != NULL) {
		puts(run_line(line));
		fflush(stdout);
	}
	return rte_eal_cleanup() < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
