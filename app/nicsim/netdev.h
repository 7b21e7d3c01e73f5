/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_NETDEV_H
#define NICSIM_NETDEV_H

/** @file Linux's network interfaces, and the namespaces that they are in. */

#include <stdint.h>

/**
 * Enter a network namespace, as "ip netns" names it; NULL: stay. netdev_leave_netns() goes back.
 *
 * @param context  what messages begin with
 * @param before   the way back
 * @return 0, or -1 after an error was printed
 */
int netdev_enter_netns(const char *context, const char *name, int *before);

/** Go back. 0, or -1 after an error was printed: the thread is in the wrong namespace. */
int netdev_leave_netns(const char *context, int before);

/** 0, or -1 after an error was printed: a name that is missing or too long. */
int netdev_check_name(const char *context, const char *name);

/** 0, or -1 after an error was printed. */
int netdev_set_mtu(const char *context, const char *name, uint64_t mtu_bytes);

/** How many frames Linux keeps for a slow reader; as good as it gets. */
void netdev_set_queue(const char *name, unsigned frames);

/** Index of an Ethernet interface, or -1 after an error was printed. */
int netdev_find_ethernet(const char *context, const char *name);

#endif
