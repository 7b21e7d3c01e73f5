/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "udp_sender.h"

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "app.h"
#include "options.h"
#include "pw_frag_buf.h"
#include "tcp_client_priv.h"
#include "tcp_stack.h"

#define PORT 49152	 /* the first one that is dynamic (RFC 6335, 6) */
#define SMALL_BYTES 1024 /* of such messages several are sent a poll */
#define SMALL_BURST 32

struct pw_udp_sender {
	struct pw_tcp_client *client;
	struct pw_frag_cache *frags;
};

/*
 * A part of the message in a fragment, as much as one holds, which is at most *max: less, for the
 * rest of it, when memory is in small pieces. NULL: there is none.
 */
static struct rte_mbuf *
copy_in(struct pw_udp_sender *sender, const uint8_t *data, uint32_t len_bytes, uint16_t *max)
{
	const struct pw_app *app = sender->client->stack->app;
	uint16_t n = RTE_MIN(len_bytes, *max);
	struct pw_frag_buf *buf = pw_frag_buf_alloc_upto(sender->frags, n);
	struct rte_mbuf *m = buf == NULL ? NULL : rte_pktmbuf_alloc(app->pool);

	if (m == NULL) {
		pw_frag_buf_put(buf);
		return NULL;
	}
	if (buf->size_bytes < n)
		*max = n = buf->size_bytes;
	memcpy(buf->data, data, n);
	pw_frag_buf_hand_over(buf, m, 0, n);
	return m;
}

/* NULL: no memory. */
static struct rte_mbuf *
make_datagram(struct pw_udp_sender *sender)
{
	static const uint8_t message[PW_UDP_MESSAGE_MAX];
	const struct pw_options *options = sender->client->options;
	struct rte_mbuf *first = rte_pktmbuf_alloc(sender->client->stack->app->pool), *last = first;
	uint16_t max = pw_frag_buf_max(sender->client->stack->app->frags);
	struct rte_udp_hdr *udp;

	if (first == NULL)
		return NULL;
	udp = (void *)rte_pktmbuf_append(first, sizeof(*udp));
	udp->src_port = RTE_BE16(PORT);
	udp->dst_port = rte_cpu_to_be_16(options->connect_port);
	for (uint32_t done = 0; done < options->message_bytes; done += last->data_len) {
		struct rte_mbuf *m = copy_in(
			sender, message + done, options->message_bytes - done, &max);

		if (m == NULL) {
			rte_pktmbuf_free(first);
			return NULL;
		}
		first->pkt_len += m->data_len;
		first->nb_segs++;
		last->next = m;
		last = m;
	}
	return first;
}

static bool
send_message(struct pw_udp_sender *sender, const struct pw_ip_info *ip, uint64_t now_us)
{
	struct pw_tcp_client *client = sender->client;
	struct rte_mbuf *datagram = make_datagram(sender);

	if (datagram == NULL) {
		client->stats.failed++;
		client->last_error = ENOMEM;
		return false;
	}
	pw_inet_output_udp(client->stack->inet, datagram, ip, now_us);
	client->stats.transactions++;
	client->stats.out_bytes += client->options->message_bytes;
	return true;
}

void
pw_udp_sender_tick(struct pw_udp_sender *sender, uint64_t now_us)
{
	struct pw_tcp_client *client = sender->client;
	struct pw_tcp_stack *stack = client->stack;
	struct pw_ip_info ip = {.dst = client->options->connect_addr};
	unsigned burst = client->options->message_bytes <= SMALL_BYTES ? SMALL_BURST : 1;

	client->stats.connections = RTE_MIN(client->share, 1U);
	/* As a full socket makes its sender wait: for what the port has not taken yet. */
	if (client->share == 0 || stack->nb_tx > 0 ||
		pw_inet_source(stack->inet, &ip.dst, &ip.src) < 0 ||
		!pw_inet_reaches(stack->inet, &ip.dst, now_us))
		return;
	if (client->first_us == 0)
		pw_tcp_client_begin(client, now_us);
	for (unsigned i = 0; i < burst; i++)
		if (!send_message(sender, &ip, now_us))
			break;
}

struct pw_udp_sender *
pw_udp_sender_create(struct pw_tcp_client *client)
{
	struct pw_udp_sender *sender = rte_zmalloc("pw_udp", sizeof(*sender), 0);

	if (sender == NULL)
		return NULL;
	sender->client = client;
	sender->frags = pw_frag_cache_create(client->stack->app->frags);
	if (sender->frags != NULL)
		return sender;
	rte_free(sender);
	return NULL;
}

void
pw_udp_sender_destroy(struct pw_udp_sender *sender)
{
	if (sender == NULL)
		return;
	pw_frag_cache_destroy(sender->frags);
	rte_free(sender);
}
