/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* show pages, fragment pages, defragment pages: the free memory behind buffers and fragments */

#include <inttypes.h>
#include <stdio.h>

#include <cmdline_parse_num.h>

#include "app.h"
#include "cli.h"
#include "pw_frag_pool.h"
#include "pw_mempool.h"

struct args {
	cmdline_fixed_string_t show;
	cmdline_fixed_string_t fragment;
	cmdline_fixed_string_t defragment;
	cmdline_fixed_string_t pages;
	uint8_t order;
};

PW_CLI_WORD(show, args, "show");
PW_CLI_WORD(fragment, args, "fragment");
PW_CLI_WORD(defragment, args, "defragment");
PW_CLI_WORD(pages, args, "pages");
static cmdline_parse_token_num_t order = TOKEN_NUM_INITIALIZER(struct args, order, RTE_UINT8);

/* As /proc/buddyinfo prints it, which people know how to read. */
static void
print_arena(const char *name, int node, const struct pw_arena_stats *stats)
{
	printf("Node %d, %8s", node, name);
	for (unsigned i = 0; i <= PW_PAGE_ORDER_MAX; i++)
		printf(" %6" PRIu64, stats->free_pages[i]);
	printf("   %" PRIu64 " of %" PRIu64 " KiB held, %" PRIu64 " splits, %" PRIu64
	       " merges, %" PRIu64 " pages off node\n",
		stats->bytes_held >> 10, stats->bytes >> 10, stats->splits, stats->merges,
		stats->pages_off_node);
}

static void
print_header(void)
{
	printf("free blocks of     ");
	for (unsigned i = 0; i <= PW_PAGE_ORDER_MAX; i++)
		printf(" %5uK", 4U << i);
	printf("\n");
}

static void
run_show(void *args, struct cmdline *cl, void *data)
{
	const struct pw_app *app = data;
	struct pw_store_stats stats;

	(void)args;
	(void)cl;
	print_header();
	if (pw_mempool_get_stats(app->pool, &stats) == 0)
		print_arena("pool", app->pool->socket_id, &stats.pages);
	pw_arena_get_stats(pw_frag_pool_arena(app->frags), &stats.pages);
	print_arena("frags", app->pool->socket_id, &stats.pages);
}

static cmdline_parse_inst_t cmd_show = {
	.f = run_show,
	.help_str = "show pages:free blocks of each page order, as /proc/buddyinfo has them",
	.tokens = {(void *)&show, (void *)&pages, NULL},
};

static void
run_fragment(void *args, struct cmdline *cl, void *data)
{
	unsigned largest = ((struct args *)args)->order;
	struct pw_app *app = data;

	(void)cl;
	if (largest >= PW_PAGE_ORDER_MAX) {
		pw_cli_fail(app, "fragment pages %u: expected an order from 0 to %u", largest,
			PW_PAGE_ORDER_MAX - 1);
		return;
	}
	printf("%u blocks of %u KiB are held, so that no free one is larger\n",
		pw_arena_fragment(pw_frag_pool_arena(app->frags), largest), 4U << largest);
}

static cmdline_parse_inst_t cmd_fragment = {
	.f = run_fragment,
	.help_str =
		"fragment pages ORDER:for tests: leave the memory of fragments in pieces of that "
		"page order",
	.tokens = {(void *)&fragment, (void *)&pages, (void *)&order, NULL},
};

static void
run_defragment(void *args, struct cmdline *cl, void *data)
{
	struct pw_app *app = data;

	(void)args;
	(void)cl;
	pw_arena_defragment(pw_frag_pool_arena(app->frags));
}

static cmdline_parse_inst_t cmd_defragment = {
	.f = run_defragment,
	.help_str = "defragment pages:give back what fragment pages holds",
	.tokens = {(void *)&defragment, (void *)&pages, NULL},
};

static cmdline_parse_ctx_t commands[] = {&cmd_show, &cmd_fragment, &cmd_defragment, NULL};

PW_CLI_REGISTER(memory, commands)
