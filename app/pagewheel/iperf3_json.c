/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The texts of iperf3: what the client asks for, and what we have seen. */

#include <stdlib.h>

#include "iperf3.h"

#define TIME_MAX_S 86400
#define OMIT_MAX_S 600
#define LEN_MAX_BYTES (1 << 20)
#define DEFAULT_LEN_BYTES (128 << 10)
#define DATAGRAM_MIN_BYTES 16
#define DATAGRAM_MAX_BYTES 65507
#define DEFAULT_DATAGRAM_BYTES 1448
#define RATE_MAX_BITS 1e13

/* A number of the object in these bounds; 0 where there is none. */
static bool
read_number(const json_t *json, const char *key, double max, double *number)
{
	const json_t *value = json_object_get(json, key);

	*number = 0;
	if (value == NULL)
		return true;
	*number = json_number_value(value);
	return json_is_number(value) && *number >= 0 && *number <= max;
}

static bool
read_flag(const json_t *json, const char *key)
{
	const json_t *value = json_object_get(json, key);

	return json_is_true(value) || (json_is_number(value) && json_number_value(value) != 0);
}

static bool
read_length(const json_t *json, struct pw_iperf3_params *params)
{
	double len;

	if (!read_number(json, "len", params->udp ? DATAGRAM_MAX_BYTES : LEN_MAX_BYTES, &len))
		return false;
	params->len_bytes = len;
	if (params->len_bytes == 0)
		params->len_bytes = params->udp ? DEFAULT_DATAGRAM_BYTES : DEFAULT_LEN_BYTES;
	return !params->udp || params->len_bytes >= DATAGRAM_MIN_BYTES;
}

bool
pw_iperf3_read_params(const json_t *json, struct pw_iperf3_params *params)
{
	double parallel, time_s, omit_s, rate;

	if (!json_is_object(json) || read_flag(json, "sctp") || read_flag(json, "mptcp"))
		return false;
	params->udp = read_flag(json, "udp");
	params->reverse = read_flag(json, "reverse");
	params->bidir = read_flag(json, "bidirectional");
	params->counters64 = read_flag(json, "udp_counters_64bit");
	if (!read_number(json, "parallel", PW_IPERF3_PARALLEL_MAX, &parallel) ||
		!read_number(json, "time", TIME_MAX_S, &time_s) ||
		!read_number(json, "omit", OMIT_MAX_S, &omit_s) ||
		!read_number(json, "bandwidth", RATE_MAX_BITS, &rate) ||
		!read_length(json, params) || (params->reverse && params->bidir))
		return false;
	params->parallel = parallel < 1 ? 1 : parallel;
	params->time_s = time_s;
	params->omit_s = omit_s;
	params->rate_bits = rate;
	return true;
}

/* The client numbers its streams 1, 3, 4, 5, ... */
static int
id_of(unsigned index)
{
	return index == 0 ? 1 : index + 2;
}

static json_t *
make_stream(unsigned index, double seconds)
{
	const struct pw_iperf3_stream *s = &pw_iperf3.streams[index];
	bool has_retrans = s->sends && !pw_iperf3.params.udp;
	json_int_t retrans = has_retrans ? (json_int_t)(s->count.retrans - s->omitted.retrans) : -1;

	return json_pack("{s:i,s:I,s:I,s:f,s:I,s:I,s:I,s:I,s:f,s:f}", "id", id_of(index), "bytes",
		(json_int_t)(s->count.bytes - s->omitted.bytes), "retransmits", retrans, "jitter",
		s->jitter_us / 1e6, "errors", (json_int_t)s->count.lost, "omitted_errors",
		(json_int_t)s->omitted.lost, "packets", (json_int_t)s->count.packets,
		"omitted_packets", (json_int_t)s->omitted.packets, "start_time", 0.0, "end_time",
		seconds);
}

char *
pw_iperf3_results(const double cpu_percent[2])
{
	bool sends = pw_iperf3.params.reverse || pw_iperf3.params.bidir;
	double seconds = (pw_iperf3.end_us - pw_iperf3.start_us) / 1e6;
	json_t *streams = json_array();
	char *text;
	json_t *json;

	for (unsigned i = 0; i < pw_iperf3_streams_expected(); i++)
		json_array_append_new(streams, make_stream(i, seconds));
	json = json_pack("{s:f,s:f,s:f,s:i,s:o}", "cpu_util_total", cpu_percent[0] + cpu_percent[1],
		"cpu_util_user", cpu_percent[0], "cpu_util_system", cpu_percent[1],
		"sender_has_retransmits",
		sends && !pw_iperf3.params.udp ? 1
			: sends		       ? 0
					       : -1,
		"streams", streams);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	return text;
}
