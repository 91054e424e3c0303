"""A page of HTML from its sections: all text escaped, all numbers in one block of JSON.

Whatever a file, an agent or a title is called, it reaches the page as text. The page forbids its
browser the network, and to run any script but the two that are in it, by their hashes.
"""

import functools
import html
import re
from collections.abc import Sequence
from dataclasses import asdict
from importlib import resources
from typing import Any, NamedTuple

from fastes.files.kinds import REPORT_MARK
from fastes.files.report_file import embedded
from fastes.reports.elements import Chart, Code, Part, Section, Table, Text, parts_in
from fastes.reports.library import charts_library, script_hash

_TOOLS = {"in": "Zoom in", "out": "Zoom out", "reset": "Reset", "numbers": "Copy numbers"}


class Page(NamedTuple):
    """What is on a page beside its sections.

    `reload` is the number of seconds after which it is read anew, while a study goes on; 0: never.
    """

    title: str
    summary: Sequence[str]
    footer: str
    reload: int = 0


def page_html(page: Page, sections: Sequence[Section]) -> str:
    """Return the whole page, with `<!--header-->` where its header goes."""
    writer = _Writer()
    body = "".join(writer.section(section, 2) for section in sections)
    contents = "".join(
        f'<li><a href="#{name}">{_text(title)}</a></li>' for name, title in writer.contents
    )
    summary = "".join(f'<p class="soft">{_text(line)}</p>\n' for line in page.summary)
    style, script, library = (
        _asset("report.css"),
        _asset("charts.js") + _asset("report.js"),
        charts_library(),
    )
    policy = (
        f"default-src 'none'; script-src {script_hash(script.encode())} {library.hash}; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{REPORT_MARK}\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(page.title)}</title>\n<!--header-->\n<style>\n{style}</style>\n</head>\n"
        '<body>\n<a class="skip" href="#main">Skip to the content</a>\n'
        f"<header>\n<h1>{_text(page.title)}</h1>\n{summary}"
        f"{_reload(page.reload)}</header>\n"
        f'<nav aria-label="Contents"><ol>{contents}</ol></nav>\n'
        f'<main id="main" tabindex="-1">\n<noscript><p class="warning">Charts need JavaScript; '
        f"the tables do not.</p></noscript>\n{body}</main>\n"
        f"<footer><p>{_text(page.footer)}</p></footer>\n"
        '<p id="said" role="status" aria-live="polite"></p>\n'
        f'<script type="application/json" id="charts">{embedded(writer.charts)}</script>\n'
        f'<script type="text/plain" id="library">{library.packed}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _reload(seconds: int) -> str:
    if not seconds:
        return ""
    return (
        '<p class="live warning"><span>The study goes on, and this page is written anew; '
        "at the end it has bounds too.</span>"
        f' <label><input type="checkbox" id="reload" data-seconds="{seconds}" checked> '
        f"Reload it every {seconds} seconds</label></p>\n"
    )


def shown(value: str | float | None) -> str:
    """Return a cell as it is shown: a number to four digits or to the unit.

    >>> shown(1234), shown(1234.56), shown(0.012345), shown(1.2e-9), shown(None), shown("TS")
    ('1,234', '1,235', '0.01235', '1.2e-09', '-', 'TS')
    """
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if value == 0 or not 1e-4 <= abs(value) < 1e15:
        return f"{value:.4g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{float(f'{value:.4g}'):g}"


class _Writer:
    """Sections as HTML; what it meets on the way: charts, and headings of the second level."""

    def __init__(self) -> None:
        self.charts: list[dict[str, Any]] = []
        self.contents: list[tuple[str, str]] = []
        self._names: set[str] = set()

    def section(self, section: Section, level: int) -> str:
        name = self._name(section.title)
        if level == 2:
            self.contents.append((name, section.title))
        switches = ""
        charts = parts_in(section.parts, Chart)
        if section.switches and charts:
            switches = _switches(charts)
        marked = " data-switches" if switches else ""
        kind = f' data-kind="{_text(section.name)}"' if section.name else ""
        heading = f"<h{level}>{_text(section.title)}</h{level}>\n"
        return (
            f'<section id="{name}"{marked}{kind}>\n{heading}{switches}'
            f"{self._parts(section.parts, min(6, level + 1))}</section>\n"
        )

    def _name(self, title: str) -> str:
        """Return a name for a link, of letters and digits, that no other section has."""
        words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "part"
        name, n = words, 1
        while name in self._names:
            n += 1
            name = f"{words}-{n}"
        self._names.add(name)
        return name

    def _parts(self, parts: Sequence[Part], level: int) -> str:
        written = []
        parts = list(parts)
        while parts:
            charts = []
            while parts and isinstance(parts[0], Chart):
                charts.append(parts.pop(0))
            if charts:
                written.append(self._grid(charts))
            if parts:
                written.append(self._part(parts.pop(0), level))
        return "".join(written)

    def _grid(self, charts: Sequence[Part]) -> str:
        alone = " alone" if len(charts) == 1 else ""
        inside = "".join(self._chart(chart) for chart in charts if isinstance(chart, Chart))
        return f'<div class="charts{alone}">\n{inside}</div>\n'

    def _part(self, part: Part, level: int) -> str:
        if isinstance(part, Section):
            return self.section(part, level)
        if isinstance(part, Table):
            return _table(part)
        if isinstance(part, Code):
            return (
                f'<div class="code"><div class="over"><span class="caption">{_text(part.caption)}'
                f"</span>{_button('code', 'Copy', part.caption)}</div>"
                f'<pre tabindex="0">{_text(part.text)}</pre></div>\n'
            )
        assert isinstance(part, Text)
        tone = "" if part.tone == "plain" else f' class="{part.tone}"'
        return f"<p{tone}>{_text(part.text)}</p>\n"

    def _chart(self, chart: Chart) -> str:
        number = len(self.charts)
        self.charts.append(asdict(chart))
        curves = [trace.label for trace in chart.traces if trace.role == "curve"]
        title = f"{chart.y}: {chart.title}" if chart.title else chart.y
        title = title[0].upper() + title[1:]
        described = (
            f"Chart of {chart.y} against {chart.x}, of {', '.join(curves)}. "
            "The same numbers are in the table below it."
        )
        logs = "" if chart.names else _log("x", chart.logx)
        tools = "".join(_button(act, words, chart.title) for act, words in _TOOLS.items())
        spread = f'<p class="spread">{_text(chart.spread)}</p>' if chart.spread else ""
        return (
            f'<figure data-chart="{number}"><figcaption>{_text(title)}</figcaption>\n'
            f'<div class="plot" role="img" aria-busy="true" aria-label="{_text(described)}">'
            f'</div>\n{spread}<div class="tools" role="group" aria-label="{_text(title)}">{logs}'
            f"{_log('y', chart.logy)}{tools}</div>\n"
            '<details class="numbers"><summary>Numbers of this chart</summary></details></figure>\n'
        )


def _log(axis: str, on: bool) -> str:
    pressed = "true" if on else "false"
    return (
        f'<button type="button" data-act="log{axis}" aria-pressed="{pressed}">'
        f"Logarithmic {axis}</button>"
    )


def _button(act: str, words: str, what: str) -> str:
    more = f'<span class="visually-hidden"> {_text(what)}</span>' if what else ""
    return f'<button type="button" data-act="{act}">{_text(words)}{more}</button>'


def _switches(charts: Sequence[Chart]) -> str:
    """Return a box for each curve, which switches it in all these charts, and one for bounds."""
    traces = [trace for chart in charts for trace in chart.traces]
    lines = {trace.key: trace.line for trace in reversed(traces) if trace.role == "curve"}
    boxes = []
    for key in dict.fromkeys(trace.key for trace in traces if trace.role == "curve"):
        boxes.append(
            f'<label><input type="checkbox" checked data-key="{_text(key)}">'
            f"{_swatch(lines[key])}{_text(key)}</label>"
        )
    if any(trace.role == "bound" for trace in traces):
        grey = {"colour": "#57606a", "dark": "#a6aeb8", "dash": "6px,4px"}
        boxes.append(
            f'<label><input type="checkbox" checked data-bounds>{_swatch(grey)}bounds</label>'
        )
    buttons = _button("all", "All", "") + _button("none", "None", "")
    return (
        '<fieldset class="switches"><legend>Show in the charts of this section</legend>'
        f'<div class="choices">{"".join(boxes)}</div><div class="all">{buttons}</div></fieldset>\n'
    )


def _swatch(line: dict[str, str]) -> str:
    dash = "none" if line["dash"] == "solid" else line["dash"].replace("px", "")
    return (
        f'<svg class="swatch" width="30" height="10" aria-hidden="true" style="--light:'
        f'{_text(line["colour"])};--dark:{_text(line["dark"])}"><line x1="0" y1="5" x2="30" '
        f'y2="5" stroke-dasharray="{_text(dash)}"/></svg>'
    )


def _table(table: Table) -> str:
    head = "".join(
        f'<th scope="col"{_side(i, table.left)}>{_text(name)}</th>'
        for i, name in enumerate(table.header)
    )
    facts = not any(table.header)
    body = "".join(_row(row, table.left) for row in table.rows)
    return (
        f'<div class="table"><div class="over"><span class="caption" aria-hidden="true">'
        f"{_text(table.caption)}</span>{_button('table', 'Copy table', table.caption)}</div>\n"
        f'<div class="scroll" role="region" tabindex="0" aria-label="{_text(table.caption)}">'
        f'<table{" class=facts" if facts else ""}><caption class="visually-hidden">'
        f"{_text(table.caption)}</caption>\n"
        + ("" if facts else f"<thead><tr>{head}</tr></thead>\n")
        + f"<tbody>{body}</tbody></table></div></div>\n"
    )


def _row(row: Sequence[str | float | None], left: int) -> str:
    cells = []
    for i, value in enumerate(row):
        exact = "" if value is None or isinstance(value, str) else f' data-v="{value!r}"'
        tag = 'th scope="row"' if i == 0 else "td"
        empty = ' data-v=""' if value is None else ""
        end = "th" if i == 0 else "td"
        cells.append(f"<{tag}{_side(i, left)}{exact}{empty}>{_text(shown(value))}</{end}>")
    return f"<tr>{''.join(cells)}</tr>\n"


def _side(i: int, left: int) -> str:
    return ' class="left"' if i < left else ""


def _text(text: str) -> str:
    """Return a text as HTML; a byte of a file's name that is no text is shown as its number."""
    return html.escape(text.encode(errors="backslashreplace").decode(), quote=True)


@functools.cache
def _asset(name: str) -> str:
    return (resources.files("fastes.reports") / "assets" / name).read_text(encoding="utf-8")
