# SPDX-License-Identifier: BSD-3-Clause
"""What pagewheel counts, as a run's difference, and the figures that all experiments show of it."""

import pwlab
from pwlab.lab import Metric

GROUPS = ("lcores", "gro", "pool", "tcp")
STAGES = ("driver", "pool", "gro", "inet", "tcp", "reader", "other")


def read(wheel, stages, groups=GROUPS):
    """Groups of counters; those of the stages if they are counted."""
    return {group: wheel.stats(group) for group in groups + ("stages",) * stages}


def difference(after, before):
    """What a run added. The pool's gauges are those of its end: each run has a new pool."""
    delta = {group: {key: value - before[group][key] for key, value in values.items()}
             for group, values in after.items()}
    delta["pool"] = after["pool"]
    return delta


def percent(run, part, whole):
    """Of the lcores' cycles; there are those of lcores that only receive with --split."""
    return 100 * run["lcores"][part] / run["lcores"][whole]


def cost_metrics(unit, pieces, digits):
    """Busy cycles for each of so many pieces, and what stages have of them."""
    return [
        Metric("cost", "cost", f"cycles/{unit}", digits, "less",
               lambda r: r["lcores"]["busy_cycles"] / pieces(r)),
        Metric("busy", "busy", "%", 1, "less",
               lambda r: percent(r, "busy_cycles", "cycles")),
        Metric("receiving_busy", "receiving lcore busy", "%", 1, "neither",
               lambda r: percent(r, "receiving_busy_cycles", "receiving_cycles")),
        *(Metric(f"stage_{stage}", f"  of the cost {stage}", f"cycles/{unit}", digits, "neither",
                 lambda r, stage=stage: r["stages"][stage] / pieces(r)) for stage in STAGES),
    ]


POOL_METRICS = [
    Metric("in_place", "in place", "%", 1, "neither",
           lambda r: 100 * r["pool"]["reuses"] / r["pool"]["gets"]),
    Metric("pages_touched", "pages touched", "", 0, "neither",
           lambda r: r["pool"]["pages_touched"]),
    Metric("memory_held", "memory held", "KiB", 0, "neither",
           lambda r: r["pool"]["pages_held_max"] * r["pool"]["page_bytes"] / 1024),
    Metric("memory_pool", "pool", "KiB", 0, "neither",
           lambda r: r["pool"]["pages"] * r["pool"]["page_bytes"] / 1024),
]

NICSIM_METRICS = [
    Metric("card_rx", "nicsim's own, rx", "cycles/frame", 0, "neither",
           lambda r: r["nicsim"]["rx_cycles_per_frame"]),
    Metric("card_tx", "nicsim's own, tx", "cycles/frame", 0, "neither",
           lambda r: r["nicsim"]["tx_cycles_per_frame"]),
    Metric("missed", "missed", "frames", 0, "neither",
           lambda r: r["nicsim"]["nic"]["rx_missed"]),
]


def check_buffers(wheel, title, posted):
    """All buffers but those of the port's rings must be back; waits for the last ones."""
    pool = wheel.wait_for("pool", lambda p: p["free"] >= p["objects"] - posted)
    if pool is None:
        pool = wheel.stats("pool")
        raise pwlab.LabError(f"{title}: {pool['objects'] - pool['free']} buffers are in use, "
                             f"expected at most {posted}")
