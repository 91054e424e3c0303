"""The citation as BibTeX, in CITATION.cff and in the package's metadata is one and the same."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import fastes

ROOT = Path(__file__).parents[2]
CFF = yaml.safe_load((ROOT / "CITATION.cff").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def entries(text):
    """Return the entries of a BibTeX text: (kind, key) to a field's name to its value."""
    found = {}
    for kind, key, body in re.findall(r"@(\w+)\{(\w+),\n(.*?)\n\}", text, flags=re.DOTALL):
        found[kind, key] = dict(re.findall(r"^  (\w+) = \{(.*)\},$", body, flags=re.MULTILINE))
        assert len(found[kind, key]) == len(body.splitlines())
    return found


@pytest.fixture(scope="module")
def bibtex():
    text = fastes.citation()
    assert text.count("{") == text.count("}")
    return entries(text)


def plain(value):
    """Return a value without the braces that protect capitals and names."""
    return value.replace("{", "").replace("}", "")


def test_the_software_is_cited_as_in_citation_cff_and_the_metadata(bibtex):
    software = bibtex["software", "fastes"]
    assert plain(software["title"]) == CFF["title"] == f"fastes: {PROJECT['description']}"
    assert software["version"] == str(CFF["version"]) == fastes.__version__
    assert software["license"] == CFF["license"] == PROJECT["license"]
    assert [plain(software["author"])] == [each["name"] for each in CFF["authors"]]
    assert [each["name"] for each in CFF["authors"]] == [
        each["name"] for each in PROJECT["authors"]
    ]
    assert CFF["keywords"] == PROJECT["keywords"]
    released = CFF.get("date-released")  # absent before the first release
    assert released is None or software["year"] == str(released.year)


def test_the_paper_is_cited_as_in_citation_cff(bibtex):
    paper = bibtex["inproceedings", "qin2022analysis"]
    (reference,) = CFF["references"]
    names = [f"{each['family-names']}, {each['given-names']}" for each in reference["authors"]]
    assert paper["author"] == " and ".join(names)
    assert paper["title"] == reference["title"]
    assert paper["booktitle"] == reference["collection-title"]
    assert paper["volume"] == str(reference["volume"])
    assert paper["year"] == str(reference["year"])
    assert paper["pages"] == f"{reference['start']}--{reference['end']}"
    (preprint,) = reference["identifiers"]
    assert f"{paper['archiveprefix']}:{paper['eprint']}" == preprint["value"]


def test_bibtex_has_these_two_entries_and_no_other(bibtex):
    assert list(bibtex) == [("software", "fastes"), ("inproceedings", "qin2022analysis")]


def test_a_citation_costs_no_import_of_numba():
    code = "import fastes, sys; fastes.citation(); sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-OO", "-c", code], check=True)
