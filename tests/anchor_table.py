"""Published numbers beside ours: the file of measurements, and its table in docs/verification.md.

    python tests/anchor_table.py

writes the table. ``pytest -m anchors`` measures all anchors, and writes both.
"""

import csv
from pathlib import Path

from anchors.anchor import Measurement
from anchors.published import ANCHORS

ROOT = Path(__file__).parents[1]
FILE = ROOT / "tests/anchors/measured.csv"
PAGE = ROOT / "docs/verification.md"
BEGIN, END = "<!-- anchors: pytest -m anchors -->\n", "<!-- end of the anchors -->\n"
COLUMNS = ("name", "mean", "se", "runs")


def measured():
    """Return the measurements on file, by the anchors' names."""
    with FILE.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    return {
        row["name"]: Measurement(float(row["mean"]), float(row["se"]), int(row["runs"]))
        for row in rows
    }


def keep(name, measurement):
    """Put a measurement on file, in the order of the anchors, and into the table."""
    known = {**measured(), name: measurement}
    with FILE.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        for anchor in ANCHORS:
            if anchor.name in known:
                ours = known[anchor.name]
                out.writerow([anchor.name, f"{ours.mean:.6g}", f"{ours.se:.3g}", ours.runs])
    write()


def table():
    """Return the table, a row for each anchor, and the list of sources."""
    known = measured()
    head = "| source | setting | agent | published | ours | runs | verdict |\n" + "|---" * 7 + "|\n"
    rows = "".join(_row(anchor, known.get(anchor.name)) for anchor in ANCHORS)
    sources = dict.fromkeys(anchor.source for anchor in ANCHORS)
    listed = "".join(f"- **{s.key}**: {s.citation}. ({s.read}.)\n" for s in sources)
    return f"{head}{rows}\n{listed}{_explained()}"


def _explained():
    """Return why some numbers differ, each reason once."""
    reasons = {}
    for anchor in ANCHORS:
        if anchor.standing:
            settings = reasons.setdefault(anchor.standing, {})
            settings[f"{anchor.source.key}, {anchor.setting}"] = None  # each once, in order
    lines = [f"- {'; '.join(settings)}: {reason}.\n" for reason, settings in reasons.items()]
    return f"\nOf those that differ:\n\n{''.join(lines)}" if lines else ""


def _row(anchor, ours):
    published = f"{anchor.published:,.{max(0, anchor.places)}f}"
    if ours is None:
        return _line(anchor, published, "", "", "not run")
    theirs = anchor.their_error(ours)
    if theirs:
        published += f" ± {theirs:.{_places(theirs)}f}"
    places = _places(ours.se)
    mean = f"{ours.mean:,.{places}f} ± {ours.se:.{places}f}"
    verdict = "agrees" if anchor.agrees(ours) else "**differs**"
    return _line(anchor, published, mean, f"{ours.runs:,}", verdict)


def _line(anchor, *cells):
    return f"| {' | '.join([anchor.source.key, anchor.setting, anchor.agent, *cells])} |\n"


def _places(error):
    """Return how many decimal places show two digits of an error."""
    return max(0, 2 - len(f"{int(error)}")) if error >= 1 else 2


def shown():
    """Return the table that the page shows."""
    page = PAGE.read_text(encoding="utf-8")
    return page[page.index(BEGIN) + len(BEGIN) : page.index(END)]


def write():
    """Write the table into the page."""
    page = PAGE.read_text(encoding="utf-8")
    start, stop = page.index(BEGIN) + len(BEGIN), page.index(END)
    PAGE.write_text(page[:start] + table() + page[stop:], encoding="utf-8")


if __name__ == "__main__":
    write()
