/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tcp_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "pattern.h"

#define TIMER_NS 1000000 /* how exact deadlines are */

struct member {
	struct tcp_flow flow;
	TAILQ_ENTRY(member) in_ready;
	bool is_ready;
	bool was_over;
	uint16_t ip_id;
};

struct tcp_host {
	struct tcp_host_config config;
	struct member *members;
	TAILQ_HEAD(member_list, member) ready;
	unsigned turn_left;   /* segments of the first in the queue */
	unsigned over;	      /* members that came to an end */
	uint64_t earliest_ns; /* no deadline is before it */
	struct tcp_flow_stats stats;
	char verdict[128];
};

static void
add_ready(struct tcp_host *host, struct member *member)
{
	if (member->is_ready)
		return;
	member->is_ready = true;
	TAILQ_INSERT_TAIL(&host->ready, member, in_ready);
}

/* Sequence numbers begin anywhere; half of them shortly before they wrap. */
static uint32_t
draw_iss(unsigned short random[3])
{
	uint32_t iss = (uint32_t)jrand48(random);

	return nrand48(random) & (1 << 20) ? iss | 0xffff0000 : iss;
}

static void
init_members(struct tcp_host *host, uint64_t seed)
{
	unsigned short random[3] = {
		(unsigned short)seed, (unsigned short)(seed >> 16), (unsigned short)(seed >> 32)};

	TAILQ_INIT(&host->ready);
	for (unsigned i = 0; i < host->config.flows; i++) {
		tcp_flow_init(
			&host->members[i].flow, &host->config.flow, &host->stats, draw_iss(random));
		add_ready(host, &host->members[i]);
	}
}

struct tcp_host *
tcp_host_create(const struct tcp_host_config *config, uint64_t seed)
{
	struct tcp_host *host = calloc(1, sizeof(*host));
	struct member *members = calloc(config->flows, sizeof(*members));

	if (host == NULL || members == NULL) {
		free(host);
		free(members);
		return NULL;
	}
	pattern_init();
	host->config = *config;
	host->members = members;
	host->turn_left = config->burst;
	host->earliest_ns = TCP_NO_DEADLINE;
	init_members(host, seed);
	return host;
}

void
tcp_host_destroy(struct tcp_host *host)
{
	if (host == NULL)
		return;
	free(host->members);
	free(host);
}

bool
tcp_host_has_address(const struct tcp_host_config *config, uint32_t address)
{
	uint32_t distance = address - config->ends.src;

	return distance % TCP_HOST_ADDRESS_STEP == 0 &&
		distance / TCP_HOST_ADDRESS_STEP < tcp_host_addresses(config);
}

/* What became of a flow after something happened to it. */
static void
look_after(struct tcp_host *host, struct member *member)
{
	if (member->flow.deadline_ns < host->earliest_ns)
		host->earliest_ns = member->flow.deadline_ns;
	if (member->was_over || !tcp_flow_is_over(&member->flow))
		return;
	member->was_over = true;
	host->over++;
	if (member->flow.failure != NULL && host->verdict[0] == '\0')
		snprintf(host->verdict, sizeof(host->verdict), "connection %td: %s",
			member - host->members, member->flow.failure);
}

static void
run_timers(struct tcp_host *host, uint64_t now_ns)
{
	host->earliest_ns = TCP_NO_DEADLINE;
	for (unsigned i = 0; i < host->config.flows; i++) {
		struct member *member = &host->members[i];

		if (member->flow.deadline_ns <= now_ns) {
			tcp_flow_timeout(&member->flow, now_ns);
			add_ready(host, member);
		}
		look_after(host, member);
	}
	/* Acknowledgements move deadlines: what is the earliest now need not be when it comes. */
	if (host->earliest_ns < now_ns + TIMER_NS)
		host->earliest_ns = now_ns + TIMER_NS;
}

void
tcp_host_tick(struct tcp_host *host, uint64_t now_ns)
{
	if (now_ns >= host->earliest_ns)
		run_timers(host, now_ns);
}

static uint32_t
write_segment(struct tcp_host *host, struct member *member, const struct tcp_segment *segment,
	uint8_t *frame)
{
	unsigned i = (unsigned)(member - host->members);
	struct tcp_ends ends = host->config.ends;

	ends.src += i / TCP_HOST_PORTS * TCP_HOST_ADDRESS_STEP;
	ends.src_port += i % TCP_HOST_PORTS;
	return tcp_segment_write(&ends, segment, member->ip_id++, frame);
}

/* It sent, or had nothing to: whose turn is it now? */
static void
pass_turn(struct tcp_host *host, struct member *member, bool has_sent)
{
	if (has_sent && --host->turn_left > 0)
		return;
	host->turn_left = host->config.burst;
	TAILQ_REMOVE(&host->ready, member, in_ready);
	member->is_ready = false;
	if (has_sent)
		add_ready(host, member);
}

uint32_t
tcp_host_output(struct tcp_host *host, uint64_t now_ns, uint8_t *frame)
{
	struct tcp_segment segment;
	struct member *member;

	while ((member = TAILQ_FIRST(&host->ready)) != NULL) {
		bool has_segment = tcp_flow_output(&member->flow, now_ns, &segment);

		look_after(host, member);
		pass_turn(host, member, has_segment);
		if (has_segment)
			return write_segment(host, member, &segment, frame);
	}
	return 0;
}

/* The flow that a segment is for, or NULL. */
static struct member *
find_member(struct tcp_host *host, const struct tcp_ends *ends)
{
	uint32_t port = (uint32_t)ends->dst_port - host->config.ends.src_port, i;

	if (ends->src != host->config.ends.dst || ends->src_port != host->config.ends.dst_port ||
		!tcp_host_has_address(&host->config, ends->dst) || port >= TCP_HOST_PORTS)
		return NULL;
	i = (ends->dst - host->config.ends.src) / TCP_HOST_ADDRESS_STEP * TCP_HOST_PORTS + port;
	return i < host->config.flows ? &host->members[i] : NULL;
}

bool
tcp_host_input(struct tcp_host *host, uint64_t now_ns, const struct tcp_ends *ends,
	const struct tcp_segment *segment)
{
	struct member *member = find_member(host, ends);

	if (member == NULL)
		return false;
	tcp_flow_input(&member->flow, now_ns, segment);
	look_after(host, member);
	add_ready(host, member);
	return true;
}

bool
tcp_host_is_over(const struct tcp_host *host)
{
	return host->over == host->config.flows && TAILQ_EMPTY(&host->ready);
}

const char *
tcp_host_verdict(const struct tcp_host *host)
{
	return host->verdict[0] == '\0' ? NULL : host->verdict;
}

const struct tcp_flow_stats *
tcp_host_get_stats(const struct tcp_host *host)
{
	return &host->stats;
}
