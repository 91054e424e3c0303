"""Writes into the examples of docs and docstrings the results that they have now.

The numbers of a seed may change from one version to the next. Then this brings up to date what the
examples show: ``python tests/examples.py [FILE...]``. Read the difference before you commit it: an
example may also have found a mistake.
"""

import contextlib
import doctest
import importlib
import os
import sys
import traceback
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


class _Collector(doctest.DocTestRunner):
    """Runs examples, and keeps what each of those that failed has printed, or raised."""

    def __init__(self) -> None:
        super().__init__(verbose=False)
        self.changes: list[tuple[doctest.Example, str]] = []
        self.errors: list[str] = []

    def report_failure(self, out: Any, test: Any, example: doctest.Example, got: str) -> None:
        self.changes.append((example, got))

    def report_unexpected_exception(
        self, out: Any, test: Any, example: doctest.Example, info: Any
    ) -> None:
        # Not printed here: what is printed now is taken to be the example's.
        self.errors.append(example.source + "".join(traceback.format_exception_only(*info[:2])))


def _changed(text: str, changes: list[tuple[doctest.Example, str]]) -> str:
    """Return a text in which what failed has the results that it gave."""
    for example, got in changes:
        margin = " " * example.indent
        source, want, new = (
            "".join(f"{margin}{line}\n" for line in part.splitlines())
            for part in (_prompted(example.source), example.want, got)
        )
        if text.count(source + want) != 1:
            print(f"not changed, for it is not there once: {source}{want}")
        text = text.replace(source + want, source + new, 1)
    return text


def _prompted(source: str) -> str:
    first, *rest = source.splitlines()
    return "\n".join([f">>> {first}", *(f"... {line}" for line in rest)])


def _tests(path: Path) -> list[doctest.DocTest]:
    if path.suffix == ".md":
        parser = doctest.DocTestParser()
        return [parser.get_doctest(path.read_text(), {}, path.name, str(path), 0)]
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    module = importlib.import_module(name.removesuffix(".__init__"))
    return doctest.DocTestFinder(exclude_empty=True).find(module)


def refresh(path: Path) -> None:
    """Bring the examples of one file up to date."""
    text = path.read_text()
    collector = _Collector()
    for test in _tests(path):
        with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stderr(nowhere):
            collector.run(test, out=lambda _: None)
    for error in collector.errors:
        print(f"{path}: {error}", end="")
    new = _changed(text, collector.changes)
    if new != text:
        path.write_text(new)
        print(f"{path}: {len(collector.changes)} examples changed")


if __name__ == "__main__":
    os.environ["MPLBACKEND"] = "agg"
    given = [Path(name).resolve() for name in sys.argv[1:]]
    pages = [page for page in ROOT.glob("docs/**/*.md") if "_build" not in page.parts]
    modules = [module for module in ROOT.glob("fastes/**/*.py") if ">>> " in module.read_text()]
    for each in given or [ROOT / "README.md", *pages, *modules]:
        refresh(each)
