/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "ring.h"

#include "nic.h"

/* Offsets from the queue's first register (8.2.3.8, 8.2.3.9). */
#define BASE_LOW 0x00
#define BASE_HIGH 0x04
#define LENGTH 0x08
#define HEAD 0x10
#define TAIL 0x18
#define CONTROL 0x28
#define CONTROL_ENABLE (1u << 25)

/* What the registers hold of address and length: multiples of 128 bytes. */
#define ADDRESS_MASK (~UINT64_C(0x7f))
#define BYTES_MASK 0xfff80u
#define DESC_BYTES 16

static_assert(RXDCTL_ENABLE == CONTROL_ENABLE && TXDCTL_ENABLE == CONTROL_ENABLE,
	"8.2.3.8.7, 8.2.3.9.10: one bit enables either");
static_assert(REG_RDT(0) - RXQ_BASE(0) == TAIL && REG_TDT(0) - TXQ_BASE(0) == TAIL,
	"8.2.3.8.5, 8.2.3.9.9: registers of either kind at one offset");

static uint32_t
read_reg(const struct nic *nic, const struct ring *ring, uint32_t offset)
{
	return reg_read(nic->bar, ring->reg + offset);
}

void
ring_start(struct nic *nic, struct ring *ring)
{
	uint32_t bytes = read_reg(nic, ring, LENGTH) & BYTES_MASK;

	ring->address = (read_reg(nic, ring, BASE_LOW) |
				(uint64_t)read_reg(nic, ring, BASE_HIGH) << 32) &
		ADDRESS_MASK;
	ring->nb_desc = bytes / DESC_BYTES;
	ring->head = ring->tail = 0;
	if (bytes == 0)
		return;
	ring->descs = dma_find(nic->dma, ring->address, bytes, nic->now_ns);
}

void
ring_stop(struct nic *nic, struct ring *ring)
{
	ring->descs = NULL;
	reg_write(nic->bar, ring->reg + HEAD, 0);
	reg_write(nic->bar, ring->reg + TAIL, 0);
}

void
ring_remap(struct nic *nic, struct ring *ring)
{
	ring->descs = dma_at(nic->dma, ring->address, ring->nb_desc * DESC_BYTES);
}

bool
ring_is_enabled(const struct nic *nic, const struct ring *ring)
{
	return read_reg(nic, ring, CONTROL) & CONTROL_ENABLE;
}

void
ring_read_tail(const struct nic *nic, struct ring *ring)
{
	uint32_t tail = read_reg(nic, ring, TAIL);

	if (tail < ring->nb_desc)
		ring->tail = tail;
}

void
ring_show_head(struct nic *nic, const struct ring *ring, uint32_t head)
{
	if (read_reg(nic, ring, HEAD) != head)
		reg_write(nic->bar, ring->reg + HEAD, head);
}
