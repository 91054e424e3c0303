"""The script that brings the results of examples up to date."""

from examples import refresh

PAGE = """
Text stays.

```python
>>> numbers = [1, 2,
...            3]
>>> numbers
[1, 2]
>>> sum(numbers)
6

```

    >>> print("two\\nlines")
    one
    >>> undefined
    kept
"""


def test_results_that_changed_are_written_and_nothing_else(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    refresh(page)
    expected = PAGE.replace("[1, 2]\n", "[1, 2, 3]\n").replace("    one\n", "    two\n    lines\n")
    assert page.read_text() == expected
    assert "NameError" in capsys.readouterr().out
    before = page.stat().st_mtime_ns
    refresh(page)
    assert page.stat().st_mtime_ns == before
