"""Reports in a real browser: Chromium of the system's packages, driven by Playwright.

    pip install -e '.[browser]' && pytest -m browser

Nothing waits for a number of seconds, and no time is compared with one on another machine.
"""

import json
import os
import re
import shutil

import numpy as np
import pytest
from made_results import diagnosed, made
from pages import HOSTILE, data

import fastes
from fastes.results.comparison import Comparison

pytestmark = pytest.mark.browser

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
FOUR = [made(M=4), made(M=32), made("ts"), made("greedy")]
EVERYONE = ["ES, M=4", "ES, M=32", "TS", "Greedy"]


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    names = (os.environ.get("FASTES_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, filter(None, names))), None)
    assert path, "no Chromium: install it (apt-get install chromium), or set FASTES_CHROMIUM"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def visit(browser):
    """Return a function that opens a report; at the end nothing may have gone wrong in it."""
    contexts, wrong = [], []

    def open_page(path, width=1280, height=900, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        context.add_init_script(
            """
            window.copied = [];
            Object.defineProperty(navigator, "clipboard",
                { value: { writeText: async (text) => { window.copied.push(text); } } });
            const later = window.setInterval;
            window.setInterval = (act, milliseconds) =>  // of a page that reads itself anew
                milliseconds === 7000 ? (window.due = act) : later(act, milliseconds);
            """
        )
        page = context.new_page()
        page.on("console", lambda message: wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (wrong.append("a dialog"), dialog.dismiss()))
        page.on("request", lambda request: _note(request.url, path, wrong))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


def _note(url, path, wrong):
    if url.partition("#")[0] != path.as_uri() and not url.startswith(("data:", "blob:")):
        wrong.append(f"request: {url}")


def draw_all(page):
    """Scroll through a page until all its charts are drawn."""
    figures = page.locator("figure[data-chart]")
    for i in range(figures.count()):
        figures.nth(i).scroll_into_view_if_needed()
        figures.nth(i).locator(".main-svg").first.wait_for()
    return figures.count()


def plot(page, number=0):
    """Return a chart, drawn."""
    figure = page.locator(f'figure[data-chart="{number}"]')
    figure.scroll_into_view_if_needed()
    figure.locator(".main-svg").first.wait_for()
    return figure.locator(".plot")


def shown(page, number=0):
    """Return the names of the curves that a chart shows, bands left out."""
    plot(page, number)
    return page.evaluate(
        """(n) => document.querySelector(`figure[data-chart="${n}"] .plot`).data
            .filter((trace) => trace.name && trace.visible === true).map((trace) => trace.name)""",
        number,
    )


def legend_entry(page, name):
    """Return what to click on for a curve in the legend of the first chart."""
    return plot(page).locator(".legend .traces", has_text=name).locator(".legendtoggle")


def wait_shown(page, names, number=0):
    """Wait until a chart shows just these."""
    page.wait_for_function(
        """([n, names]) => {
            const data = document.querySelector(`figure[data-chart="${n}"] .plot`).data;
            const on = data.filter((trace) => trace.name && trace.visible === true);
            return JSON.stringify(on.map((trace) => trace.name)) === JSON.stringify(names);
        }""",
        arg=[number, names],
    )


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    path = tmp_path_factory.mktemp("four") / "four.html"
    fastes.report(Comparison(tuple(FOUR)), path)
    return path


@pytest.fixture(scope="module")
def every_kind(tmp_path_factory):
    """Return a report of each kind, by name."""
    folder = tmp_path_factory.mktemp("kinds")
    study = fastes.Study(agent=["es", "ts"], M=[2, 8], K=[5, 12], d=3, T=40, runs=6)
    records = []
    for i in range(3):
        record = {"commit": f"c0ffee{i}", "date": f"2026-01-0{i + 1}", "cpu": "x", "versions": {}}
        record |= {"ratios": {f"scan/{n}": [n + i + 1.0] * 3 for n in range(14)}, "seconds": {}}
        records.append(folder / f"{i}.json")
        records[-1].write_text(json.dumps(record))
    given = {
        "one": made(),
        "four": Comparison(tuple(FOUR)),
        "one run": made(runs=1),
        "diagnosed": Comparison(
            (diagnosed(made(M=10)), diagnosed(made("ts"), divergence=0.3, infinite=2))
        ),
        "study": fastes.sweep(study, folder / "study.db"),
        "benchmarks": records,
        "many": Comparison((*(made(M=M) for M in range(1, 20)), made("ts"), made("uniform"))),
        "problems": [made(K=K) for K in range(5, 35)],
    }
    paths = {name: folder / f"{name}.html" for name in given}
    for name, each in given.items():
        fastes.report(each, paths[name])
    return paths


KINDS = ["one", "four", "one run", "diagnosed", "study", "benchmarks", "many", "problems"]


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_opens_without_errors_requests_or_overflow(kind, width, every_kind, visit):
    page = visit(every_kind[kind], width=width)
    assert draw_all(page) == len(data(every_kind[kind].read_text()))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("figure[data-chart] .plot[aria-busy]").count() == 0


def test_the_page_cannot_reach_the_network(four, browser):
    page = browser.new_context().new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(four.as_uri())
    tried = page.evaluate(
        "fetch('http://127.0.0.1:9/').then(() => 'reached', (error) => String(error))"
    )
    assert "TypeError" in tried
    assert not any(url.startswith("http") for url in asked)
    # Nor can a script run that is not the page's own.
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'),"
        "{ textContent: 'window.foreign = true' }))"
    )
    assert page.evaluate("window.foreign") is None
    page.context.close()


def test_a_click_on_the_legend_hides_a_curve_in_all_charts_of_the_section(four, visit):
    page = visit(four)
    assert shown(page) == EVERYONE
    assert shown(page, 1) == ["ES, M=4", "ES, M=32", "TS", "no difference"]
    paths = plot(page).locator(".scatterlayer .trace:has(.lines path)")
    before = paths.count()
    legend_entry(page, "TS").click()
    wait_shown(page, ["ES, M=4", "ES, M=32", "Greedy"])
    assert paths.count() == before - 2  # the curve and its band
    wait_shown(page, ["ES, M=4", "ES, M=32", "no difference"], 1)
    box = page.get_by_role("checkbox", name="TS")
    assert not box.is_checked()
    box.check()
    wait_shown(page, EVERYONE)


def test_a_double_click_on_the_legend_leaves_one_curve(four, visit):
    page = visit(four)
    assert shown(page) == EVERYONE
    legend_entry(page, "TS").dblclick()
    wait_shown(page, ["TS"])
    page.get_by_role("button", name="All", exact=True).click()
    wait_shown(page, EVERYONE)


def point_at(page, number, x, y):
    """Move the pointer to a point of a chart; return the name, x and y there, and what is said."""
    area = plot(page, number)
    area.evaluate(
        """(plot) => {
            plot.scrollIntoView({ block: 'center' });
            window.hovered = null;
            plot.removeAllListeners('plotly_hover');
            plot.on('plotly_hover', (event) => { window.hovered = event.points; });
        }"""
    )
    place = area.evaluate(
        """(plot, [x, y]) => {
            const { xaxis, yaxis } = plot._fullLayout, box = plot.getBoundingClientRect();
            return [box.x + xaxis._offset + xaxis.d2p(x), box.y + yaxis._offset + yaxis.d2p(y)];
        }""",
        [x, y],
    )
    page.mouse.move(0, 0)
    page.mouse.move(*place)
    page.wait_for_function("() => window.hovered && window.hovered.length")
    point = page.evaluate("() => (({ x, y, data }) => [data.name, x, y])(window.hovered[0])")
    return point, area.locator(".hoverlayer .hovertext").first.text_content()


def test_the_value_under_the_pointer_is_the_data(four, visit):
    page = visit(four)
    result = FOUR[3]
    for i in (5, len(result.t) // 2, len(result.t) - 2):
        t, mean = int(result.t[i]), float(result.regret.mean[i])
        point, label = point_at(page, 0, t, mean)
        assert point == ["Greedy", t, mean]
        assert "Greedy" in label
        assert f"steps {t}" in label
        told = re.search(r"cumulative regret ([\d.,]+) \(([\d.,]+) to ([\d.,]+)\)", label)
        error = 2 * float(result.regret.se[i])
        for text, value in zip(told.groups(), (mean, mean - error, mean + error), strict=True):
            assert float(text.replace(",", "")) == pytest.approx(value, rel=1e-4)


def loneliest_point(traces):
    """Return the trace and the point that is farthest from those of other curves at its x."""
    points = [
        (t, x, y) for t in traces for x, y in zip(t["x"], t["y"], strict=True) if y is not None
    ]

    def room(point):
        trace, x, y = point
        return min((abs(v - y) for t, u, v in points if t is not trace and u == x), default=0.0)

    return max(points, key=room)


@pytest.mark.parametrize(("kind", "number"), [("benchmarks", 0), ("study", 0), ("diagnosed", 4)])
def test_so_it_is_in_every_kind_of_chart(kind, number, every_kind, visit):
    page = visit(every_kind[kind])
    chart = data(every_kind[kind].read_text())[number]
    trace, x, y = loneliest_point(chart["traces"])
    point, label = point_at(page, number, x, y)
    assert point == [trace["label"], x, y]
    assert f"{chart['x']} {x}" in label
    assert "NaN" not in label


def test_the_keyboard_switches_curves(four, visit):
    page = visit(four)
    shown(page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left >= 0")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    for _ in range(3):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.key") == "TS"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
    page.keyboard.press("Space")
    wait_shown(page, ["ES, M=4", "ES, M=32", "Greedy"])
    plot(page, 2)
    wait_shown(page, ["ES, M=4", "ES, M=32", "Greedy"], 2)
    page.get_by_role("button", name="None", exact=True).press("Enter")
    wait_shown(page, [])
    page.get_by_role("button", name="All", exact=True).press("Enter")
    wait_shown(page, EVERYONE)


def test_bounds_go_with_what_they_bound(every_kind, visit):
    page = visit(every_kind["diagnosed"])
    number = next(
        i
        for i, chart in enumerate(data(every_kind["diagnosed"].read_text()))
        if chart["y"] == "cumulative regret, and bounds on it"
    )
    scope = page.locator('[data-kind="diagnostics"]')
    rest = ["bound on TS: term (a)", "random play"]
    assert shown(page, number) == ["ES, M=10", "TS", "best bound on ES, M=10", *rest]
    scope.get_by_role("checkbox", name="ES, M=10").uncheck()
    wait_shown(page, ["TS", *rest], number)
    scope.get_by_role("checkbox", name="ES, M=10").check()
    scope.get_by_role("checkbox", name="bounds").uncheck()
    wait_shown(page, ["ES, M=10", "TS", *rest], number)


def test_axes_are_zoomed_and_made_logarithmic_by_buttons(four, visit):
    page = visit(four)
    figure = page.locator("figure[data-chart]").first
    axes = """(plot) => {
        const { xaxis, yaxis } = plot._fullLayout;
        return [xaxis.type, yaxis.type, xaxis.range[1] - xaxis.range[0]];
    }"""
    first = plot(page).evaluate(axes)
    assert first[:2] == ["linear", "linear"]
    figure.get_by_role("button", name="Zoom in").click()
    assert plot(page).evaluate(axes)[2] == pytest.approx(0.6 * first[2])
    figure.get_by_role("button", name="Zoom out").click()
    assert plot(page).evaluate(axes)[2] == pytest.approx(first[2])
    button = figure.get_by_role("button", name="Logarithmic y")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert plot(page).evaluate(axes)[1] == "log"
    figure.get_by_role("button", name="Reset").click()
    assert plot(page).evaluate(axes) == first
    assert button.get_attribute("aria-pressed") == "false"


def test_an_area_is_zoomed_by_dragging(four, visit):
    page = visit(four)
    box = plot(page).locator(".nsewdrag").first.bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 100, middle[1] + 60, steps=4)
    page.mouse.up()
    page.wait_for_function(
        "() => document.querySelector('figure .plot')._fullLayout.xaxis.range[0] > 50"
    )


def test_tables_and_numbers_are_copied_in_full(four, visit):
    page = visit(four)
    page.get_by_role("button", name=re.compile("Copy table .*quantiles")).click()
    page.get_by_text("The table copied").wait_for()
    rows = [line.split("\t") for line in page.evaluate("copied[0]").split("\n")]
    assert rows[0][:4] == ["agent", "runs", "mean regret at T", "standard error"]
    for row, result in zip(rows[1:], FOUR, strict=True):
        assert row[0] == result.label
        assert float(row[2]) == result.regret.mean[-1]
        assert float(row[3]) == result.regret.se[-1]
    figure = page.locator("figure[data-chart]").first
    figure.get_by_role("button", name="Copy numbers").click()
    page.wait_for_function("() => copied.length === 2")
    lines = [line.split("\t") for line in page.evaluate("copied[1]").split("\n")]
    assert lines[0] == ["curve", "steps", "cumulative regret", "low", "high"]
    assert [float(line[2]) for line in lines[1:]] == [
        float(mean) for result in FOUR for mean in result.regret.mean
    ]
    figure.locator("summary").click()
    figure.locator("table tbody tr").last.wait_for()
    assert figure.locator("table tbody tr").count() == len(lines) - 1


def luminance(colour):
    parts = [int(part) for part in re.findall(r"\d+", colour)[:3]]
    return float(np.dot(parts, [0.2126, 0.7152, 0.0722]))


def test_dark_mode_changes_page_and_charts(four, visit):
    page = visit(four, color_scheme="light")
    plot(page)
    body = "getComputedStyle(document.body).backgroundColor"
    lines = """() => [...document.querySelectorAll('figure .scatterlayer .lines path')]
        .map((path) => getComputedStyle(path)).filter((style) => style.strokeWidth !== '0px')
        .map((style) => style.stroke)"""
    paper = "getComputedStyle(document.querySelector('figure .main-svg')).backgroundColor"
    light, before = page.evaluate(body), page.evaluate(lines)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"() => {paper} === 'rgb(20, 23, 28)'")
    assert luminance(page.evaluate(body)) < 40 < 200 < luminance(light)
    after = page.evaluate(lines)
    assert len(after) == len(before)
    assert all(luminance(b) > luminance(a) for a, b in zip(before, after, strict=True))
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"() => {paper} === 'rgb(255, 255, 255)'")
    assert page.evaluate(lines) == before


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_shown_and_inert(name, tmp_path, visit):
    path = tmp_path / "hostile.html"
    fastes.report(Comparison((made(name), made("ts"))), path, title=name)
    page = visit(path)
    draw_all(page)
    legend = plot(page).locator(".legendtext")
    space = str.maketrans("\u2028\u2029\u00a0", "   ")
    squeezed = [" ".join(text.translate(space).split()) for text in legend.all_text_contents()]
    assert squeezed[0] == " ".join(name.translate(space).split())
    assert page.locator("main a, main img, main iframe, main object, .plot a").count() == 0
    page.locator("summary").first.click()
    page.locator("details table td").first.wait_for()
    assert page.locator("details table td").first.text_content() == name


def test_it_prints_whole_in_light_colours_without_buttons(every_kind, visit):
    page = visit(every_kind["problems"], color_scheme="dark")
    drawn = page.locator("figure:has(.main-svg)")
    every = len(data(every_kind["problems"].read_text()))
    assert drawn.count() < every  # until they are needed
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for hidden in ("nav", ".tools", "fieldset.switches", ".over button", "details.numbers"):
        assert not page.locator(hidden).first.is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert drawn.count() == every
    papers = page.evaluate(
        "[...document.querySelectorAll('figure .main-svg:first-child')]"
        ".map((svg) => getComputedStyle(svg).backgroundColor)"
    )
    assert set(papers) == {"rgb(255, 255, 255)"}
    assert page.pdf().startswith(b"%PDF")


@pytest.fixture(scope="module")
def eighty(tmp_path_factory):
    """Return a report of 80 settings, 200 points each, on one pair of axes."""
    path = tmp_path_factory.mktemp("eighty") / "eighty.html"
    results = [made(M=M, T=2000, points=200) for M in range(1, 81)]
    fastes.report(Comparison(tuple(results)), path)
    return path


def test_eighty_settings_of_200_points_stay_fluid(eighty, visit):
    page = visit(eighty)
    area = plot(page)
    points = area.evaluate("(plot) => plot.data.filter((t) => t.name).map((t) => t.x.length)")
    assert points == [200] * 80  # nothing is thinned
    # One curve is switched in no more than it takes to draw such a chart, here and now: the least
    # of several, taken in turns, so that a busy machine does not matter.
    drawing, switching = area.evaluate(
        """async (plot) => {
            const box = document.querySelector('input[data-key]');
            const other = plot.parentElement.appendChild(document.createElement('div'));
            const took = [[], []];
            const timed = async (times, act) => {
                const began = performance.now();
                await act();
                times.push(performance.now() - began);
            };
            for (let i = 0; i < 6; i++) {
                Plotly.purge(other);
                await timed(took[0], () => Plotly.newPlot(other, plot.data, plot.layout));
                await timed(took[1], () => new Promise((done) => {
                    plot.once('plotly_afterplot', done);
                    box.click();
                }));
            }
            other.remove();
            return took.map((times) => Math.min(...times));
        }"""
    )
    assert switching < drawing


def test_a_switch_touches_no_more_than_it_must(eighty, visit):
    page = visit(eighty)
    for number in range(3):
        plot(page, number)
    page.evaluate(
        """() => {
            window.calls = [];
            for (const name of ['react', 'newPlot', 'restyle', 'relayout']) {
                const real = Plotly[name];
                Plotly[name] = (...given) => {
                    window.calls.push([name, given[2]]);
                    return real(...given);
                };
            }
        }"""
    )
    page.get_by_role("checkbox", name="ES, M=7", exact=True).uncheck()
    page.wait_for_function("() => calls.length >= 3")
    calls = page.evaluate("calls")
    assert [name for name, _ in calls] == ["restyle"] * 3  # once for each chart
    assert all(len(indices) <= 2 for _, indices in calls)  # a curve and its band
    assert len(shown(page)) == 79


def test_a_report_of_a_running_study_reads_itself_anew(tmp_path, visit):
    path = tmp_path / "live.html"
    results = Comparison(tuple(FOUR))
    fastes.report(results, path, title="first", reload=7)
    page = visit(path)
    page.get_by_role("checkbox", name="TS").uncheck()
    fastes.report(results, path, title="second", reload=7)
    with page.expect_navigation():
        page.evaluate("window.due()")  # as seven seconds later
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.title() == "second"
    assert shown(page) == ["ES, M=4", "ES, M=32", "Greedy"]  # what was hidden stays hidden
    page.get_by_role("checkbox", name="Reload it every 7 seconds").uncheck()
    fastes.report(results, path, title="third")
    page.evaluate("window.due()")
    assert page.title() == "second"
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.title() == "third"
    assert page.locator("#reload").count() == 0  # it is finished
    assert page.evaluate("window.due") is None
