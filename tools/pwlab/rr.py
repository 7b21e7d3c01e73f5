# SPDX-License-Identifier: BSD-3-Clause
"""The experiment rr: requests and replies over a cable (2009).

Each transaction passes driver, card and stack four times.
"""

import pwlab
from pwlab import cable, counters, lab
from pwlab.lab import Metric

# What pagewheel's generator does, and the service's port.
TESTS = {"tcp_rr": ("rr", 5000), "tcp_crr": ("crr", 5000), "udp_rr": ("udp_rr", 7)}
SERVICES = ("--listen=rr", "--listen=echo")

METRICS = [
    Metric("rate", "transactions", "1/s", 0, "more",
           lambda r: r["transactions"] / r["seconds"]),
    Metric("timeouts", "without a reply", "", 0, "less", lambda r: r["client"]["timeouts"]),
    Metric("p50", "latency, p50", "us", 1, "less", lambda r: r["client"]["latency_p50_ns"] / 1e3),
    Metric("p99", "latency, p99", "us", 1, "less", lambda r: r["client"]["latency_p99_ns"] / 1e3),
    Metric("p999", "latency, p99.9", "us", 1, "less",
           lambda r: r["client"]["latency_p999_ns"] / 1e3),
    *counters.cost_metrics("transaction", lambda r: r["transactions"], 0),
    *counters.POOL_METRICS,
]


class RoundTrip(cable.Cable):
    """Port 1 asks, port 0 answers."""

    metrics = METRICS
    rows_are = "test"

    @staticmethod
    def add_options(parser):
        cable.Cable.add_options(parser)
        parser.add_argument("--tests", type=lab.parse_list(lab.choice(*TESTS), "tests"),
                            metavar="LIST", default=["tcp_rr", "udp_rr"],
                            help=f"some of {', '.join(TESTS)} (default tcp_rr,udp_rr)")
        parser.add_argument("--connections", type=lab.bounded(1, 65536), metavar="N", default=1,
                            help="that ask at the same time (default %(default)s)")
        for what in ("request", "reply"):
            parser.add_argument(f"--{what}-bytes", type=lab.bounded(1, 1400), metavar="BYTES",
                                default=1, help=f"of a {what}, of udp_rr as its request (default "
                                                "%(default)s)")

    def __init__(self, args, progress):
        super().__init__(args, progress)
        self.rows = args.tests
        self.title = (f"requests of {args.request_bytes} and replies of {args.reply_bytes} bytes, "
                      f"{args.connections} at a time, {args.seconds} s a measurement")

    def environment(self):
        return super().environment() | {
            "connections": self.args.connections, "request_bytes": self.args.request_bytes,
            "reply_bytes": self.args.reply_bytes}

    def client(self, row):
        app, port = TESTS[self.rows[row]]
        return (self.connect(port), f"--connect-app={app}",
                f"--connections={self.args.connections}",
                f"--request-bytes={self.args.request_bytes}",
                f"--reply-bytes={self.args.reply_bytes}", *SERVICES)

    def check(self, row, wheel, run):
        run["transactions"] = run["tcp/client"]["transactions"]
        if run["transactions"] == 0:
            raise pwlab.LabError("no transactions")
