/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>

#include <rte_errno.h>

#include "app.h"
#include "fwd.h"
#include "tcp_stack.h"

#define RING_SIZE 256 /* more at a time are lost, and asked for again */

struct news {
	enum { HEARD, ERROR } kind;
	union {
		struct pw_inet_heard heard;
		struct pw_inet_error error;
	};
};
static_assert(sizeof(struct news) % 4 == 0, "a ring's elements are of words");

/*
 * Rings between lcores rather than learning from IP packets: nothing is added to what every packet
 * costs, and RFC 826 alone says who is believed.
 */
int
pw_tcp_news_open(struct pw_tcp_stack *stack)
{
	char name[RTE_RING_NAMESIZE];

	if (stack->app->options.rxq == 1)
		return 0;
	snprintf(name, sizeof(name), "pw_news_%u_%u", stack->stream->rx_port->id,
		stack->stream->rx_queue);
	stack->news = rte_ring_create_elem(
		name, sizeof(struct news), RING_SIZE, stack->app->pool->socket_id, RING_F_SC_DEQ);
	return stack->news == NULL ? -rte_errno : 0;
}

void
pw_tcp_news_close(struct pw_tcp_stack *stack)
{
	rte_ring_free(stack->news);
}

static void
tell(const struct pw_tcp_stack *stack, struct news *news)
{
	const struct pw_fwd *fwd = stack->app->fwd;

	for (unsigned i = 0; i < pw_fwd_nb_streams(fwd); i++) {
		const struct pw_stream *stream = pw_fwd_stream(fwd, i);
		const struct pw_tcp_stack *other = stream->engine_data;

		if (other != stack && stream->rx_port == stack->stream->rx_port)
			rte_ring_mp_enqueue_elem(other->news, news, sizeof(*news));
	}
}

void
pw_tcp_news_heard(void *ctx, const struct pw_inet_heard *heard)
{
	struct news news = {.kind = HEARD, .heard = *heard};

	tell(ctx, &news);
}

void
pw_tcp_news_error(void *ctx, const struct pw_inet_error *error, uint64_t now_us)
{
	struct news news = {.kind = ERROR, .error = *error};
	struct pw_tcp_stack *stack = ctx;

	if (error->proto != IPPROTO_TCP)
		return;
	if (pw_tcp_error(stack->tcp, error, now_us) == -ENOENT && stack->news != NULL)
		tell(stack, &news);
}

void
pw_tcp_news_read(struct pw_tcp_stack *stack, uint64_t now_us)
{
	struct news news;

	if (stack->news == NULL || rte_ring_empty(stack->news))
		return;
	while (rte_ring_sc_dequeue_elem(stack->news, &news, sizeof(news)) == 0)
		if (news.kind == HEARD)
			pw_inet_hear(stack->inet, &news.heard, now_us);
		else
			pw_tcp_error(stack->tcp, &news.error, now_us);
	pw_tcp_stack_flush(stack);
}
