# SPDX-License-Identifier: BSD-3-Clause
"""What pagewheel-bench --out=DIR has written, read again. docs/report.schema.json describes it."""

import glob
import json
import os

FORMAT = "pagewheel-report-1"


class ResultError(Exception):
    """What is wrong, in a sentence for the user."""


def read(path):
    """A report, with the name of its file; None: the file is another kind of JSON."""
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ResultError(f"{path}: no JSON: {error}") from error
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        return None
    try:
        check(report)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ResultError(f"{path}: not as pagewheel-bench writes it: {error!r}") from error
    return report | {"name": os.path.splitext(os.path.basename(path))[0]}


def check(report):
    """That what is used is there: a page half written helps nobody."""
    for key in ("experiment", "title", "confidence_percent", "half_width_max_percent",
                "interrupted", "failed"):
        report[key]  # pylint: disable=pointless-statement
    dict(report["environment"])
    for profile in report["profiles"]:
        profile["title"], list(profile["lines"])  # pylint: disable=expression-not-assigned
    for section in report["sections"]:
        wanted = len(section["rows"]) * len(section["columns"])
        if len(section["cells"]) != wanted:
            raise ValueError(f"{len(section['cells'])} cells, expected {wanted}")
        for metric in section["metrics"]:
            metric["key"], metric["title"], metric["unit"], metric["better"]
            int(metric["digits"])
        for cell in section["cells"]:
            cell["reason"]  # pylint: disable=pointless-statement
            for figure in cell["metrics"].values():
                float(figure["mean"])
                list(figure["samples"])


def read_folder(folder):
    """All reports in a folder, in the order of their names."""
    if not os.path.isdir(folder):
        raise ResultError(f"{folder}: no such folder: expected one that --out= has named")
    reports = [report for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.json")))
               if (report := read(path)) is not None]
    if not reports:
        raise ResultError(f"{folder}: no report in it: pagewheel-bench EXPERIMENT --out={folder} "
                          "writes one")
    return reports


def cell_of(section, row, column):
    """The cell of a row and a column, by number."""
    return section["cells"][row * len(section["columns"]) + column]


def figure_of(section, row, column, metric):
    """What was measured of a metric; None: nothing."""
    return cell_of(section, row, column)["metrics"].get(metric["key"])


def has_figures(section, metric):
    return any(metric["key"] in cell["metrics"] for cell in section["cells"])


def replace(path, data):
    """Write a file as a whole, or not at all."""
    try:
        with open(path + ".new", "wb") as file:
            file.write(data)
        os.replace(path + ".new", path)
    except OSError as error:
        try:
            os.unlink(path + ".new")
        except OSError:
            pass
        raise ResultError(f"{path}: {error.strerror}") from error
