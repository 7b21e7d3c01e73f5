/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_FILTER_H
#define NICSIM_FILTER_H

/** @file Receive filters by destination address and VLAN (datasheet 7.1.1). */

#include "nic.h"
#include "parse.h"

/** What the filters say of a frame. */
enum filter_verdict {
	FILTER_PASS,
	FILTER_PASS_INEXACT, /**< by promiscuity or hash: the driver may look again */
	FILTER_ADDRESS,
	FILTER_VLAN,
};

/** Read the filters' registers. */
void filter_control(struct nic *nic);

/** Whether the port takes a frame. */
enum filter_verdict filter_frame(
	const struct nic *nic, const struct parsed *parsed, const uint8_t *data);

#endif
