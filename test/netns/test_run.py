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
        """Run two strategies twice; returns the JSON, after what holds everywhere was checked."""
        process = run("--bytes=32M", "--rounds=2", "--json", "--strategies=order0,reuse", *options)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        result = json.loads(out)
        self.assertEqual(set(result["summary"]), {"order0", "reuse"})
        for strategy, runs in result["runs"].items():
            self.assertEqual(len(runs), 2)
            for counters in runs:
                self.assertEqual(counters["bytes"], 32 << 20)
                self.assertGreater(counters["gro"]["merged"], 0)
                self.assertLessEqual(counters["lcores"]["busy_cycles"],
                                     counters["lcores"]["cycles"])
            reuse = result["summary"][strategy]["in_place"]["median"]
            self.assertEqual(reuse > 0, strategy == "reuse")
        return result

    def test_json_on_veth(self):
        for runs in self.compare("--on=veth")["runs"].values():
            for counters in runs:
                self.assertEqual(counters["pool"]["free"], counters["pool"]["objects"])

    def test_json_on_nicsim(self):
        for runs in self.compare()["runs"].values():
            for counters in runs:
                card = counters["nicsim"]
                self.assertTrue(card["adds_up"])
                self.assertEqual(card["wire"]["counters"]["connections_closed"], 8)
                # The port's ring holds buffers.
                self.assertLess(counters["pool"]["free"], counters["pool"]["objects"])

    def test_every_profile(self):
        for name in os.listdir(os.path.join(TOP, "config")):
            with self.subTest(profile=name):
                process = run(f"--profile={name}", "--bytes=16M", "--rounds=1")
                out, err = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 0, err)
                self.assertIn("buffers alone [cycles/packet]", out)

    def test_wrong_arguments(self):
        for args, text in ((["--strategies=nosuch"], "order0, order3"),
                           (["--rounds=0"], "from 1 to"), (["--bytes=x"], "such as 2G"),
                           (["--bytes=1M"], "at least 16M"), (["--profile=nosuch"], "quick"),
                           (["--on=eth0"], "PCI address"), (["--flows=0"], "from 1 to"),
                           (["--on=ff:1f.7"], "dpdk-devbind"),
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
        process = run("--bytes=16M", "--rounds=1", "--strategies=reuse")
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
        process = run("--bytes=16M", "--rounds=1", "--strategies=reuse")
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        # What belongs to the killed one alone: its hugepages stay reserved, its pagewheel ended
        # with its input, and EAL's folder is empty.
        for path in set(traces()[2]) - set(self.before[2]):
            shutil.rmtree(path)


if __name__ == "__main__":
    unittest.main()
