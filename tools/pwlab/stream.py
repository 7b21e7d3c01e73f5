# SPDX-License-Identifier: BSD-3-Clause
"""The experiment stream: TCP_STREAM received by pagewheel, for each recycling strategy (2012)."""

import time

import pwlab
from pwlab import counters, lab, linux
from pwlab.lab import Metric

BYTES_MIN = 16 << 20  # less is over before it can be measured
MIB = 1 << 20
LINUX = "linux"

METRICS = [
    *counters.cost_metrics("byte", lambda r: r["bytes"], 4),
    Metric("goodput", "goodput", "Gbit/s", 2, "more",
           lambda r: r["bytes"] * 8 / r["seconds"] / 1e9),
    Metric("buffers_alone", "buffers alone", "cycles/packet", 0, "less",
           lambda r: r["buffers_alone"]),
    Metric("packets", "packets", "", 0, "neither", lambda r: r["gro"]["rx_packets"]),
    Metric("merged", "merged", "%", 1, "neither",
           lambda r: 100 * r["gro"]["merged"] / r["gro"]["rx_packets"]),
    *counters.POOL_METRICS,
    *counters.NICSIM_METRICS,
    Metric("retransmitted", "retransmitted", "segments", 0, "neither",
           lambda r: r["nicsim"]["wire"]["counters"]["retransmitted"]),
]


class Stream(lab.Experiment):
    """A stream of a known length for each measurement, into a new pagewheel."""

    metrics = METRICS

    @staticmethod
    def add_options(parser):
        parser.add_argument("--flows", type=lab.parse_count, metavar="N", default=8,
                            help="connections of nicsim's senders at a time (default %(default)s)")
        parser.add_argument("--rate", type=lab.parse_list(lab.parse_rate, "rates"), default=None,
                            metavar="RATE,RATE", help="of nicsim's line: 10G is the card's, max as "
                            "fast as both ends can (default 10G,max, with --quick 10G)")
        parser.add_argument("--bytes", type=lab.parse_size(BYTES_MIN), default=None, metavar="SIZE",
                            help="sent in each measurement, as in 512M, 2G (default 2G, with "
                                 "--quick 256M)")
        parser.add_argument("--sender", type=lab.choice("place", "iperf3"), default="place",
                            metavar="NAME", help="place: the place's own, nicsim's TCP or Linux's nc; "
                            "iperf3: Linux's, one stream (default %(default)s)")
        parser.add_argument("--split", action="store_true",
                            help="let one lcore receive, and another one do the rest: best with three "
                                 "CPUs, four with nicsim's")
        parser.add_argument("--copied", action="store_true",
                            help="let the reader copy the data into memory of its own, as read() does")
        parser.add_argument("--linux", action="store_true",
                            help="measure Linux's own TCP too, as one more column: iperf3 through a "
                                 "veth pair, GSO and TSO off, GRO on")

    def __init__(self, args, progress):
        super().__init__(args, progress)
        if args.sender not in args.place.senders:
            raise pwlab.LabError(f"--sender={args.sender}: on a bound NIC the sender is yours: leave "
                                 "it out")
        if args.rate is None:
            args.rate = ["10G"] if args.quick else ["10G", "max"]
        args.bytes = args.bytes or (256 * MIB if args.quick else 2048 * MIB)
        args.bytes -= args.bytes % args.flows
        paced = args.on == "nicsim" and args.sender == "place"
        self.rates = args.rate if paced else ["max"]
        self.rows = [f"line at {rate}" if rate != "max" else "unpaced" for rate in self.rates]
        self.rows_are = "line"
        self.columns = args.strategies + [LINUX] * args.linux
        self.title = f"TCP_STREAM, {args.bytes // MIB} MiB a measurement"
        self.options = (["--stage-cycles"] * args.stages + ["--discard-copy"] * args.copied +
                        ["--split"] * args.split + [f"--total-num-mbufs={args.mbufs}"])

    def environment(self):
        return {"bytes": self.args.bytes,
                "sender": self.args.place.sender if self.args.sender == "place" else "iperf3",
                "reader": "copies" if self.args.copied else "drops",
                "lcores": "one receives, one does the rest" if self.args.split else "one"}

    def __enter__(self):
        self.args.place.__enter__()
        return self

    def __exit__(self, *args):
        self.args.place.__exit__(*args)

    def measure(self, row, column, title):
        self.progress(f"{title}: starting")
        if self.columns[column] == LINUX:
            return self.measure_linux()
        strategy = f"--strategy={self.columns[column]}"
        with self.args.place.wheel(strategy, *self.options, rate=self.rates[row]) as wheel:
            self.look(wheel)
            run = self.transfer(wheel, title)
            if wheel.stop() != 0:
                raise pwlab.LabError(f"{title}: pagewheel failed:\n{wheel.log}")
        run["buffers_alone"] = self.measure_pool(strategy)
        return run

    def transfer(self, wheel, title):
        """Let the stream be sent; returns the counters it moved, bytes and seconds."""
        before = counters.read(wheel, self.args.stages)
        seconds, more = self.args.place.send(wheel, self.args.bytes, title, self.progress,
                                             self.args.sender)
        run = counters.difference(counters.read(wheel, self.args.stages), before) | more
        run["seconds"] = seconds
        received = run["tcp"]["in_bytes"]
        # iperf3 tells itself what arrived: its talk about the test came here as well.
        if "bytes" not in run and received != self.args.bytes:
            raise pwlab.LabError(f"{title}: {self.args.bytes} bytes sent, {received} received")
        run.setdefault("bytes", received)
        counters.check_buffers(wheel, title, self.args.place.posted)
        return run

    def measure_pool(self, strategy):
        """What getting and freeing a buffer costs, and little else: packets made of nothing."""
        with pwlab.Pagewheel(pwlab.NoLab, self.args.pagewheel, strategy, mode="io",
                             vdev="net_null0,size=64") as wheel:
            time.sleep(0.1)
            before = wheel.stats("lcores")
            time.sleep(0.5)
            # Put off by others, it may need longer to see a packet.
            after = wheel.wait_for("lcores", lambda now: now["rx_packets"] > before["rx_packets"])
            if after is None:
                raise pwlab.LabError(f"{strategy}: no packet on net_null within 5 s")
            if wheel.stop() != 0:
                raise pwlab.LabError(f"pagewheel failed on net_null:\n{wheel.log}")
        return ((after["busy_cycles"] - before["busy_cycles"]) /
                (after["rx_packets"] - before["rx_packets"]))

    def measure_linux(self):
        with linux.LinuxTcp() as peers:
            rate = peers.measure(self.args.bytes, self.args.timeout)
        return {"bytes": self.args.bytes, "seconds": self.args.bytes * 8 / rate}
