/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "netdev.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "error.h"

static int
open_netns(const char *context, const char *name)
{
	char path[128];
	int fd;

	if (strchr(name, '/') != NULL ||
		snprintf(path, sizeof(path), "/run/netns/%s", name) >= (int)sizeof(path)) {
		nicsim_error(
			"%s: netns=%s: expected a name as \"ip netns\" shows it", context, name);
		return -1;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		nicsim_error("%s: netns=%s: %s: \"ip netns\" shows which there are", context, name,
			strerror(errno));
	return fd;
}

int
netdev_enter_netns(const char *context, const char *name, int *before)
{
	int fd, rc;

	*before = -1;
	if (name == NULL)
		return 0;
	fd = open_netns(context, name);
	if (fd < 0)
		return -1;
	*before = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	rc = *before < 0 ? -1 : setns(fd, CLONE_NEWNET);
	if (rc < 0) {
		nicsim_error("%s: netns=%s: %s: this needs root (CAP_SYS_ADMIN)", context, name,
			strerror(errno));
		if (*before >= 0)
			close(*before);
	}
	close(fd);
	return rc;
}

int
netdev_leave_netns(const char *context, int before)
{
	int rc;

	if (before < 0)
		return 0;
	rc = setns(before, CLONE_NEWNET);
	if (rc < 0)
		nicsim_error(
			"%s: no way back to the network namespace: %s", context, strerror(errno));
	close(before);
	return rc;
}

int
netdev_check_name(const char *context, const char *name)
{
	if (name != NULL && name[0] != '\0' && strlen(name) < IFNAMSIZ)
		return 0;
	nicsim_error("%s: expected the name of an interface, of up to %d characters, behind \"=\"",
		context, IFNAMSIZ - 1);
	return -1;
}

/* An ioctl of the interface. 0, or -1 and errno. */
static int
ask(const char *name, unsigned long request, struct ifreq *ifr)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc, error;

	if (fd < 0)
		return -1;
	snprintf(ifr->ifr_name, sizeof(ifr->ifr_name), "%s", name);
	rc = ioctl(fd, request, ifr);
	error = errno;
	close(fd);
	errno = error;
	return rc;
}

int
netdev_set_mtu(const char *context, const char *name, uint64_t mtu_bytes)
{
	struct ifreq ifr = {.ifr_mtu = (int)mtu_bytes};

	if (ask(name, SIOCSIFMTU, &ifr) == 0)
		return 0;
	nicsim_error("%s: mtu=%d: %s: \"ip -details link show %s\" shows what it can do", context,
		(int)mtu_bytes, strerror(errno), name);
	return -1;
}

void
netdev_set_queue(const char *name, unsigned frames)
{
	struct ifreq ifr = {.ifr_qlen = (int)frames};

	ask(name, SIOCSIFTXQLEN, &ifr);
}

int
netdev_find_ethernet(const char *context, const char *name)
{
	struct ifreq ifr = {0};

	if (ask(name, SIOCGIFHWADDR, &ifr) < 0) {
		nicsim_error("%s: %s: \"ip link\" shows which interfaces there are", context,
			strerror(errno));
		return -1;
	}
	if (ifr.ifr_hwaddr.sa_family != ARPHRD_ETHER) {
		nicsim_error("%s: this is no Ethernet interface: take one that \"ip link\" shows "
			     "as link/ether",
			context);
		return -1;
	}
	if (ask(name, SIOCGIFINDEX, &ifr) < 0) {
		nicsim_error("%s: %s", context, strerror(errno));
		return -1;
	}
	return ifr.ifr_ifindex;
}
