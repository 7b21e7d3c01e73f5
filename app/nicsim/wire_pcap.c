/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* A wire that plays a capture file, and writes what the port sends into another one. */

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture.h"
#include "error.h"
#include "wire.h"

enum { TIMING_LINE, TIMING_FILE };

struct pcap_config {
	const char *out;
	uint64_t loop, timing;
};

struct pcap_stats {
	struct capture_stats file;
	uint64_t sent; /* by the port */
	uint64_t received;
	uint64_t dropped_bad_crc, dropped_disk;
};

struct pcap_wire {
	struct wire wire;
	struct capture capture; /* what is played */
	struct capture_writer *writer;
	const char *out;
	uint64_t loops, loops_done; /* loops 0: for ever */
	size_t next;		    /* record */
	uint64_t begin_ns;	    /* when the file's first frame is or was due, this time */
	bool honours_time, has_begun;
	struct pcap_stats stats;
};

static const char *const timings[] = {"line", "file", NULL};

static const struct pcap_config defaults = {.loop = 1};

static const struct param params[] = {
	{"out", "FILE", "write what the port sends, as nanosecond pcap", PARAM_TEXT,
		offsetof(struct pcap_config, out), 0, 0, NULL, NULL},
	{"loop", "N", "play the file so many times; 0: for ever (1)", PARAM_UINT,
		offsetof(struct pcap_config, loop), 0, 1e15, NULL, NULL},
	{"timing", "line|file", "as fast as the line is, or as the file's timestamps tell (line)",
		PARAM_CHOICE, offsetof(struct pcap_config, timing), 0, 0, timings, NULL},
	{0},
};

static const struct pw_stat stats[] = {
	PW_STAT_AS("sent", pcap_stats, sent, "frames"),
	PW_STAT_AS("received", pcap_stats, received, "frames"),
	PW_STAT_AS("file_frames", pcap_stats, file.frames, "frames"),
	PW_STAT_AS("file_skipped_short", pcap_stats, file.skipped_short, "frames"),
	PW_STAT_AS("file_skipped_long", pcap_stats, file.skipped_long, "frames"),
	PW_STAT_AS("file_padded", pcap_stats, file.padded, "frames"),
	PW_STAT_AS("file_cut", pcap_stats, file.cut, "frames"),
	PW_STAT(pcap_stats, dropped_bad_crc, "frames"),
	PW_STAT(pcap_stats, dropped_disk, "frames"),
	PW_STAT_END,
};

static void
pcap_wire_close(struct wire *wire)
{
	struct pcap_wire *pcap = (struct pcap_wire *)wire;

	if (pcap->writer != NULL)
		capture_writer_close(pcap->writer, pcap->out);
	capture_free(&pcap->capture);
	free(pcap);
}

static bool
is_one_file(const char *a, const char *b)
{
	struct stat a_stat, b_stat;

	return stat(a, &a_stat) == 0 && stat(b, &b_stat) == 0 && a_stat.st_dev == b_stat.st_dev &&
		a_stat.st_ino == b_stat.st_ino;
}

/* 0, or -1 after an error was printed. */
static int
open_files(struct pcap_wire *pcap, const char *arg, const char *out)
{
	if (arg == NULL && out == NULL) {
		nicsim_error("--wire=pcap: expected a file to play, as in pcap=FILE, or to write, "
			     "as in pcap,out=FILE");
		return -1;
	}
	if (arg != NULL && capture_load(&pcap->capture, arg, &pcap->stats.file) < 0)
		return -1;
	if (arg != NULL && out != NULL && is_one_file(arg, out)) {
		nicsim_error("--wire=pcap=%s,out=%s: it cannot be read and written", arg, out);
		return -1;
	}
	if (out != NULL) {
		pcap->out = out;
		pcap->writer = capture_writer_open(out);
		if (pcap->writer == NULL)
			return -1;
	}
	return 0;
}

static struct wire *
pcap_wire_open(const struct wire_context *context, const char *arg, const void *config)
{
	const struct pcap_config *wanted = config;
	struct pcap_wire *pcap = calloc(1, sizeof(*pcap));

	(void)context;
	if (pcap == NULL) {
		nicsim_error("--wire=pcap: no memory");
		return NULL;
	}
	pcap->wire.kind = &wire_pcap;
	pcap->loops = wanted->loop;
	pcap->honours_time = wanted->timing == TIMING_FILE;
	if (open_files(pcap, arg, wanted->out) < 0) {
		pcap_wire_close(&pcap->wire);
		return NULL;
	}
	return &pcap->wire;
}

static bool
pcap_wire_is_done(const struct wire *wire)
{
	const struct pcap_wire *pcap = (const struct pcap_wire *)wire;

	return pcap->capture.nb_records == 0 ||
		(pcap->loops > 0 && pcap->loops_done >= pcap->loops);
}

/* The next record, from the first again after the last. */
static void
step(struct pcap_wire *pcap)
{
	const struct capture *capture = &pcap->capture;

	if (++pcap->next < capture->nb_records)
		return;
	pcap->begin_ns += capture->records[capture->nb_records - 1].after_ns;
	pcap->next = 0;
	pcap->loops_done++;
}

static unsigned
pcap_wire_receive(struct wire *wire, uint64_t now_ns, struct frame *frames, unsigned n)
{
	struct pcap_wire *pcap = (struct pcap_wire *)wire;
	const struct capture_record *record;
	unsigned i;

	if (!pcap->has_begun)
		pcap->begin_ns = now_ns;
	pcap->has_begun = true;
	for (i = 0; i < n && !pcap_wire_is_done(wire); i++) {
		record = &pcap->capture.records[pcap->next];
		if (pcap->honours_time && now_ns - pcap->begin_ns < record->after_ns)
			break;
		frames[i] = (struct frame){pcap->capture.bytes + record->at, record->len_bytes, 0};
		step(pcap);
	}
	pcap->stats.received += i;
	return i;
}

static void
pcap_wire_send(struct wire *wire, uint64_t now_ns, const struct frame *frames, unsigned n)
{
	struct pcap_wire *pcap = (struct pcap_wire *)wire;

	pcap->stats.sent += n;
	if (pcap->writer == NULL)
		return;
	for (unsigned i = 0; i < n; i++)
		if (frames[i].flags & FRAME_BAD_CRC)
			pcap->stats.dropped_bad_crc++;
		else if (capture_write(pcap->writer, now_ns, &frames[i]) < 0)
			pcap->stats.dropped_disk++;
}

static const char *
pcap_wire_verdict(const struct wire *wire)
{
	const struct pcap_wire *pcap = (const struct pcap_wire *)wire;

	return pcap->stats.dropped_disk > 0 ? "the capture file could not be written" : NULL;
}

static const void *
pcap_wire_get_stats(struct wire *wire)
{
	return &((struct pcap_wire *)wire)->stats;
}

const struct wire_kind wire_pcap = {
	.name = "pcap",
	.arg = "[FILE]",
	.help = "plays a capture file, and writes another one",
	.params = params,
	.defaults = &defaults,
	.config_bytes = sizeof(defaults),
	.open = pcap_wire_open,
	.receive = pcap_wire_receive,
	.send = pcap_wire_send,
	.is_done = pcap_wire_is_done,
	.verdict = pcap_wire_verdict,
	.stats = stats,
	.get_stats = pcap_wire_get_stats,
	.close = pcap_wire_close,
};
