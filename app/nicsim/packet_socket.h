/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_PACKET_SOCKET_H
#define NICSIM_PACKET_SOCKET_H

/** @file A packet socket (packet(7)) that tells what Linux left to the hardware. */

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"

struct packet_socket;

/** A frame as it was received, its VLAN tag in place. */
struct packet {
	uint8_t *data; /**< at least FRAME_MIN_BYTES of memory */
	uint32_t len_bytes;
	uint32_t gso_bytes;		    /**< of a segment's payload, 0: it is not to be cut */
	uint32_t cksum_start, cksum_offset; /**< tso_fill_cksum() */
	bool needs_cksum;
};

/** Open one on an interface of the namespace that we are in. NULL after an error was printed. */
struct packet_socket *packet_socket_open(const char *context, int ifindex);

void packet_socket_close(struct packet_socket *socket);

/** Receive up to FRAME_BURST messages over those before. @return how many; 0 with the reason */
unsigned packet_socket_receive(struct packet_socket *socket, int *error);

/** Look at a message, once. @return false when it did not fit into any buffer */
bool packet_socket_look(struct packet_socket *socket, unsigned i, struct packet *packet);

/** Send up to FRAME_BURST frames. @return how many; 0 with the reason why not the first */
unsigned packet_socket_send(
	struct packet_socket *socket, const struct frame *frames, unsigned n, int *error);

/** Frames that Linux dropped since asked last, as nobody received for too long. */
uint64_t packet_socket_drops(struct packet_socket *socket);

#endif
