/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/*
 * The software NIC between a driver and a wire that both mean no good. The input is a list of
 * records: a kind, and so many bytes as the kind needs. Each frame that came in has to be accounted
 * for at any time, a poll moves no more than it may, and nothing outside of the driver's memory is
 * touched: what is beside it cannot be (nicsim_rig.h).
 */

#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "nicsim_rig.h"

#define GIVE_MAX 2000
#define POLLS_MAX 32
#define RING 64
#define WINDOW_MASK (RIG_WINDOW_BYTES - 1)

struct input {
	const uint8_t *data;
	size_t size;
};

static struct rig rig;

static uint64_t
take(struct input *input, unsigned bytes)
{
	uint64_t value = 0;

	for (; bytes > 0 && input->size > 0; bytes--, input->size--)
		value = value << 8 | *input->data++;
	return value;
}

/* Bytes of the input, up to so many as it says itself. */
static uint32_t
take_bytes(struct input *input, uint8_t *to, uint32_t most)
{
	uint32_t n = (uint32_t)take(input, 2) % (most + 1);

	if (n > input->size)
		n = (uint32_t)input->size;
	memcpy(to, input->data, n);
	input->data += n;
	input->size -= n;
	return n;
}

static void
write_register(struct input *input)
{
	static const uint32_t registers[] = {REG_RDT(0), REG_RDT(1), REG_RDLEN(0), REG_RDBAL(0),
		REG_RDBAH(0), REG_RXDCTL(0), REG_RXDCTL(1), REG_SRRCTL(0), REG_SRRCTL(1),
		REG_TDT(0), REG_TDT(1), REG_TDLEN(0), REG_TDBAL(0), REG_TDBAH(0), REG_TXDCTL(0),
		REG_TXDCTL(1), REG_DMATXCTL, REG_RXCTRL, REG_HLREG0, REG_MAXFRS, REG_FCTRL,
		REG_MRQC, REG_RETA, REG_RSSRK, REG_VLNCTRL, REG_VFTA(0), REG_MCSTCTRL, REG_MTA(0),
		REG_RAL(1), REG_RAH(1), REG_RQSMR(0), REG_TQSM(0), REG_CTRL, REG_EIMS, REG_EIMC,
		REG_EERD, REG_MSCA, REG_AUTOC};
	uint32_t i = (uint32_t)take(input, 1) % (sizeof(registers) / sizeof(registers[0]));

	rig_write(&rig, registers[i], (uint32_t)take(input, 4));
}

static void
tx_buffer(struct input *input)
{
	uint64_t address = take(input, 3) & WINDOW_MASK;
	uint32_t len_bytes = (uint32_t)take(input, 2), command = (uint32_t)take(input, 1) << 24;

	rig_tx_put(
		&rig, 0, rig_tx_data(address, len_bytes, command, (uint32_t)take(input, 2) << 4));
	rig_tx_kick(&rig, 0);
}

static void
tx_raw(struct input *input)
{
	union tx_desc desc;

	desc.words.low = take(input, 8);
	desc.words.high = take(input, 8);
	rig_tx_put(&rig, 0, desc);
	rig_tx_kick(&rig, 0);
}

static void
give(struct input *input, unsigned times)
{
	static uint8_t frame[FRAME_MAX_BYTES + 100];
	uint32_t flags = take(input, 1) % 8 == 7 ? FRAME_BAD_CRC : 0;
	uint32_t len_bytes = take_bytes(input, frame, 300), pad = (uint32_t)take(input, 2);

	/* Length comes cheap. */
	pad %= sizeof(frame) - len_bytes;
	memset(frame + len_bytes, 0, pad);
	for (; times > 0 && rig.wire.give.n < GIVE_MAX; times--)
		rig_give(&rig, frame, len_bytes + pad, flags);
}

static void
must(bool what)
{
	if (!what)
		abort();
}

static void
poll_port(unsigned times, unsigned gap_us)
{
	for (; times > 0; times--) {
		must(rig_poll(&rig, 1) <= 2 * FRAME_BURST);
		must(nic_adds_up(&rig.nic, NULL));
		must(rig.nic.packets.used <= PACKET_BUFFER_BYTES);
		while (rig_taken(&rig) != NULL)
			;
		rig.now_ns += (uint64_t)gap_us * 1000;
	}
}

static void
configure_line(struct input *input)
{
	enum line_way way = take(input, 1) % LINE_WAYS;
	struct line_config config = *line_get_config(rig.nic.line, way);
	double *const chances[] = {&config.loss, &config.reorder, &config.duplicate,
		&config.corrupt, &config.bad_crc, &config.bad_cksum, &config.truncate,
		&config.oversize};

	*chances[take(input, 1) % 8] = (double)take(input, 1) / 255;
	config.delay_ns = take(input, 1) * 1000;
	config.reorder_gap = take(input, 1);
	line_configure(rig.nic.line, way, &config);
}

static void
inject(struct input *input)
{
	static const uint64_t times_ns[] = {0, 3000, 100000, 2000000};
	static const uint64_t counts[] = {1, 7, 63, 4096};
	unsigned i = (unsigned)take(input, 1), arg = take(input, 1) % 4, n = 1;
	const struct fault_kind *kind;

	while (fault_kind_at(n) != NULL)
		n++;
	kind = fault_kind_at(i % n);
	rig.nic.now_ns = rig.now_ns;
	kind->inject(&rig.nic,
		kind->arg != NULL && kind->arg->type == PARAM_TIME ? times_ns[arg] : counts[arg]);
}

static void
remap(struct input *input)
{
	uint64_t pages = take(input, 1);

	for (unsigned i = 1; i < RIG_PAGES - 1; i++)
		rig.present[i] = i != RIG_HOLE && (pages >> i & 1);
	nic_remap(&rig.nic);
}

static void
write_any_register(struct input *input)
{
	uint32_t reg = (uint32_t)take(input, 3) % (BAR_BYTES / 4) * 4;

	rig_write(&rig, reg, (uint32_t)take(input, 4));
}

static void
rx_buffer(struct input *input)
{
	union rx_desc *desc = rig_rx_desc(&rig, 0, take(input, 1) % RING);

	*desc = (union rx_desc){.read = {take(input, 3) & WINDOW_MASK, 0}};
}

static void
write_memory(struct input *input)
{
	uint64_t address = RIG_MEMORY_AT + take(input, 2) * 4;

	take_bytes(input, rig_at(&rig, address), 300);
}

static void
give_one(struct input *input)
{
	give(input, 1);
}

static void
give_many(struct input *input)
{
	unsigned times = (unsigned)take(input, 1);

	give(input, times);
}

static void
poll_some(struct input *input)
{
	unsigned times = 1 + take(input, 1) % POLLS_MAX;

	poll_port(times, (unsigned)take(input, 1));
}

static void
set_room(struct input *input)
{
	rig.wire.room = (unsigned)take(input, 1);
}

static void
read_statistics(struct input *input)
{
	stats_reading_began(&rig.nic);
	stats_was_read(&rig.nic, (unsigned)take(input, 1) % 3);
}

static void
refill(struct input *input)
{
	(void)input;
	rig_write(&rig, REG_RDT(0), (rig.nic.rxq[0].ring.head + RING - 1) % RING);
}

/* A record begins with its place here. */
static void (*const records[])(struct input *) = {
	write_register,		 /* one of those that matter, and a value */
	write_any_register,	 /* and a value */
	rx_buffer,		 /* a receive descriptor with an address in the window */
	tx_buffer,		 /* the same to transmit, at the tail */
	tx_raw,			 /* 16 bytes as they are */
	write_memory,		 /* of the driver */
	give_one,		 /* frame */
	give_many,		 /* of the same */
	poll_some,		 /* with more or less time in between */
	set_room,		 /* how many frames the wire takes */
	configure_line,		 /* what it does to frames */
	inject,			 /* a fault of the card */
	remap,			 /* the driver's memory goes, or comes */
	read_statistics, refill, /* the ring as it is */
};

static void
run_record(struct input *input)
{
	records[take(input, 1) % (sizeof(records) / sizeof(records[0]))](input);
}

/* What is undefined ends the run, without being asked. */
const char *
__ubsan_default_options(void)
{
	return "halt_on_error=1:print_stacktrace=1";
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};

	rig_open(&rig, take(&input, 1) & 1);
	rig_rx_start(&rig, 0, RING, 2);
	rig_tx_start(&rig, 0, RING);
	while (input.size > 0)
		run_record(&input);
	poll_port(POLLS_MAX, 10);
	rig_close(&rig);
	return 0;
}
