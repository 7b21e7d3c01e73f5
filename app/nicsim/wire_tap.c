/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* A wire to Linux's network stack by a TAP interface. */

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "error.h"
#include "netdev.h"
#include "wire.h"

#define ETHER_HEADER_BYTES 14
#define MTU_MAX (FRAME_MAX_BYTES - ETHER_HEADER_BYTES - VLAN_BYTES)
#define IDLE_NS 10000	/* after nothing came, nobody looks for so long: a look is a system call */
#define QUEUE_MAX 4096	/* frames: the program may not run for some ms */
#define BUF_BYTES 16384 /* of a frame; longer ones are seen to be so */

struct tap_config {
	const char *netns;
	uint64_t mtu;
};

struct tap_stats {
	uint64_t sent; /* by the port */
	uint64_t received;
	uint64_t padded;
	uint64_t dropped_bad_crc, dropped_down, dropped_full, dropped_refused, dropped_too_long;
};

struct tap {
	struct wire wire;
	int fd;
	uint64_t idle_until_ns;
	struct tap_stats stats;
	uint8_t bufs[FRAME_BURST][BUF_BYTES];
};

static const struct tap_config defaults;

static const struct param params[] = {
	{"netns", "NAME", "the network namespace that it is in (that of the program)", PARAM_TEXT,
		offsetof(struct tap_config, netns), 0, 0, NULL, NULL},
	{"mtu", "BYTES", "its MTU (as it is)", PARAM_UINT, offsetof(struct tap_config, mtu), 68,
		MTU_MAX, NULL, NULL},
	{0},
};

static const struct pw_stat stats[] = {
	PW_STAT(tap_stats, sent, "frames"),
	PW_STAT(tap_stats, received, "frames"),
	PW_STAT(tap_stats, padded, "frames"),
	PW_STAT(tap_stats, dropped_bad_crc, "frames"),
	PW_STAT(tap_stats, dropped_down, "frames"),
	PW_STAT(tap_stats, dropped_full, "frames"),
	PW_STAT(tap_stats, dropped_refused, "frames"),
	PW_STAT(tap_stats, dropped_too_long, "frames"),
	PW_STAT_END,
};

static const char *
cure(int error)
{
	switch (error) {
	case EPERM:
		return ": this needs root (CAP_NET_ADMIN)";
	case EBUSY:
		return ": another program uses it";
	case EINVAL:
		return ": an interface of this name is no TAP, or one of several queues";
	default:
		return "";
	}
}

/* Create the interface, or take one that is there. 0, or -1 after an error was printed. */
static int
attach(int fd, const char *context, const char *name, uint64_t mtu)
{
	struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	if (ioctl(fd, TUNSETIFF, &ifr) < 0) {
		nicsim_error("%s: %s%s", context, strerror(errno), cure(errno));
		return -1;
	}
	/* Linux fills in all checksums, and makes no frame longer than the MTU. */
	if (ioctl(fd, TUNSETOFFLOAD, 0) < 0) {
		nicsim_error("%s: offloads cannot be turned off: %s", context, strerror(errno));
		return -1;
	}
	netdev_set_queue(ifr.ifr_name, QUEUE_MAX);
	return mtu > 0 ? netdev_set_mtu(context, ifr.ifr_name, mtu) : 0;
}

/* The device is of the namespace in which it is opened. */
static int
open_tap(const char *context, const char *name, const struct tap_config *config)
{
	int before, fd;

	if (netdev_enter_netns(context, config->netns, &before) < 0)
		return -1;
	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		nicsim_error("%s: /dev/net/tun: %s: \"modprobe tun\" helps if it is not there",
			context, strerror(errno));
	else if (attach(fd, context, name, config->mtu) < 0) {
		close(fd);
		fd = -1;
	}
	if (netdev_leave_netns(context, before) < 0 && fd >= 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static struct wire *
tap_open(const struct wire_context *context, const char *arg, const void *config)
{
	char what[64];
	struct tap *tap;

	(void)context;
	snprintf(what, sizeof(what), "--wire=tap=%s", arg != NULL ? arg : "");
	if (netdev_check_name(what, arg) < 0)
		return NULL;
	tap = calloc(1, sizeof(*tap));
	if (tap == NULL) {
		nicsim_error("%s: no memory", what);
		return NULL;
	}
	tap->wire.kind = &wire_tap;
	tap->fd = open_tap(what, arg, config);
	if (tap->fd < 0) {
		free(tap);
		return NULL;
	}
	return &tap->wire;
}

static void
tap_close(struct wire *wire)
{
	struct tap *tap = (struct tap *)wire;

	close(tap->fd);
	free(tap);
}

/* A frame was read: as long as the port's wire would have it. */
static void
accept_frame(struct tap *tap, uint8_t *data, uint32_t len_bytes, struct frame *frame)
{
	if (len_bytes < FRAME_MIN_BYTES) {
		memset(data + len_bytes, 0, FRAME_MIN_BYTES - len_bytes);
		len_bytes = FRAME_MIN_BYTES;
		tap->stats.padded++;
	}
	*frame = (struct frame){data, len_bytes, 0};
	tap->stats.received++;
}

static unsigned
tap_receive(struct wire *wire, uint64_t now_ns, struct frame *frames, unsigned n)
{
	struct tap *tap = (struct tap *)wire;
	unsigned got = 0;
	ssize_t len;

	if (now_ns < tap->idle_until_ns)
		return 0;
	for (unsigned i = 0; i < n; i++) {
		len = read(tap->fd, tap->bufs[i], BUF_BYTES);
		if (len <= 0) {
			tap->idle_until_ns = now_ns + IDLE_NS;
			break;
		}
		if (len > FRAME_MAX_BYTES)
			tap->stats.dropped_too_long++;
		else
			accept_frame(tap, tap->bufs[i], (uint32_t)len, &frames[got++]);
	}
	return got;
}

static void
count_refused(struct tap_stats *counters, int error)
{
	if (error == EIO || error == ENETDOWN)
		counters->dropped_down++;
	else if (error == EAGAIN || error == ENOBUFS || error == ENOMEM)
		counters->dropped_full++;
	else
		counters->dropped_refused++;
}

static void
tap_send(struct wire *wire, uint64_t now_ns, const struct frame *frames, unsigned n)
{
	struct tap *tap = (struct tap *)wire;

	(void)now_ns;
	for (unsigned i = 0; i < n; i++)
		if (frames[i].flags & FRAME_BAD_CRC)
			tap->stats.dropped_bad_crc++;
		else if (write(tap->fd, frames[i].data, frames[i].len_bytes) < 0)
			count_refused(&tap->stats, errno);
		else
			tap->stats.sent++;
}

static const void *
tap_get_stats(struct wire *wire)
{
	return &((struct tap *)wire)->stats;
}

const struct wire_kind wire_tap = {
	.name = "tap",
	.arg = "NAME",
	.help = "a TAP interface of Linux, made if there is none of this name",
	.params = params,
	.defaults = &defaults,
	.config_bytes = sizeof(defaults),
	.open = tap_open,
	.receive = tap_receive,
	.send = tap_send,
	.stats = stats,
	.get_stats = tap_get_stats,
	.close = tap_close,
};
