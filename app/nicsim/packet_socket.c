/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "packet_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bytes.h"
#include "error.h"

#define QUEUE_BYTES (16 << 20) /* the program may not run for some ms */
#define BUF_BYTES (68 << 10)   /* the longest that Linux has, 64 KiB of payload */

struct message {
	struct virtio_net_hdr header;
	struct iovec parts[2];
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	uint8_t data[VLAN_BYTES + BUF_BYTES];
};

struct packet_socket {
	int fd;
	struct mmsghdr headers[FRAME_BURST];
	struct message messages[FRAME_BURST];
};

static int
set_option(const char *context, int fd, int option, const void *value, socklen_t bytes)
{
	if (setsockopt(fd, SOL_PACKET, option, value, bytes) == 0)
		return 0;
	nicsim_error("%s: option %d of packet sockets: %s", context, option, strerror(errno));
	return -1;
}

/* As long as we may: without root the system's limit holds. */
static void
set_queues(int fd)
{
	const int bytes = QUEUE_BYTES;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

/* 0, or -1 after an error was printed. */
static int
set_up(const char *context, int fd, int ifindex)
{
	const struct packet_mreq promiscuous = {
		.mr_ifindex = ifindex, .mr_type = PACKET_MR_PROMISC};
	const struct sockaddr_ll address = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = ifindex};
	const int on = 1;

	set_queues(fd);
	if (set_option(context, fd, PACKET_IGNORE_OUTGOING, &on, sizeof(on)) < 0 ||
		set_option(context, fd, PACKET_VNET_HDR, &on, sizeof(on)) < 0 ||
		set_option(context, fd, PACKET_AUXDATA, &on, sizeof(on)) < 0 ||
		set_option(context, fd, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof(promiscuous)) <
			0)
		return -1;
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return 0;
	nicsim_error("%s: bind: %s", context, strerror(errno));
	return -1;
}

static void
point(struct packet_socket *socket, unsigned i)
{
	struct message *message = &socket->messages[i];

	message->parts[0] = (struct iovec){&message->header, sizeof(message->header)};
	message->parts[1] = (struct iovec){message->data + VLAN_BYTES, BUF_BYTES};
	socket->headers[i].msg_hdr = (struct msghdr){
		.msg_iov = message->parts,
		.msg_iovlen = 2,
		.msg_control = message->control,
		.msg_controllen = sizeof(message->control),
	};
}

struct packet_socket *
packet_socket_open(const char *context, int ifindex)
{
	struct packet_socket *opened = calloc(1, sizeof(*opened));

	if (opened == NULL) {
		nicsim_error("%s: no memory", context);
		return NULL;
	}
	/* Of no protocol, it receives nothing before it is bound. */
	opened->fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (opened->fd < 0) {
		nicsim_error("%s: packet socket: %s: this needs root (CAP_NET_RAW)", context,
			strerror(errno));
		free(opened);
		return NULL;
	}
	if (set_up(context, opened->fd, ifindex) < 0) {
		packet_socket_close(opened);
		return NULL;
	}
	return opened;
}

void
packet_socket_close(struct packet_socket *socket)
{
	close(socket->fd);
	free(socket);
}

unsigned
packet_socket_receive(struct packet_socket *socket, int *error)
{
	int n;

	for (unsigned i = 0; i < FRAME_BURST; i++)
		point(socket, i);
	n = recvmmsg(socket->fd, socket->headers, FRAME_BURST, MSG_DONTWAIT, NULL);
	*error = errno;
	return n > 0 ? (unsigned)n : 0;
}

static void
put_vlan_back(struct packet *packet, const struct tpacket_auxdata *aux)
{
	uint16_t type = aux->tp_status & TP_STATUS_VLAN_TPID_VALID ? aux->tp_vlan_tpid
								   : ETH_P_8021Q;

	packet->data -= VLAN_BYTES;
	memmove(packet->data, packet->data + VLAN_BYTES, 2 * (size_t)ETH_ALEN);
	put_be16(packet->data + 2 * (size_t)ETH_ALEN, type);
	put_be16(packet->data + 2 * (size_t)ETH_ALEN + 2, aux->tp_vlan_tci);
	packet->len_bytes += VLAN_BYTES;
	packet->cksum_start += VLAN_BYTES;
}

static void
look_for_vlan(struct msghdr *header, struct packet *packet)
{
	struct tpacket_auxdata aux;

	for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(header); cmsg != NULL;
		cmsg = CMSG_NXTHDR(header, cmsg)) {
		if (cmsg->cmsg_level != SOL_PACKET || cmsg->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(cmsg), sizeof(aux));
		if (aux.tp_status & TP_STATUS_VLAN_VALID && packet->len_bytes >= 2 * ETH_ALEN)
			put_vlan_back(packet, &aux);
	}
}

bool
packet_socket_look(struct packet_socket *socket, unsigned i, struct packet *packet)
{
	struct message *message = &socket->messages[i];
	const struct virtio_net_hdr *header = &message->header;
	uint32_t len_bytes = socket->headers[i].msg_len;

	if (len_bytes < sizeof(*header) || socket->headers[i].msg_hdr.msg_flags & MSG_TRUNC)
		return false;
	*packet = (struct packet){
		.data = message->data + VLAN_BYTES,
		.len_bytes = len_bytes - (uint32_t)sizeof(*header),
		.gso_bytes = header->gso_type != VIRTIO_NET_HDR_GSO_NONE ? header->gso_size : 0,
		.cksum_start = header->csum_start,
		.cksum_offset = header->csum_offset,
		.needs_cksum = header->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM,
	};
	look_for_vlan(&socket->headers[i].msg_hdr, packet);
	return true;
}

unsigned
packet_socket_send(struct packet_socket *socket, const struct frame *frames, unsigned n, int *error)
{
	static struct virtio_net_hdr nothing_left;
	struct mmsghdr headers[FRAME_BURST] = {0};
	struct iovec parts[FRAME_BURST][2];
	int sent;

	for (unsigned i = 0; i < n; i++) {
		parts[i][0] = (struct iovec){&nothing_left, sizeof(nothing_left)};
		/* iovec serves reading too: nobody writes to a frame here. */
		parts[i][1] = (struct iovec){
			(void *)(uintptr_t)frames[i].data, frames[i].len_bytes};
		headers[i].msg_hdr.msg_iov = parts[i];
		headers[i].msg_hdr.msg_iovlen = 2;
	}
	sent = sendmmsg(socket->fd, headers, n, MSG_DONTWAIT);
	*error = errno;
	return sent > 0 ? (unsigned)sent : 0;
}

uint64_t
packet_socket_drops(struct packet_socket *socket)
{
	struct tpacket_stats drops; /* each look sets them back */
	socklen_t bytes = sizeof(drops);

	if (getsockopt(socket->fd, SOL_PACKET, PACKET_STATISTICS, &drops, &bytes) < 0)
		return 0;
	return drops.tp_drops;
}
