# SPDX-License-Identifier: BSD-3-Clause
"""The experiment rr: requests and replies over a cable between two ports of one pagewheel (2009).

One lcore polls both ports: port 1 asks, port 0 answers, and each transaction passes driver, card and
stack four times.
"""

import contextlib
import subprocess

import pwlab
from pwlab import counters, lab, nicsim, places
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


class CableLab(pwlab.Lab):
    """Both ends of a veth pair in one namespace."""

    def __enter__(self):
        super().__enter__()
        subprocess.run(["ip", "-n", self.peer, "link", "set", pwlab.PEER_DEV, "netns", self.dut],
                       check=True)
        for dev in (pwlab.DUT_DEV, pwlab.PEER_DEV):
            subprocess.run(["ip", "-n", self.dut, "link", "set", dev, "up"], check=True)
        return self

    vdevs = (pwlab.VETH, f"net_af_packet1,iface={pwlab.PEER_DEV},framecnt=4096")


class RoundTrip(lab.Experiment):
    """A pagewheel of its own for each measurement."""

    metrics = METRICS
    rows_are = "test"

    @staticmethod
    def add_options(parser):
        parser.add_argument("--tests", type=lab.parse_list(lab.choice(*TESTS), "tests"),
                            metavar="LIST", default=["tcp_rr", "udp_rr"],
                            help=f"some of {', '.join(TESTS)} (default tcp_rr,udp_rr)")
        parser.add_argument("--connections", type=lab.bounded(1, 65536), metavar="N", default=1,
                            help="that ask at the same time (default %(default)s)")
        for what in ("request", "reply"):
            parser.add_argument(f"--{what}-bytes", type=lab.bounded(1, 1400), metavar="BYTES",
                                default=1, help=f"of a {what}, of udp_rr as its request (default "
                                                "%(default)s)")
        parser.add_argument("--seconds", type=lab.bounded(1, 600), default=None, metavar="SECONDS",
                            help="of a measurement (default 3, with --quick 1)")
        parser.add_argument("--rate", type=lab.parse_rate, default="10G",
                            help="of nicsim's line (default %(default)s)")

    def __init__(self, args, progress):
        super().__init__(args, progress)
        args.seconds = args.seconds or (1 if args.quick else 3)
        self.rows = args.tests
        self.columns = args.strategies
        self.title = (f"requests of {args.request_bytes} and replies of {args.reply_bytes} bytes, "
                      f"{args.connections} at a time, {args.seconds} s a measurement")

    def environment(self):
        return {"connections": self.args.connections, "request_bytes": self.args.request_bytes,
                "reply_bytes": self.args.reply_bytes}

    def measure(self, row, column, title):
        self.progress(f"{title}: {self.args.seconds} s")
        with self.wheel(f"--strategy={self.columns[column]}",
                        *["--stage-cycles"] * self.args.stages,
                        *self.client(self.rows[row])) as wheel:
            self.look(wheel)
            run = self.run(wheel, title)
            if wheel.stop() != 0:
                raise pwlab.LabError(f"{title}: pagewheel failed:\n{wheel.log}")
        return run

    def client(self, test):
        app, port = TESTS[test]
        return (f"--ip={pwlab.PEER_IP}/24", f"--connect={pwlab.DUT_IP}:{port}",
                f"--connect-app={app}", f"--connections={self.args.connections}",
                f"--request-bytes={self.args.request_bytes}",
                f"--reply-bytes={self.args.reply_bytes}", f"--duration={self.args.seconds}",
                f"--total-num-mbufs={self.args.mbufs}", *SERVICES)

    @contextlib.contextmanager
    def wheel(self, *options):
        """A pagewheel with two ports, and a cable between them."""
        args = self.args
        if args.on == "nicsim":
            wires = [f"--wire=loop={other},rate={args.rate}" for other in (1, 0)]
            with nicsim.Nicsim(args.nicsim, *wires, log=subprocess.DEVNULL) as card:
                with nicsim.PagewheelOnCard(card, args.pagewheel, *options) as wheel:
                    yield wheel
        elif args.on == "veth":
            with CableLab(name="cable") as cable:
                with pwlab.Pagewheel(cable, args.pagewheel, *options, vdev=cable.vdevs) as wheel:
                    yield wheel
        else:
            if len(args.place.addresses) != 2:
                raise pwlab.LabError(f"--on={args.on}: expected two PCI addresses with a comma in "
                                     "between, of ports with a cable between them")
            with places.PagewheelOnNics(args.place.addresses, args.pagewheel, *options) as wheel:
                yield wheel

    def run(self, wheel, title):
        """The whole run is looked at: its begin and end are a millisecond of seconds."""
        before = counters.read(wheel, self.args.stages, ("lcores", "pool"))
        wheel.wait_said("s are over")
        after = counters.read(wheel, self.args.stages, ("lcores", "pool"))
        client = wheel.stats("tcp/client")
        if client["transactions"] == 0 or client["failed"] or client["broken"]:
            raise pwlab.LabError(f"{title}: {client['transactions']} transactions, "
                                 f"{client['failed']} connections failed, {client['broken']} broke")
        counters.check_buffers(wheel, title, 2 * self.args.place.posted)
        return counters.difference(after, before) | {
            "client": client, "transactions": client["transactions"],
            "seconds": client["running_us"] / 1e6}
