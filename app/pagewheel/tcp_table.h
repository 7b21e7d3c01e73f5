/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef TCP_TABLE_H
#define TCP_TABLE_H

/** @file The connections of all stacks, as a table and by telemetry. -ENOENT: the mode is another.
 */

#include <stdint.h>

struct pw_app;
struct rte_tel_data;

/** Print a table, of a bounded number of connections. */
int pw_tcp_table_print(const struct pw_app *app);

/** Put the numbers of connections into an array, from one on, as many as it holds. */
int pw_tcp_table_list(const struct pw_app *app, uint32_t first, struct rte_tel_data *data);

/** Put what is known of a connection into a dictionary. -ENOENT also: there is no such one. */
int pw_tcp_table_tell(const struct pw_app *app, uint32_t id, struct rte_tel_data *data);

#endif
