/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * What there is to know of data in flight. When all is acknowledged it is given back, but a D-SACK
 * block may still come and tell that a loss was none, or that a probe repaired none: until then it
 * rests with its connection. Only the latest do, as such a block comes within a round trip.
 */

#include "pw_tcp_priv.h"

#define RESTING_MAX 1024U

static void
give_back(struct pw_tcp_flight *flight)
{
	flight->conn->flight = NULL;
	pw_tcp_pool_give(&flight->conn->tcp->flights, flight);
}

static void
wake(struct pw_tcp_flight *flight)
{
	struct pw_tcp *tcp = flight->conn->tcp;

	if (!flight->rests)
		return;
	flight->rests = false;
	TAILQ_REMOVE(&tcp->resting, flight, resting);
	tcp->nb_resting--;
}

/* The one that rests longest makes room. */
static void
give_back_oldest(struct pw_tcp *tcp)
{
	struct pw_tcp_flight *flight = TAILQ_FIRST(&tcp->resting);

	if (flight == NULL)
		return;
	wake(flight);
	give_back(flight);
}

bool
pw_tcp_flight_begin(struct pw_tcp_conn *conn)
{
	struct pw_tcp *tcp = conn->tcp;
	struct pw_tcp_flight *flight = conn->flight;

	if (flight != NULL) {
		wake(flight);
		return true;
	}
	flight = pw_tcp_pool_take(&tcp->flights);
	if (flight == NULL) {
		give_back_oldest(tcp);
		flight = pw_tcp_pool_take(&tcp->flights);
	}
	if (flight == NULL)
		return false;
	*flight = (struct pw_tcp_flight){
		.conn = conn,
		.rack = {.fack = conn->snd_una, .end_seq = conn->snd_una},
		.round_end = conn->snd_max,
	};
	pw_tcp_sent_init(&flight->sent);
	conn->flight = flight;
	return true;
}

void
pw_tcp_flight_end(struct pw_tcp_conn *conn)
{
	struct pw_tcp *tcp = conn->tcp;
	struct pw_tcp_flight *flight = conn->flight;
	bool can_undo;

	if (flight == NULL)
		return;
	can_undo = flight->undo.can && flight->undo.resent_bytes > 0;
	if (!can_undo && !flight->probe.is_out) {
		wake(flight);
		give_back(flight);
	} else if (!flight->rests) {
		flight->rests = true;
		TAILQ_INSERT_TAIL(&tcp->resting, flight, resting);
		if (++tcp->nb_resting > RTE_MIN(RESTING_MAX, tcp->params.max_conns))
			give_back_oldest(tcp);
	}
}

void
pw_tcp_flight_clear(struct pw_tcp_conn *conn)
{
	if (conn->flight == NULL)
		return;
	pw_tcp_sent_clear(conn);
	wake(conn->flight);
	give_back(conn->flight);
}
