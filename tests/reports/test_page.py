"""The page itself: text stays text, headings and tables are well formed, damage is noticed."""

import builtins
import itertools
import json
import os
import re
import sys

import pytest
from made_results import made
from pages import HOSTILE, data, page_of, read

import fastes
from fastes.checks.numbers import printable
from fastes.files.kinds import FileFormatError, kind_of
from fastes.files.report_file import embedded, read_header, write_report
from fastes.reports.library import charts_library
from fastes.results.files import save_results
from fastes.saved.contents import contents


@pytest.fixture(scope="module")
def harmless(tmp_path_factory):
    return page_of([made("plain"), made("ts")], tmp_path_factory.mktemp("page"), title="plain")


@pytest.mark.parametrize("name", HOSTILE)
def test_names_cannot_become_markup_or_script(name, harmless, tmp_path):
    page = page_of([made(name), made("ts")], tmp_path, title=name)
    ours, theirs = read(page), read(harmless)
    assert [tag for tag, _ in ours.elements] == [tag for tag, _ in theirs.elements]
    for (_, its), (_, plain) in zip(ours.elements, theirs.elements, strict=True):
        assert its.keys() == plain.keys()
    assert ours.headings[0] == [1, name]  # shown as it is
    assert {t["key"] for chart in data(page) for t in chart["traces"]} >= {printable(name), "TS"}
    assert "\u2028" not in re.search(r'id="charts">(.*?)</script>', page, re.S)[1]


def test_file_names_cannot_either(tmp_path):
    file = tmp_path / "<b onclick=alert(1)>'$(reboot)' .npz"
    save_results(file, [made("ts")])
    page = page_of(file, tmp_path)
    assert not any(tag == "b" for tag, _ in read(page).elements)
    quoted = re.escape("&lt;b onclick=alert(1)&gt;")
    assert re.search(rf"fastes rerun &#x27;.*{quoted}", page)  # and the shell sees one word


def test_a_file_name_that_is_no_text_is_shown_by_numbers(tmp_path):
    file = tmp_path / os.fsdecode(b"odd \xff name.npz")
    save_results(file, [made("ts")])
    assert r"odd \udcff name.npz" in page_of(file, tmp_path)


def test_embedded_json_is_json():
    for text in HOSTILE:
        assert json.loads(embedded([text])) == [text]
        assert not set("<>&\u2028\u2029") & set(embedded([text]))
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded(float("nan"))


def test_headings_landmarks_and_tables_are_for_all_readers(harmless):
    found = read(harmless)
    levels = [level for level, _ in found.headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    tags = [tag for tag, _ in found.elements]
    for landmark in ("header", "nav", "main", "footer", "h1"):
        assert tags.count(landmark) == 1
    identities = [its["id"] for _, its in found.elements if "id" in its]
    assert len(set(identities)) == len(identities)
    for tag, its in found.elements:
        if tag == "a":
            assert its["href"].removeprefix("#") in identities
        if tag == "th":
            assert its["scope"] in ("col", "row")
        if tag == "button":
            assert its["type"] == "button"
        if its.get("role") in ("region", "group", "img"):
            assert its["aria-label"]
    assert tags.count("caption") == tags.count("table")
    html = next(its for tag, its in found.elements if tag == "html")
    assert html["lang"] == "en"


def test_a_report_is_known_by_its_content_and_says_what_it_is(tmp_path):
    out = tmp_path / "report.htm"
    written = fastes.report(made("ts"), out, title="Mine")
    assert out.stat().st_size == written["bytes"]
    assert kind_of(out) == "report"
    found = contents(out)
    assert (found["kind"], found["title"]) == ("report", "Mine")
    assert found["sources"] == [{"kind": "result", "name": "Result 1"}]
    assert found["version"] == fastes.__version__


def test_a_changed_or_cut_report_is_noticed(tmp_path):
    out = tmp_path / "report.html"
    fastes.report(made("ts"), out)
    whole = out.read_bytes()
    for wrong in (whole[:-20], whole.replace(b"Regret", b"Regrets", 1), whole[:300]):
        out.write_bytes(wrong)
        with pytest.raises(FileFormatError, match="is not a valid report"):
            read_header(out)


def test_a_report_replaces_only_a_report(tmp_path):
    out = tmp_path / "report.html"
    out.write_text("<!doctype html><p>mine</p>")
    with pytest.raises(FileExistsError, match="is not a fastes file: use --force or"):
        fastes.report(made("ts"), out)
    assert out.read_text().endswith("mine</p>")
    fastes.report(made("ts"), out, force=True)
    fastes.report(made("greedy"), out)
    assert contents(out)["title"] == "Report: Greedy"
    with pytest.raises(ValueError, match=r"must end in \.html or \.htm"):
        fastes.report(made("ts"), tmp_path / "report.pdf", force=True)


def test_an_output_is_no_input_even_by_force(tmp_path):
    save_results(tmp_path / "a.html.npz", [made("ts")])
    (tmp_path / "a.html.npz").rename(tmp_path / "a.html")
    with pytest.raises(ValueError, match="out must not be an input"):
        fastes.report(tmp_path / "a.html", tmp_path / "a.html", force=True)


def test_without_the_library_one_sentence_says_how_to_get_it(tmp_path, monkeypatch):
    charts_library.cache_clear()
    real = builtins.__import__

    def missing(name, *rest):
        if name.split(".")[0] == "plotly":
            raise ModuleNotFoundError(f"No module named {name!r}")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    for name in [each for each in sys.modules if each.split(".")[0] == "plotly"]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=r"a report needs plotly.*pip install 'fastes\[report\]'"):
        fastes.report(made("ts"), tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_a_page_that_is_none_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="must begin and end like a report"):
        write_report(tmp_path / "r.html", "<!doctype html>\n<p>x</p>\n</html>\n", {})


def test_scripts_are_allowed_by_hash_and_none_else(harmless):
    policy = next(its["content"] for tag, its in read(harmless).elements if "http-equiv" in its)
    script = policy.partition("script-src ")[2].partition(";")[0].split()
    assert len(script) == 2
    assert all(re.fullmatch(r"'sha256-[\w+/]{43}='", each) for each in script)
    assert charts_library().hash in script
