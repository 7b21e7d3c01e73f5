# SPDX-License-Identifier: BSD-3-Clause
"""The experiments udp and forward: packets that leave pages no chance to be merged or kept hot by TCP.

In 2012 they were to show that reuse does not cost where it cannot help.
"""

import time

import pwlab
from pwlab import counters, lab, traffic
from pwlab.lab import Metric

WARM_UP_S = 0.2

METRICS = [
    *counters.cost_metrics("packet", lambda r: r["lcores"]["rx_packets"], 1),
    Metric("rate", "received", "Mpps", 3, "more",
           lambda r: r["lcores"]["rx_packets"] / r["seconds"] / 1e6),
    Metric("lost", "lost before that", "%", 2, "less", lambda r: r["lost_percent"]),
    Metric("burst", "packets a poll", "", 1, "neither",
           lambda r: r["lcores"]["rx_packets"] / r["lcores"]["busy_polls"]),
    *counters.POOL_METRICS,
    *counters.NICSIM_METRICS,
]


class Packets(lab.Experiment):
    """What both do: frames come for some seconds, and all are accounted for."""

    metrics = METRICS
    rows_are = "frame with CRC"
    ports = 1
    groups = ("lcores", "pool")

    @staticmethod
    def add_options(parser):
        parser.add_argument("--sizes", type=lab.parse_list(lab.bounded(64, 9018), "sizes"),
                            metavar="LIST", default=[64, 1518],
                            help="of frames with CRC, in bytes (default 64,1518)")
        parser.add_argument("--rate", type=lab.parse_rate, default="max",
                            help="of nicsim's line: 10G is the card's, max what the port has "
                                 "descriptors for (default %(default)s)")
        parser.add_argument("--flows", type=lab.bounded(1, 65536), metavar="N", default=8,
                            help="of nicsim's generator (default %(default)s)")
        parser.add_argument("--seconds", type=lab.parse_seconds, default=None, metavar="SECONDS",
                            help="of a measurement (default 2, with --quick 0.5)")
        parser.add_argument("--sender", type=lab.choice(*traffic.SENDERS), metavar="NAME",
                            help="gen: nicsim's; testpmd-txonly, testpmd-flowgen: dpdk-testpmd "
                                 "behind Linux's end of veth or of nicsim's wire (default gen on "
                                 "nicsim, testpmd-txonly on veth)")

    def __init__(self, args, progress):
        super().__init__(args, progress)
        args.seconds = args.seconds or (0.5 if args.quick else 2)
        self.source = traffic.make(args)
        self.columns = args.strategies
        self.rows = [f"{size} bytes" for size in args.sizes]
        self.title = f"{self.name}, {args.seconds:g} s a measurement"

    def environment(self):
        return {"sender": self.source.title,
                "rate": self.args.rate, "flows": self.args.flows}

    def measure(self, row, column, title):
        self.progress(f"{title}: {self.args.seconds:g} s")
        size = self.args.sizes[row]
        options = [f"--strategy={self.columns[column]}", f"--total-num-mbufs={self.args.mbufs}",
                   *["--stage-cycles"] * self.args.stages, *self.options()]
        more = {"rate": self.args.rate} if isinstance(self.source, traffic.Generator) else {}
        with self.source.wheel(*options, mode=self.mode(), size=size, ports=self.ports,
                               **more) as wheel:
            self.look(wheel)
            run = self.run(wheel, title)
            if wheel.stop() != 0:
                raise pwlab.LabError(f"{title}: pagewheel failed:\n{wheel.log}")
        return run

    def run(self, wheel, title):
        """Let frames come for a while, and look in the middle of it."""
        self.source.start()
        time.sleep(WARM_UP_S)
        before = counters.read(wheel, self.args.stages, self.groups)
        begin = time.monotonic()
        time.sleep(self.args.seconds)
        after = counters.read(wheel, self.args.stages, self.groups)
        run = counters.difference(after, before) | {"seconds": time.monotonic() - begin}
        sent = self.source.stop()
        traffic.wait_until_quiet(wheel)
        self.check(wheel, sent, title)
        lost = self.source.lost()
        run["lost_percent"] = 100 * lost / sent if sent else 0
        if self.source.card is not None:
            run["nicsim"] = self.source.card.stats()["ports"][0]
        return run

    def check(self, wheel, sent, title):
        """Every frame sent was lost by name, or received; every buffer is back."""
        received = wheel.stats("lcores")["rx_packets"]
        if received == 0:
            raise pwlab.LabError(f"{title}: nothing was received")
        if sent is not None and received + self.source.lost() != sent:
            raise pwlab.LabError(f"{title}: {sent} frames sent, {received} received, "
                                 f"{self.source.lost()} lost before that")
        self.check_taken(wheel, received, title)
        counters.check_buffers(wheel, title, self.posted())

    def posted(self):
        return self.args.place.posted * self.ports


class Udp(Packets):
    """UDP received by the service discard: nothing to merge, buffers freed one by one."""

    name = "UDP received"
    groups = ("lcores", "pool", "inet")

    @staticmethod
    def add_options(parser):
        Packets.add_options(parser)
        parser.add_argument("--copied", action="store_true",
                            help="let the reader copy the data into memory of its own, as read() does")

    def mode(self):
        return "tcp"

    def options(self):
        return ["--listen=discard"] + ["--discard-copy"] * self.args.copied

    def check_taken(self, wheel, received, title):
        """testpmd's flowgen sends to others, and Linux may say a word of its own."""
        inet = wheel.stats("inet")
        if isinstance(self.source, traffic.Generator) and (
                inet["rx_udp"] != received or inet["rx_no_port"] != 0):
            raise pwlab.LabError(f"{title}: {received} packets, of which {inet['rx_udp']} are UDP "
                                 f"and {inet['rx_no_port']} for no service")


class Forward(Packets):
    """From one port to another."""

    name = "forwarded"
    ports = 2

    @staticmethod
    def add_options(parser):
        Packets.add_options(parser)
        parser.add_argument("--mode", type=lab.choice("mac", "io"), default="mac", metavar="MODE",
                            help="mac: write both Ethernet addresses, as a router does; io: as they "
                                 "are (default %(default)s)")

    def mode(self):
        return self.args.mode

    def options(self):
        return []

    def check_taken(self, wheel, received, title):
        """What is sent out is right, and no more than was received."""
        sent_out = self.source.came_back()
        if sent_out is not None and not 0 < sent_out <= received:
            raise pwlab.LabError(f"{title}: {received} packets received, {sent_out} sent out")
