# SPDX-License-Identifier: BSD-3-Clause
"""Experiments over a cable between two ports of one pagewheel: port 1 sends, port 0 takes.

One lcore polls both ports, so that two cores do for it and the card. All memory of both ends is of
the strategy.
"""

import contextlib
import subprocess
import time

import pwlab
from pwlab import counters, lab, nicsim, places

CRC_AND_HEADER = 18
DISTURB_S = 0.05


class CableLab(pwlab.Lab):
    """Both ends of a veth pair in one namespace."""

    vdevs = (pwlab.VETH, f"net_af_packet1,iface={pwlab.PEER_DEV},framecnt=4096")

    def __enter__(self):
        super().__enter__()
        subprocess.run(["ip", "-n", self.peer, "link", "set", pwlab.PEER_DEV, "netns", self.dut],
                       check=True)
        for dev in (pwlab.DUT_DEV, pwlab.PEER_DEV):
            subprocess.run(["ip", "-n", self.dut, "link", "set", dev, "up"], check=True)
        return self


class Cable(lab.Experiment):
    """A pagewheel of its own for each measurement, whose generator runs for some seconds."""

    mtu = 1500  # what pagewheel does without being told
    ipv6 = False
    groups = ("lcores", "pool", "tcp", "inet", "frags", "tcp/client")

    @staticmethod
    def add_options(parser):
        parser.add_argument("--seconds", type=lab.bounded(1, 600), default=None, metavar="SECONDS",
                            help="of a measurement (default 3, with --quick 1)")
        parser.add_argument("--rate", type=lab.parse_rate, default="10G",
                            help="of nicsim's line (default %(default)s)")

    def __init__(self, args, progress):
        super().__init__(args, progress)
        args.seconds = args.seconds or (1 if args.quick else 3)
        self.columns = args.strategies

    def environment(self):
        return {"port": self.args.place.title.replace("MTU 1500", f"MTU {self.mtu}")}

    def client(self, row):
        """The generator's options, with which it goes where connect() says."""
        raise NotImplementedError

    def disturb(self, row, wheel):
        """Called again and again while the generator runs."""

    def check(self, row, wheel, run):
        """Raise LabError, with a reason, if what was sent is not what was taken."""
        raise NotImplementedError

    def connect(self, port):
        return f"--connect=[{pwlab.DUT_IP6}]:{port}" if self.ipv6 else f"--connect={pwlab.DUT_IP}:{port}"

    def addresses(self):
        yield f"--ip={pwlab.PEER_IP}/24"
        if self.ipv6:
            yield from (f"--ip={addr}/64" for addr in (pwlab.DUT_IP6, pwlab.PEER_IP6))

    def measure(self, row, column, title):
        self.progress(f"{title}: {self.args.seconds} s")
        options = [f"--strategy={self.columns[column]}", *self.addresses(),
                   f"--duration={self.args.seconds}", f"--total-num-mbufs={self.args.mbufs}",
                   *["--stage-cycles"] * self.args.stages,
                   *[f"--max-pkt-len={self.mtu + CRC_AND_HEADER}"] * (self.mtu > 1500),
                   *self.client(row)]
        with self.wheel(*options) as wheel:
            self.look(wheel)
            try:
                run = self.run(row, wheel)
                self.check(row, wheel, run)
            except pwlab.LabError as error:
                raise pwlab.LabError(f"{title}: {error}") from None
            counters.check_buffers(wheel, title,
                                   2 * self.args.place.posted + run.get("held_mbufs", 0))
            if wheel.stop() != 0:
                raise pwlab.LabError(f"{title}: pagewheel failed:\n{wheel.log}")
        return run

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

    def run(self, row, wheel):
        """From now to the end of the generator's time: its begin is a millisecond of seconds."""
        before = counters.read(wheel, self.args.stages, self.groups)
        end = time.monotonic() + self.args.seconds - DISTURB_S
        while time.monotonic() < end:
            self.disturb(row, wheel)
            time.sleep(DISTURB_S)
        wheel.wait_said("s are over")
        after = counters.read(wheel, self.args.stages, self.groups)
        run = counters.difference(after, before)
        client = run["client"] = after["tcp/client"]
        if client["transactions"] + client["out_bytes"] == 0 or client["failed"] or client["broken"]:
            raise pwlab.LabError(
                f"{client['transactions']} transactions and {client['out_bytes']} bytes, "
                f"{client['failed']} failed, {client['broken']} connections broke")
        run["seconds"] = run["tcp/client"]["running_us"] / 1e6
        return run
