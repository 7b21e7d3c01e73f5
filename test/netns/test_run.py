# SPDX-License-Identifier: BSD-3-Clause
"""tools/run: its JSON, and that it leaves nothing behind."""

import glob
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
HUGEPAGES = "/sys/kernel/mm/hugepages/hugepages-2048kB"


def traces():
    """What a run could leave: namespaces, hugepages, EAL's runtime folders."""
    hugepages = []
    for name in ("nr_hugepages", "nr_overcommit_hugepages"):
        with open(os.path.join(HUGEPAGES, name), encoding="utf-8") as file:
            hugepages.append(file.read())
    names = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True,
                           check=True).stdout
    return hugepages, sorted(names.split("\n")), sorted(glob.glob("/var/run/dpdk/*"))


def run(*args, **kwargs):
    return subprocess.Popen([os.path.join(TOP, "tools", "run"), *args], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **kwargs)


class Run(unittest.TestCase):
    def setUp(self):
        self.before = traces()

    def tearDown(self):
        self.assertEqual(traces(), self.before)

    def compare(self, *options):
        """Run two strategies twice; returns the values of a metric, by strategy."""
        process = run("--bytes=32M", "--rounds=2", "--max-rounds=2", "--json",
                      "--strategies=order0,reuse", *options)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        [section] = json.loads(out)["sections"]
        self.assertEqual(section["columns"], ["order0", "reuse"])

        def values(metric):
            return {cell["column"]: cell["metrics"][metric]["samples"]
                    for cell in section["cells"]}

        for strategy in ("order0", "reuse"):
            self.assertEqual(len(values("cost")[strategy]), 2)
            self.assertGreater(min(values("merged")[strategy]), 0)
            self.assertLessEqual(max(values("busy")[strategy]), 100)
            self.assertEqual(min(values("in_place")[strategy]) > 0, strategy == "reuse")
            self.assertGreater(min(values("buffers_alone")[strategy]), 0)
        return values

    def test_json_on_veth(self):
        self.compare("--on=veth")

    def test_json_on_nicsim(self):
        values = self.compare()
        for strategy in ("order0", "reuse"):
            self.assertGreater(min(values("card_rx")[strategy]), 0)

    def test_other_experiments(self):
        process = run("tcp", "--quick", "--idle=0", "--patterns=merged")
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("merged", out)

    def test_help(self):
        for args in (["--help"], ["-h"], ["stream", "--help"]):
            process = run(*args)
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err)
            self.assertIn("--strategies", out)

    def test_wrong_arguments(self):
        for args, text in ((["--strategies=nosuch"], "order0, order3"),
                           (["--rounds=0"], "from 1 to"), (["--bytes=x"], "such as 2G"),
                           (["--bytes=1M"], "at least 16M"), (["run", "nosuch"], "quick"),
                           (["--on=eth0"], "PCI address"), (["--flows=0"], "from 1 to"),
                           (["--on=ff:1f.7"], "dpdk-devbind"), (["nosuch"], "stream"),
                           (["--nosuch"], "--nosuch")):
            with self.subTest(args=args):
                process = run(*args)
                _, err = process.communicate(timeout=60)
                self.assertNotEqual(process.returncode, 0)
                self.assertIn(text, err)

    def test_interrupted(self):
        """In set-up, at start and in the middle; to the whole group, which is what Ctrl-C does, or to
        the script alone."""
        for number, seconds, kill in (
                (signal.SIGINT, 0.1, os.killpg), (signal.SIGINT, 0.3, os.killpg),
                (signal.SIGINT, 0.4, os.killpg), (signal.SIGINT, 0.5, os.killpg),
                (signal.SIGINT, 1.0, os.killpg), (signal.SIGINT, 1.5, os.killpg),
                (signal.SIGINT, 4, os.killpg), (signal.SIGTERM, 4, os.killpg),
                (signal.SIGTERM, 4, os.kill), (signal.SIGHUP, 4, os.kill)):
            with self.subTest(signal=number, seconds=seconds, kill=kill.__name__):
                process = run("--bytes=8G", start_new_session=True)
                time.sleep(seconds)
                self.assertIsNone(process.poll())
                kill(process.pid, number)
                out, err = process.communicate(timeout=20)
                self.assertEqual(process.returncode, 130)
                self.assertIn("interrupted", err)
                self.assertNotIn("Traceback", out + err)

    def test_its_reader_goes(self):
        process = run("--bytes=16M", "--rounds=1", "--max-rounds=1", "--strategies=reuse")
        process.stdout.close()
        err = process.stderr.read()
        self.assertNotEqual(process.wait(timeout=60), 0)
        self.assertNotIn("Traceback", err)

    def test_namespaces_of_a_killed_run_are_swept(self):
        process = run("--bytes=8G", start_new_session=True)
        time.sleep(5)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=20)
        time.sleep(1)
        process = run("--bytes=16M", "--rounds=1", "--max-rounds=1", "--strategies=reuse")
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        # What belongs to the killed one alone: its hugepages stay reserved, its pagewheel ended
        # with its input, and EAL's folder is empty.
        for path in set(traces()[2]) - set(self.before[2]):
            shutil.rmtree(path)


if __name__ == "__main__":
    unittest.main()
