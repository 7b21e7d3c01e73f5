/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* A wire to an interface of Linux that is there, as one end of a veth pair, by a packet socket. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "netdev.h"
#include "packet_socket.h"
#include "tso.h"
#include "wire.h"

#define IDLE_NS 10000 /* after nothing came, nobody looks for so long: a look is a system call */

struct veth_config {
	const char *netns;
};

struct veth_stats {
	uint64_t sent; /* by the port */
	uint64_t received;
	uint64_t padded, checksums, segmented;
	uint64_t dropped_bad_crc, dropped_down, dropped_full, dropped_refused, dropped_too_long,
		dropped_gso, dropped_socket;
};

struct veth {
	struct wire wire;
	struct packet_socket *socket;
	unsigned next, nb_messages; /* that were received and not looked at */
	struct tso tso;		    /* the frame that is being cut */
	bool is_cutting, has_told;
	uint64_t idle_until_ns;
	char name[64];
	struct veth_stats stats;
	uint8_t segments[FRAME_BURST][FRAME_MAX_BYTES];
};

static const struct veth_config defaults;

static const struct param params[] = {
	{"netns", "NAME", "the network namespace that it is in (that of the program)", PARAM_TEXT,
		offsetof(struct veth_config, netns), 0, 0, NULL, NULL},
	{0},
};

static const struct pw_stat stats[] = {
	PW_STAT(veth_stats, sent, "frames"),
	PW_STAT(veth_stats, received, "frames"),
	PW_STAT(veth_stats, padded, "frames"),
	PW_STAT(veth_stats, checksums, "filled in"),
	PW_STAT(veth_stats, segmented, "frames"),
	PW_STAT(veth_stats, dropped_bad_crc, "frames"),
	PW_STAT(veth_stats, dropped_down, "frames"),
	PW_STAT(veth_stats, dropped_full, "frames"),
	PW_STAT(veth_stats, dropped_refused, "frames"),
	PW_STAT(veth_stats, dropped_too_long, "frames"),
	PW_STAT(veth_stats, dropped_gso, "frames"),
	PW_STAT(veth_stats, dropped_socket, "frames"),
	PW_STAT_END,
};

static struct packet_socket *
open_socket(const char *context, const char *name, const char *netns)
{
	struct packet_socket *socket = NULL;
	int before, ifindex;

	if (netdev_enter_netns(context, netns, &before) < 0)
		return NULL;
	ifindex = netdev_find_ethernet(context, name);
	if (ifindex >= 0)
		socket = packet_socket_open(context, ifindex);
	if (netdev_leave_netns(context, before) < 0 && socket != NULL) {
		packet_socket_close(socket);
		socket = NULL;
	}
	return socket;
}

static struct wire *
veth_open(const struct wire_context *context, const char *arg, const void *config)
{
	const struct veth_config *wanted = config;
	char what[64];
	struct veth *veth;

	(void)context;
	snprintf(what, sizeof(what), "--wire=veth=%s", arg != NULL ? arg : "");
	if (netdev_check_name(what, arg) < 0)
		return NULL;
	veth = calloc(1, sizeof(*veth));
	if (veth == NULL) {
		nicsim_error("%s: no memory", what);
		return NULL;
	}
	veth->wire.kind = &wire_veth;
	snprintf(veth->name, sizeof(veth->name), "%s", arg);
	veth->socket = open_socket(what, arg, wanted->netns);
	if (veth->socket == NULL) {
		free(veth);
		return NULL;
	}
	return &veth->wire;
}

static void
veth_close(struct wire *wire)
{
	struct veth *veth = (struct veth *)wire;

	packet_socket_close(veth->socket);
	free(veth);
}

/* A frame that Linux would let the hardware cut, and that is nothing we can. */
static void
refuse_gso(struct veth *veth)
{
	veth->stats.dropped_gso++;
	if (!veth->has_told)
		nicsim_error("--wire=veth=%s: long frames that are no TCP to cut are dropped: "
			     "\"ethtool -K NAME tso off gso off tx-udp-segmentation off\" on the "
			     "other end helps",
			veth->name);
	veth->has_told = true;
}

/* Look at the next message. Whether it is a frame; a long one is cut afterwards. */
static bool
accept_message(struct veth *veth, struct packet *packet, struct frame *frame)
{
	if (packet->gso_bytes > 0) {
		veth->is_cutting = tso_begin(
			&veth->tso, packet->data, packet->len_bytes, packet->gso_bytes);
		if (!veth->is_cutting)
			refuse_gso(veth);
		return false;
	}
	if (packet->len_bytes > FRAME_MAX_BYTES) {
		veth->stats.dropped_too_long++;
		return false;
	}
	if (packet->needs_cksum)
		veth->stats.checksums += tso_fill_cksum(
			packet->data, packet->len_bytes, packet->cksum_start, packet->cksum_offset);
	if (packet->len_bytes < FRAME_MIN_BYTES) {
		memset(packet->data + packet->len_bytes, 0, FRAME_MIN_BYTES - packet->len_bytes);
		packet->len_bytes = FRAME_MIN_BYTES;
		veth->stats.padded++;
	}
	*frame = (struct frame){packet->data, packet->len_bytes, 0};
	return true;
}

/* Whether there is a frame in what was received; slot is for one that is cut. */
static bool
next_frame(struct veth *veth, uint8_t *slot, struct frame *frame)
{
	struct packet packet;

	for (;;) {
		if (veth->is_cutting && !tso_is_done(&veth->tso)) {
			*frame = (struct frame){slot, tso_next(&veth->tso, slot), 0};
			veth->stats.segmented++;
			return true;
		}
		veth->is_cutting = false;
		if (veth->next == veth->nb_messages)
			return false;
		if (!packet_socket_look(veth->socket, veth->next++, &packet))
			veth->stats.dropped_too_long++;
		else if (accept_message(veth, &packet, frame))
			return true;
	}
}

/* The next messages, when it is time to look. */
static void
fetch(struct veth *veth, uint64_t now_ns)
{
	int error;

	if (now_ns < veth->idle_until_ns)
		return;
	veth->next = 0;
	veth->nb_messages = packet_socket_receive(veth->socket, &error);
	if (veth->nb_messages > 0)
		return;
	if (error == EINVAL) /* GSO of a kind that this Linux cannot tell */
		refuse_gso(veth);
	else
		veth->idle_until_ns = now_ns + IDLE_NS;
}

static unsigned
veth_receive(struct wire *wire, uint64_t now_ns, struct frame *frames, unsigned n)
{
	struct veth *veth = (struct veth *)wire;
	unsigned i = 0;

	if (veth->next == veth->nb_messages && !veth->is_cutting)
		fetch(veth, now_ns);
	while (i < n && next_frame(veth, veth->segments[i], &frames[i]))
		i++;
	veth->stats.received += i;
	return i;
}

static void
count_refused(struct veth_stats *counters, int error)
{
	if (error == ENETDOWN)
		counters->dropped_down++;
	else if (error == EAGAIN || error == ENOBUFS || error == ENOMEM)
		counters->dropped_full++;
	else if (error == EMSGSIZE)
		counters->dropped_too_long++;
	else
		counters->dropped_refused++;
}

static void
veth_send(struct wire *wire, uint64_t now_ns, const struct frame *frames, unsigned n)
{
	struct veth *veth = (struct veth *)wire;
	struct frame good[FRAME_BURST];
	unsigned nb_good = 0, sent;
	int error;

	(void)now_ns;
	for (unsigned i = 0; i < n; i++)
		if (frames[i].flags & FRAME_BAD_CRC)
			veth->stats.dropped_bad_crc++;
		else
			good[nb_good++] = frames[i];
	for (unsigned i = 0; i < nb_good; i += sent) {
		sent = packet_socket_send(veth->socket, &good[i], nb_good - i, &error);
		veth->stats.sent += sent;
		if (sent > 0)
			continue;
		/* The first one was refused; the next may be shorter. */
		count_refused(&veth->stats, error);
		sent = 1;
	}
}

static const void *
veth_get_stats(struct wire *wire)
{
	struct veth *veth = (struct veth *)wire;

	veth->stats.dropped_socket += packet_socket_drops(veth->socket);
	return &veth->stats;
}

const struct wire_kind wire_veth = {
	.name = "veth",
	.arg = "NAME",
	.help = "an Ethernet interface of Linux that is there, as one end of a veth pair",
	.params = params,
	.defaults = &defaults,
	.config_bytes = sizeof(defaults),
	.open = veth_open,
	.receive = veth_receive,
	.send = veth_send,
	.stats = stats,
	.get_stats = veth_get_stats,
	.close = veth_close,
};
