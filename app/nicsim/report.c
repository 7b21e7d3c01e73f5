/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "error.h"

static json_t *
counters_json(const struct pw_stat *table, const void *stats)
{
	json_t *json = json_object();

	for (; table != NULL && stats != NULL && table->name != NULL; table++)
		json_object_set_new(
			json, table->name, json_integer((json_int_t)pw_stat_value(table, stats)));
	return json;
}

static double
cycles_per_frame(uint64_t cycles, uint64_t frames)
{
	return frames == 0 ? 0 : (double)cycles / (double)frames;
}

/* Each queue that moved a frame. */
static json_t *
queues_json(const struct nic *nic)
{
	json_t *rx = json_object(), *tx = json_object();
	char name[8];

	for (unsigned q = 0; q < NB_QUEUES; q++) {
		snprintf(name, sizeof(name), "%u", q);
		if (nic->rxq[q].frames > 0)
			json_object_set_new(rx, name, json_integer((json_int_t)nic->rxq[q].frames));
		if (nic->txq[q].frames > 0)
			json_object_set_new(tx, name, json_integer((json_int_t)nic->txq[q].frames));
	}
	return json_pack("{s:o, s:o}", "rx", rx, "tx", tx);
}

static json_t *
wire_json(const struct wire *wire)
{
	const char *verdict = wire->kind->verdict == NULL ? NULL : wire->kind->verdict(wire);
	const void *stats = wire->kind->get_stats == NULL
		? NULL
		: wire->kind->get_stats((struct wire *)(uintptr_t)wire);

	return json_pack("{s:s, s:b, s:s?, s:o}", "kind", wire->kind->name, "done",
		wire->kind->is_done != NULL && wire->kind->is_done(wire), "wrong", verdict,
		"counters", counters_json(wire->kind->stats, stats));
}

static json_t *
port_json(const struct sim *sim, unsigned i)
{
	const struct nic *nic = &sim->nics[i];
	int64_t left;
	bool adds_up = nic_adds_up(nic, &left);

	return json_pack("{s:s, s:b, s:b, s:b, s:I, s:f, s:f, s:o, s:o, s:{s:o, s:o}, s:o}",
		"address", sim->ports[i].address, "link_up", nic->link_up, "idle", nic_is_idle(nic),
		"adds_up", adds_up, "unaccounted", (json_int_t)left, "rx_cycles_per_frame",
		cycles_per_frame(nic->rx_cycles, nic->counters.rx_frames), "tx_cycles_per_frame",
		cycles_per_frame(nic->tx_cycles, nic->counters.tx_frames), "nic",
		counters_json(nic_counters_table, &nic->counters), "queues", queues_json(nic),
		"line", "rx", counters_json(line_stats_table, line_get_stats(nic->line, LINE_RX)),
		"tx", counters_json(line_stats_table, line_get_stats(nic->line, LINE_TX)), "wire",
		wire_json(sim->wires[i]));
}

static double
busy_percent(const struct sim *sim)
{
	return sim->cycles == 0 ? 0 : 100 * (double)sim->busy_cycles / (double)sim->cycles;
}

json_t *
report_json(const struct sim *sim)
{
	json_t *ports = json_array();

	for (unsigned i = 0; i < sim->nb_ports; i++)
		json_array_append_new(ports, port_json(sim, i));
	return json_pack("{s:f, s:b, s:I, s:o}", "busy_percent", busy_percent(sim), "application",
		watch_is_used(&sim->watch), "dma_misses", (json_int_t)sim->dma.misses, "ports",
		ports);
}

static void
print_counters(FILE *out, const char *title, const struct pw_stat *table, const void *stats)
{
	unsigned column = 0;

	for (; table != NULL && stats != NULL && table->name != NULL; table++) {
		uint64_t value = pw_stat_value(table, stats);

		if (value == 0)
			continue;
		if (column == 0)
			fprintf(out, "  %-8s", title);
		else if (column % 5 == 0)
			fprintf(out, "\n          ");
		fprintf(out, " %s %" PRIu64, table->name, value);
		column++;
	}
	if (column > 0)
		fprintf(out, "\n");
}

static void
print_port(FILE *out, const struct sim *sim, unsigned i)
{
	const struct nic *nic = &sim->nics[i];
	struct wire *wire = sim->wires[i];
	int64_t left;

	fprintf(out, "nicsim port %u (%s), wire %s:\n", i, sim->ports[i].address, wire->kind->name);
	print_counters(out, "line rx", line_stats_table, line_get_stats(nic->line, LINE_RX));
	print_counters(out, "nic", nic_counters_table, &nic->counters);
	print_counters(out, "line tx", line_stats_table, line_get_stats(nic->line, LINE_TX));
	if (wire->kind->get_stats != NULL)
		print_counters(out, "wire", wire->kind->stats, wire->kind->get_stats(wire));
	if (!nic_adds_up(nic, &left))
		fprintf(out, "  %" PRId64 " frames are unaccounted for: this is a bug of nicsim\n",
			left);
	if (wire->kind->verdict != NULL && wire->kind->verdict(wire) != NULL)
		fprintf(out, "  wrong: %s\n", wire->kind->verdict(wire));
	fprintf(out, "  the model's own cost: %.0f cycles a frame received, %.0f a frame sent\n",
		cycles_per_frame(nic->rx_cycles, nic->counters.rx_frames),
		cycles_per_frame(nic->tx_cycles, nic->counters.tx_frames));
}

void
report_print(FILE *out, const struct sim *sim)
{
	for (unsigned i = 0; i < sim->nb_ports; i++)
		print_port(out, sim, i);
	fprintf(out, "nicsim was busy %.1f %% of its time\n", busy_percent(sim));
}

int
report_write(const struct sim *sim)
{
	json_t *json;
	int rc;

	if (sim->json == NULL)
		return 0;
	json = report_json(sim);
	rc = json == NULL
		? -1
		: json_dump_file(json, sim->json, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	json_decref(json);
	if (rc < 0) {
		nicsim_error("--json=%s: cannot be written", sim->json);
		return -EIO;
	}
	return 0;
}
