/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_ARP_H
#define NICSIM_ARP_H

/** @file ARP requests, and answers to them (RFC 826). */

#include <stdint.h>

#include "frame.h"

/** The address that a frame asks for, in host order; 0 when it is no ARP request. */
uint32_t arp_asked_for(const struct frame *frame);

/** The address that a frame tells of, in host order; 0 when it is no ARP reply. */
uint32_t arp_answered_by(const struct frame *frame);

/** Write a request, FRAME_MIN_BYTES: who has an address, asks the one at this MAC and address. */
void arp_ask(const uint8_t mac[6], uint32_t address, uint32_t asked_for, uint8_t *request);

/** Write the answer to a request, FRAME_MIN_BYTES: the address is at this MAC. */
void arp_answer(const struct frame *request, const uint8_t mac[6], uint8_t *answer);

#endif
