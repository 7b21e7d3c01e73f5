# SPDX-License-Identifier: BSD-3-Clause
"""The experiment sizes with --on: TCP_STREAM for message sizes, over a cable (2009)."""

import pwlab
from pwlab import cable, counters, lab
from pwlab.lab import Metric

SIZES = [64, 128, 256, 1024, 2048, 3312, 4096, 6144, 8192, 10240, 12288, 14336, 16384]
QUICK = [64, 2048, 16384]
END_S = 20  # the generator gives its streams 15 s to end

METRICS = [
    Metric("goodput", "goodput", "10^6bits/s", 0, "more",
           lambda r: r["tcp"]["in_bytes"] * 8 / r["seconds"] / 1e6),
    *counters.cost_metrics("byte", lambda r: r["tcp"]["in_bytes"], 4),
    *counters.POOL_METRICS,
]


class Sizes(cable.Cable):
    """Port 1 writes messages of a size, a call each; port 0 reads them into memory of its own."""

    metrics = METRICS
    rows_are = "message bytes"
    strategies = ["order0", "order3", "cached", "reuse"]

    @staticmethod
    def add_options(parser):
        cable.Cable.add_options(parser)
        parser.add_argument("--sizes", type=lab.parse_list(lab.bounded(1, 65536), "sizes"),
                            metavar="LIST", help="bytes of a message (default those of 2009: 64 to "
                                                 "16384, with --quick 64,2048,16384)")
        parser.add_argument("--connections", type=lab.bounded(1, 1000), metavar="N", default=1,
                            help="that send (default %(default)s)")

    def __init__(self, args, progress):
        super().__init__(args, progress)
        self.sizes = args.sizes or (QUICK if args.quick else SIZES)
        self.rows = [f"{size}" for size in self.sizes]
        self.title = f"TCP_STREAM, {args.connections} at a time, {args.seconds} s a measurement"

    def environment(self):
        return super().environment() | {"connections": self.args.connections}

    def client(self, row):
        return (self.connect(9), f"--message-bytes={self.sizes[row]}",
                f"--connections={self.args.connections}", "--listen=discard", "--discard-copy")

    def check(self, row, wheel, run):
        """All streams end in order."""
        if wheel.wait_for("tcp", lambda tcp: tcp["curr_estab"] == 0, END_S) is None:
            raise pwlab.LabError("streams did not end")
        sent, got = wheel.stats("tcp/client"), wheel.stats("tcp")
        if sent["cut_off"] or sent["out_bytes"] != got["in_bytes"]:
            raise pwlab.LabError(f"{sent['out_bytes']} bytes sent, {got['in_bytes']} received, "
                                 f"{sent['cut_off']} connections did not end in order")
