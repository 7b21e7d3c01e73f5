/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "nicsim_rig.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES (UINT64_C(2) << 20)
#define RING_ALIGN 128
#define SETTLE_POLLS 100000
/* More than any port can be sent: the line is paced, and never in the way. */
#define FAST_BPS UINT64_C(1000000000000)

static void
push(struct rig_frames *list, struct rig_frame frame)
{
	if (list->n == RIG_FRAMES_MAX)
		abort();
	list->frames[(list->first + list->n++) % RIG_FRAMES_MAX] = frame;
}

static struct rig_frame
pop(struct rig_frames *list)
{
	struct rig_frame frame = list->frames[list->first];

	list->first = (list->first + 1) % RIG_FRAMES_MAX;
	list->n--;
	return frame;
}

static void
clear(struct rig_frames *list)
{
	while (list->n > 0)
		free(pop(list).data);
}

/* Each frame in memory of its own size, so that AddressSanitizer sees what reads on. */
static struct rig_frame
copy(const uint8_t *data, uint32_t len_bytes, uint32_t flags)
{
	struct rig_frame frame = {malloc(len_bytes == 0 ? 1 : len_bytes), len_bytes, flags};

	if (frame.data == NULL)
		abort();
	memcpy(frame.data, data, len_bytes);
	return frame;
}

static unsigned
wire_receive(struct wire *wire, uint64_t now_ns, struct frame *frames, unsigned n)
{
	struct rig_wire *rig = (struct rig_wire *)wire;
	unsigned i;

	(void)now_ns;
	clear(&rig->lent);
	for (i = 0; i < n && rig->give.n > 0; i++) {
		struct rig_frame frame = pop(&rig->give);

		frames[i] = (struct frame){frame.data, frame.len_bytes, frame.flags};
		push(&rig->lent, frame);
	}
	return i;
}

static void
wire_send(struct wire *wire, uint64_t now_ns, const struct frame *frames, unsigned n)
{
	struct rig_wire *rig = (struct rig_wire *)wire;

	(void)now_ns;
	for (unsigned i = 0; i < n; i++)
		push(&rig->taken, copy(frames[i].data, frames[i].len_bytes, frames[i].flags));
}

static unsigned
wire_room(struct wire *wire)
{
	return ((struct rig_wire *)wire)->room;
}

static const struct wire_kind kind = {
	.name = "rig",
	.receive = wire_receive,
	.send = wire_send,
	.room = wire_room,
};

/* Pages that are no memory cannot be touched, nor can what is behind the window. */
static void
open_window(struct rig *rig)
{
	struct dma *dma = &rig->dma;

	dma->bytes = RIG_WINDOW_BYTES;
	dma->present = rig->present;
	dma->next_scan_ns = UINT64_MAX;
	dma->base = mmap(NULL, RIG_WINDOW_BYTES + PAGE_BYTES, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (dma->base == MAP_FAILED)
		abort();
	for (unsigned i = 1; i < RIG_PAGES - 1; i++) {
		rig->present[i] = i != RIG_HOLE;
		if (rig->present[i] &&
			mprotect(dma->base + i * PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_WRITE) <
				0)
			abort();
	}
	rig->allocated = RIG_MEMORY_AT;
}

void
rig_open(struct rig *rig, bool paced)
{
	struct line_config config[LINE_WAYS] = {{.rate_bps = paced ? FAST_BPS : 0}, {0}};
	struct nic *nic = &rig->nic;

	memset(rig, 0, sizeof(*rig));
	open_window(rig);
	rig->wire.wire.kind = &kind;
	rig->wire.room = UINT_MAX;
	nic->bar = calloc(1, BAR_BYTES);
	nic->config = rig->config;
	nic->irq_fd = -1;
	nic->dma = &rig->dma;
	nic->line = line_create(&rig->wire.wire, config, 1);
	memcpy(nic->mac, (const uint8_t[]){2, 0, 0, 0, 0, 1}, sizeof(nic->mac));
	if (nic->bar == NULL || nic->line == NULL || nic_init(nic) < 0)
		abort();
	rig->now_ns = 1000000;
	rig_write(rig, REG_FCTRL, FCTRL_UPE | FCTRL_MPE);
	rig_write(rig, REG_HLREG0, HLREG0_RXCRCSTRP | HLREG0_JUMBOEN);
	rig_write(rig, REG_MAXFRS, (FRAME_MAX_BYTES + FRAME_CRC_BYTES) << 16);
	rig_write(rig, REG_RXCTRL, RXCTRL_RXEN);
	rig_write(rig, REG_DMATXCTL, DMATXCTL_TE);
}

void
rig_close(struct rig *rig)
{
	nic_fini(&rig->nic);
	line_destroy(rig->nic.line);
	free(rig->nic.bar);
	clear(&rig->wire.give);
	clear(&rig->wire.lent);
	clear(&rig->wire.taken);
	munmap(rig->dma.base, RIG_WINDOW_BYTES + PAGE_BYTES);
}

unsigned
rig_poll(struct rig *rig, unsigned times)
{
	unsigned moved = 0;

	while (times-- > 0) {
		moved += nic_poll(&rig->nic, rig->now_ns);
		stats_publish(&rig->nic);
		rig->now_ns += RIG_POLL_NS;
	}
	return moved;
}

bool
rig_settle(struct rig *rig)
{
	for (unsigned i = 0; i < SETTLE_POLLS; i++)
		if (rig_poll(rig, 1) == 0 && rig->wire.give.n == 0 && nic_is_idle(&rig->nic))
			return true;
	return false;
}

void
rig_control(struct rig *rig)
{
	/* It looks at them each 16th time, and when nothing moves. */
	rig_poll(rig, 20);
}

uint64_t
rig_alloc(struct rig *rig, uint64_t bytes)
{
	uint64_t address = rig->allocated;

	bytes = (bytes + RING_ALIGN - 1) / RING_ALIGN * RING_ALIGN;
	if (address < RIG_HOLE_AT + PAGE_BYTES && address + bytes > RIG_HOLE_AT)
		address = RIG_HOLE_AT + PAGE_BYTES;
	if (address + bytes > RIG_WINDOW_BYTES - PAGE_BYTES)
		abort();
	rig->allocated = address + bytes;
	memset(rig_at(rig, address), RIG_UNTOUCHED, bytes);
	return address;
}

void
rig_give(struct rig *rig, const uint8_t *data, uint32_t len_bytes, uint32_t flags)
{
	push(&rig->wire.give, copy(data, len_bytes, flags));
}

const struct rig_frame *
rig_taken(struct rig *rig)
{
	static struct rig_frame frame;

	free(frame.data);
	frame.data = NULL;
	if (rig->wire.taken.n == 0)
		return NULL;
	frame = pop(&rig->wire.taken);
	return &frame;
}

static void
arm(struct rig *rig, unsigned q, uint32_t i)
{
	struct rig_rxq *rxq = &rig->rxq[q];
	uint64_t buffer = rxq->buffers + (uint64_t)i * rxq->buf_bytes;

	memset(rig_at(rig, buffer), RIG_UNTOUCHED, rxq->buf_bytes);
	*rig_rx_desc(rig, q, i) = (union rx_desc){.read = {buffer, 0}};
}

void
rig_rx_start(struct rig *rig, unsigned q, uint32_t nb_desc, uint32_t buf_kib)
{
	struct rig_rxq *rxq = &rig->rxq[q];

	*rxq = (struct rig_rxq){.nb_desc = nb_desc, .buf_bytes = buf_kib << 10};
	rxq->ring = rig_alloc(rig, nb_desc * sizeof(union rx_desc));
	rxq->buffers = rig_alloc(rig, (uint64_t)nb_desc * rxq->buf_bytes);
	for (uint32_t i = 0; i < nb_desc; i++)
		arm(rig, q, i);
	rig_write(rig, REG_RDBAL(q), (uint32_t)rxq->ring);
	rig_write(rig, REG_RDBAH(q), (uint32_t)(rxq->ring >> 32));
	rig_write(rig, REG_RDLEN(q), nb_desc * sizeof(union rx_desc));
	rig_write(rig, REG_SRRCTL(q), buf_kib | (rig_read(rig, REG_SRRCTL(q)) & SRRCTL_DROP_EN));
	rig_write(rig, REG_RXDCTL(q), rig_read(rig, REG_RXDCTL(q)) | RXDCTL_ENABLE);
	rig_control(rig);
	rxq->tail = nb_desc - 1;
	rig_write(rig, REG_RDT(q), rxq->tail);
}

void
rig_rx_stop(struct rig *rig, unsigned q)
{
	rig_write(rig, REG_RXDCTL(q), rig_read(rig, REG_RXDCTL(q)) & ~RXDCTL_ENABLE);
	rig_control(rig);
}

void
rig_rx_refill(struct rig *rig, unsigned q)
{
	struct rig_rxq *rxq = &rig->rxq[q];

	while ((rxq->tail + 1) % rxq->nb_desc != rxq->next) {
		arm(rig, q, rxq->tail);
		rxq->tail = (rxq->tail + 1) % rxq->nb_desc;
	}
	arm(rig, q, rxq->tail);
	rig_write(rig, REG_RDT(q), rxq->tail);
}

/* A buffer of a frame: it is full unless it is the last, and the rest of it is untouched. */
static void
read_piece(struct rig *rig, unsigned q, uint32_t i, struct rig_packet *packet)
{
	struct rig_rxq *rxq = &rig->rxq[q];
	const uint8_t *buffer = rig_at(rig, rxq->buffers + (uint64_t)i * rxq->buf_bytes);
	union rx_desc desc = *rig_rx_desc(rig, q, i);
	uint32_t len_bytes = desc.done.len_bytes;

	if (len_bytes == 0 || len_bytes > rxq->buf_bytes ||
		packet->len_bytes + len_bytes > RIG_PACKET_MAX) {
		packet->wrong = "length";
		return;
	}
	memcpy(packet->data + packet->len_bytes, buffer, len_bytes);
	packet->len_bytes += len_bytes;
	packet->pieces++;
	packet->last = desc;
	for (uint32_t k = len_bytes; k < rxq->buf_bytes; k++)
		if (buffer[k] != RIG_UNTOUCHED)
			packet->wrong = "written behind the frame's end";
	if (desc.done.status & RXD_EOP)
		return;
	if (len_bytes != rxq->buf_bytes)
		packet->wrong = "a buffer in the middle is not full";
	if (desc.done.status != RXD_DD || desc.done.info != 0 || desc.done.vlan != 0)
		packet->wrong = "a descriptor in the middle has more than DD";
}

bool
rig_rx_read(struct rig *rig, unsigned q, struct rig_packet *packet)
{
	struct rig_rxq *rxq = &rig->rxq[q];
	uint32_t i = rxq->next;
	uint32_t status;

	packet->len_bytes = packet->pieces = 0;
	packet->wrong = NULL;
	do {
		if (i == rxq->tail)
			return false;
		status = rig_rx_desc(rig, q, i)->done.status;
		if (!(status & RXD_DD))
			return false;
		read_piece(rig, q, i, packet);
		i = (i + 1) % rxq->nb_desc;
	} while (!(status & RXD_EOP));
	rxq->next = i;
	return true;
}

void
rig_tx_start(struct rig *rig, unsigned q, uint32_t nb_desc)
{
	struct rig_txq *txq = &rig->txq[q];

	*txq = (struct rig_txq){.nb_desc = nb_desc};
	txq->ring = rig_alloc(rig, nb_desc * sizeof(union tx_desc));
	txq->buffers = rig_alloc(rig, nb_desc * UINT64_C(4096));
	rig_write(rig, REG_TDBAL(q), (uint32_t)txq->ring);
	rig_write(rig, REG_TDBAH(q), (uint32_t)(txq->ring >> 32));
	rig_write(rig, REG_TDLEN(q), nb_desc * sizeof(union tx_desc));
	rig_write(rig, REG_TXDCTL(q), TXDCTL_ENABLE);
	rig_control(rig);
}

void
rig_tx_put(struct rig *rig, unsigned q, union tx_desc desc)
{
	struct rig_txq *txq = &rig->txq[q];

	*rig_tx_desc(rig, q, txq->tail) = desc;
	txq->tail = (txq->tail + 1) % txq->nb_desc;
}

uint32_t
rig_tx_room(const struct rig *rig, unsigned q)
{
	const struct rig_txq *txq = &rig->txq[q];
	uint32_t head = rig_read(rig, REG_TDH(q));

	return (txq->nb_desc + head - txq->tail - 1) % txq->nb_desc;
}

void
rig_tx_kick(struct rig *rig, unsigned q)
{
	rig_write(rig, REG_TDT(q), rig->txq[q].tail);
}

union tx_desc
rig_tx_context(const struct tx_context *context, unsigned slot)
{
	union tx_desc desc = {0};

	desc.context.ip_mac_len = (uint16_t)(context->ip_len | context->mac_len << 9);
	desc.context.vlan = context->vlan;
	desc.context.command = TXD_DEXT | TXD_DTYP_CONTEXT << 20 | (context->ipv4 ? TXC_IPV4 : 0) |
		(uint32_t)context->l4_type << 11;
	desc.context.mss = slot << 4 | (uint32_t)context->l4_len << 8 |
		(uint32_t)context->mss << 16;
	return desc;
}

union tx_desc
rig_tx_data(uint64_t address, uint32_t len_bytes, uint32_t command, uint32_t options)
{
	union tx_desc desc = {0};

	desc.data.address = address;
	desc.data.command = len_bytes | TXD_DEXT | TXD_DTYP_DATA << 20 | command;
	desc.data.options = options;
	return desc;
}

void
rig_tx_frame(struct rig *rig, unsigned q, const uint8_t *data, uint32_t len_bytes, unsigned pieces,
	uint32_t command, uint32_t options)
{
	struct rig_txq *txq = &rig->txq[q];

	for (; pieces > 0; pieces--) {
		uint64_t buffer = txq->buffers + txq->tail * UINT64_C(4096);
		uint32_t piece = pieces == 1 ? len_bytes : len_bytes / pieces;

		if (piece > 4096)
			abort();
		memcpy(rig_at(rig, buffer), data, piece);
		rig_tx_put(rig, q,
			rig_tx_data(buffer, piece, command | (pieces == 1 ? TXD_EOP | TXD_RS : 0),
				options));
		data += piece;
		len_bytes -= piece;
	}
}
