# SPDX-License-Identifier: BSD-3-Clause
"""Plots of a report, by gnuplot: a panel for each section and metric that is better one way.

Rows that are numbers, as message sizes, are the x axis, and each column a line; other rows are groups
of bars. Error bars are half-widths.
"""

import math
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap

from pwlab import results

TERMINALS = {"svg": 'svg size {},{} font "sans,12" background "white"',
             "png": 'pngcairo size {},{} font "sans,10"'}
PANEL = (440, 320)  # pixels
PANELS_ACROSS = 3
TITLE_CHARS, TITLE_LINES = 56, 3
PANELS_MAX = 48
BARS_WIDE = 40  # from so many on, a panel is twice as wide
# Told apart by the colour-blind too (Okabe and Ito).
COLORS = ("#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9", "#000000", "#999999")
LOG_FROM = 8  # a span of so many times is shown on a logarithmic axis


def quote(text):
    """A string of gnuplot's: what could end it, or be a command in it, is taken out."""
    return '"' + "".join(c for c in text if c.isprintable() and c not in '\\"`') + '"'


def quote_title(text):
    """The same in lines that a panel has room for."""
    lines = textwrap.wrap(text, TITLE_CHARS)[:TITLE_LINES]
    return '"' + "\\n".join(quote(line)[1:-1] for line in lines) + '"'


def number(text):
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def has_height(section, metric):
    """Whether any mean is not 0: losses mostly are."""
    return any(cell["metrics"][metric["key"]]["mean"] for cell in section["cells"]
               if metric["key"] in cell["metrics"])


def panels_of(report):
    """Sections with the metrics to show of them."""
    panels = []
    for section in report["sections"]:
        shown = [metric for i, metric in enumerate(section["metrics"])
                 if (i == 0 or metric["better"] != "neither") and has_height(section, metric)]
        panels += [(section, metric) for metric in shown]
    return panels[:PANELS_MAX]


def bars(figure):
    """Mean and half-width; a half-width that is not known is none."""
    return f"{figure['mean']:.9g} {figure['half_width'] or 0:.9g}"


def lines_script(section, metric, xs, at):
    """Columns as lines over rows that are numbers."""
    logarithmic = min(xs) > 0 and max(xs) / min(xs) >= LOG_FROM
    blocks, plots = [], []
    for c, name in enumerate(section["columns"]):
        points = [f"{x:.9g} {bars(figure)}" for r, x in enumerate(xs)
                  if (figure := results.figure_of(section, r, c, metric)) is not None]
        if not points:
            continue
        block = f"$d{at}_{c}"
        blocks.append(f"{block} << EOD\n" + "\n".join(points) + "\nEOD\n")
        plots.append(f"{block} using 1:2:3 with yerrorlines lw 1.5 pt 7 ps 0.4 "
                     f"lc rgb '{COLORS[c % len(COLORS)]}' title {quote(name)}")
    ticks = ", ".join(f"'{row}' {x:.9g}" for row, x in zip(section["rows"], xs))
    return ("".join(blocks) + ("set" if logarithmic else "unset") + " logscale x\n"
            f"set xrange [*:*]\nset xtics rotate by -45 ({ticks}) font ',8'\n"
            f"set xlabel {quote(section['rows_are'])}\n"
            f"plot {', '.join(plots)}\n")


def bars_script(section, metric, at):
    """Rows as groups of bars, a bar for each column."""
    width = len(section["columns"]) + 1
    blocks, plots = [], []
    for c, name in enumerate(section["columns"]):
        points = [f"{r * width + c} {bars(figure)}" for r in range(len(section["rows"]))
                  if (figure := results.figure_of(section, r, c, metric)) is not None]
        if not points:
            continue
        block = f"$d{at}_{c}"
        blocks.append(f"{block} << EOD\n" + "\n".join(points) + "\nEOD\n")
        plots += [f"{block} using 1:2:(0.9) with boxes fs solid 0.8 noborder "
                  f"lc rgb '{COLORS[c % len(COLORS)]}' title {quote(name)}",
                  f"{block} using 1:2:3 with yerrorbars pt 0 lw 1 lc rgb '#444444' notitle"]
    ticks = ", ".join(f"{quote(row[:40])} {r * width + (width - 2) / 2:g}"
                      for r, row in enumerate(section["rows"]))
    return ("".join(blocks) + "unset logscale x\n"
            f"set xrange [-1:{len(section['rows']) * width - 1}]\n"
            f"set xtics norotate ({ticks}) font ',9'\nset xlabel ' '\n"
            f"plot {', '.join(plots)}\n")


def panel_script(section, metric, at):
    unit = f" [{metric['unit']}]" if metric["unit"] else ""
    title = f"{metric['title'].strip()}{unit}"
    if section["title"]:
        title = f"{section['title']}: {title}"
    xs = [number(row) for row in section["rows"]]
    head = f"set title {quote_title(title)} font ',10'\nset yrange [0:*]\n"
    if len(xs) > 1 and None not in xs:
        return head + lines_script(section, metric, xs, at)
    return head + bars_script(section, metric, at)


def script_of(report, kind, path):
    panels = panels_of(report)
    across = min(PANELS_ACROSS, len(panels))
    down = math.ceil(len(panels) / across)
    most = max(len(s["rows"]) * (len(s["columns"]) + 1) for s, _ in panels)
    width = PANEL[0] * (2 if most > BARS_WIDE else 1)
    cpu = report["environment"].get("cpu", "")
    return "".join((
        f"set terminal {TERMINALS[kind].format(max(across * width, 640), down * PANEL[1] + 60)} "
        f"noenhanced\nset output {quote(path)}\n",
        f"set multiplot layout {down},{across} title "
        f"{quote(report['experiment'] + ': ' + str(cpu))} noenhanced\n",
        "set grid ytics\nset key below horizontal samplen 1.5 font ',8' noenhanced\n"
        "set ytics font ',9'\nset tics nomirror\nset border 3\n",
        *(panel_script(section, metric, i) for i, (section, metric) in enumerate(panels)),
        "unset multiplot\nunset output\n"))


def draw(report, folder):
    """Make NAME.svg and NAME.png; without gnuplot, or without a figure, there are none."""
    if not panels_of(report):
        return
    if shutil.which("gnuplot") is None:
        print("pagewheel-bench: no plots: gnuplot is not installed (apt-get install gnuplot-nox)",
              file=sys.stderr)
        return
    for kind in TERMINALS:
        with tempfile.TemporaryDirectory() as scratch:
            made = os.path.join(scratch, f"plot.{kind}")
            done = subprocess.run(["gnuplot"], input=script_of(report, kind, made), text=True,
                                  capture_output=True, check=False)
            if done.returncode != 0 or not os.path.isfile(made):
                raise results.ResultError(
                    f"gnuplot failed: {done.stderr.strip() or done.returncode}")
            with open(made, "rb") as file:
                results.replace(os.path.join(folder, f"{report['name']}.{kind}"), file.read())
