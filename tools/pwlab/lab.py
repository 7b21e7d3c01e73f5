# SPDX-License-Identifier: BSD-3-Clause
"""What experiments of the laboratory have in common: options, and the talk with pagewheel-bench."""

import argparse
import collections
import json
import os
import platform
import queue
import re
import signal
import subprocess
import sys
import threading

import pwlab
from pwlab import places

# Key, title, unit and digits of a figure, which is better (more, less, neither), and the value worked
# out of a run: a function, which raises KeyError where the run has no such thing.
Metric = collections.namedtuple("Metric", "key title unit digits better value")

# Against the program's own folder, where it was built and where it is installed.
BINARIES = {"pagewheel": ("../pagewheel/pagewheel", "pagewheel"),
            "nicsim": ("../nicsim/nicsim", "nicsim")}


PORT_FACTS = {"driver": "Driver name", "mtu": "MTU", "rx_queues": "RX queues",
              "rx_offloads": "RX offloads", "tx_offloads": "TX offloads"}


class Experiment:
    """One of them: a context manager that is there while measurements are made."""

    title = ""
    rows_are = ""
    rows = [""]
    columns = []
    metrics = []
    strategies = ["order0", "reuse:0", "reuse"]

    def __init__(self, args, progress):
        self.args = args
        self.progress = progress
        self.port_facts = {}

    @staticmethod
    def add_options(parser):
        """Add what is the experiment's own."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def measure(self, row, column, title):
        """Measure once; returns a run, of which metrics work out values."""
        raise NotImplementedError

    def environment(self):
        """What is worth knowing beside what environment() tells."""
        return {}

    def look(self, wheel):
        """What the first pagewheel says of its first port: the driver, and what it leaves to it."""
        if self.port_facts:
            return
        begin = len(wheel.log)
        wheel.command("show port info 0", "RSS types")
        said = dict(re.findall(r"^([\w ]+): (.*)$", wheel.log[begin:], re.M))
        self.port_facts = {key: said[title] for key, title in PORT_FACTS.items() if title in said}

    def values(self, run):
        out = {}
        for metric in self.metrics:
            try:
                out[metric.key] = metric.value(run)
            except (KeyError, ZeroDivisionError):  # not counted here, or nothing to count
                continue
        return out


def parse_size(least):
    def parse(text):
        units = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
        number, unit = (text[:-1], text[-1]) if text[-1:].isalpha() else (text, "")
        if not number.isdigit() or unit not in units or int(number) * units[unit] < least:
            raise argparse.ArgumentTypeError(
                f"{text}: expected a size of at least {least >> 20}M, such as 2G")
        return int(number) * units[unit]
    return parse


def parse_count(text):
    if not text.isdigit() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text}: expected a number from 1 to 1000")
    return int(text)


def parse_seconds(text):
    if not re.fullmatch(r"\d+(\.\d+)?", text) or not 0.1 <= float(text) <= 600:
        raise argparse.ArgumentTypeError(f"{text}: expected a number from 0.1 to 600")
    return float(text)


def parse_rate(text):
    if not re.fullmatch(r"max|\d+(\.\d+)?[kMG](pps)?", text):
        raise argparse.ArgumentTypeError(
            f"{text}: expected max, or bits or frames a second as in 10G, 500M, 2Mpps")
    return text


def parse_list(parse, what):
    """Different items with commas between them."""
    def parse_all(text):
        items = [parse(item) for item in text.split(",")]
        if len(set(items)) != len(items) or "" in items:
            raise argparse.ArgumentTypeError(f"{text}: expected different {what} with commas "
                                             "between them")
        return items
    return parse_all


def choice(*names):
    def parse(text):
        if text not in names:
            raise argparse.ArgumentTypeError(f"{text}: expected one of {', '.join(names)}")
        return text
    return parse


def bounded(least, most):
    def parse(text):
        if not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text}: expected numbers from {least} to {most}")
        return int(text)
    return parse


class Parser(argparse.ArgumentParser):
    """Errors go to pagewheel-bench, which says them."""

    def error(self, message):
        raise pwlab.LabError(re.sub(r"^argument ([^:]*): ", r"\1: ", message))


def make_parser(name, kind):
    parser = Parser(prog=f"pagewheel-bench {name}", add_help=False, allow_abbrev=False,
                    usage=argparse.SUPPRESS, argument_default=None)
    parser.add_argument("--on", type=places.parse_place, metavar="PLACE", default="nicsim",
                        help="nicsim: DPDK's ixgbe driver on a software 82599; veth: Linux at the "
                             "other end of a veth pair; or the PCI address of a bound NIC, to which "
                             "you send (default %(default)s)")
    parser.add_argument("--strategies", metavar="A,B", default=kind.strategies,
                        type=parse_list(str, "names"),
                        help="what is compared: reuse:0 and order0 differ in reuse alone, reuse and "
                             f"reuse:0 in the page order alone (default {','.join(kind.strategies)})")
    parser.add_argument("--timeout", type=parse_count, default=300, metavar="SECONDS",
                        help="for one measurement (default %(default)s)")
    parser.add_argument("--stages", action="store_true",
                        help="show the cycles of each stage, which counting them adds to")
    parser.add_argument("--mbufs", type=bounded(1024, 1 << 22), default=16384, metavar="N",
                        help="buffers in the pool (default %(default)s)")
    kind.add_options(parser)
    parser.add_argument("--quick", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", default="build/app/bench", help=argparse.SUPPRESS)
    return parser


def find_binaries(args):
    for name, paths in BINARIES.items():
        found = [path for path in (os.path.join(args.folder, p) for p in paths)
                 if os.path.isfile(path)]
        if not found:
            raise pwlab.LabError(f"no {name} beside pagewheel-bench: ninja -C build builds it")
        setattr(args, name, os.path.realpath(found[0]))


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
        for line in cpuinfo:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown"


def environment(experiment):
    """What figures depend on beside the code."""
    args = experiment.args
    return {"cpu": cpu_model(), "cpus": len(os.sched_getaffinity(0)),
            "kernel": f"Linux {platform.release()}",
            "on": args.on, "port": args.place.title, "strategies": strategies_in_words(args),
            "mbufs": args.mbufs} | experiment.environment()


def strategies_in_words(args):
    """Each with its page order, as pagewheel's help has them."""
    said = subprocess.run([args.pagewheel, "--no-huge", "--no-pci", "-m", "16", "--", "--help"],
                          capture_output=True, text=True, check=False)
    pages = dict(re.findall(r"^  (\w+) +(?:halves of )?pages of (\d+ KiB)", said.stdout, re.M))
    words = []
    for strategy in args.strategies:
        name, _, order = strategy.partition(":")
        page = f"{4 << int(order)} KiB" if order.isdigit() else pages.get(name, "?")
        words.append(f"{strategy} ({page})")
    return ", ".join(words)


def say(**what):
    print(json.dumps(what), flush=True)


def hello(experiment):
    say(title=experiment.title, rows_are=experiment.rows_are, rows=experiment.rows,
        columns=experiment.columns, environment=environment(experiment),
        metrics=[{"key": m.key, "title": m.title, "unit": m.unit, "digits": m.digits,
                  "better": m.better} for m in experiment.metrics])


def questions():
    """Lines of the standard input. When it ends in the middle of a measurement, that is too."""
    lines = queue.Queue()
    busy = threading.Event()

    def read():
        for line in sys.stdin:
            lines.put(line)
        lines.put(None)
        if busy.is_set():
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=read, daemon=True).start()
    while (line := lines.get()) is not None:
        busy.set()
        yield json.loads(line)
        busy.clear()


def answer(experiment, question):
    row, column = question["row"], question["column"]
    what = " ".join(filter(None, (experiment.rows[row], experiment.columns[column])))
    title = f"{what}, " + ("warm-up" if question["warm_up"] else f"round {question['round']}")
    try:
        values = experiment.values(experiment.measure(row, column, title))
        say(values=values, environment=experiment.port_facts)
    except pwlab.LabError as error:
        say(error=f"{error}")


def interrupt(*_):
    """Once: what cleans up is not interrupted again."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    raise KeyboardInterrupt


def print_help(name, kind):
    text = make_parser(name, kind).format_help()
    print("\nOptions of the laboratory:\n" + text.split("\n", 1)[1])


def main(experiments, argv):
    name, rest = argv[0], argv[1:]
    if "--help" in rest:
        print_help(name, experiments[name])
        return 0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    try:
        args = make_parser(name, experiments[name]).parse_args(rest)
        find_binaries(args)
        args.place = places.make(args)
        with experiments[name](args, lambda text: say(progress=text)) as experiment:
            hello(experiment)
            for question in questions():
                answer(experiment, question)
    except pwlab.LabError as error:
        say(error=f"{error}")
        return 1
    except (KeyboardInterrupt, BrokenPipeError):
        return 130
    return 0
