"""Run the study of docs/explanation/ensemble-size.md: ``cd docs/studies; python -m ensemble_size``.

    python -m ensemble_size FOLDER [--scale 10] [--part arms,hard] [--agent es] [--dry-run]

First it says what every part costs. Then it simulates what the folder does not hold yet: it may
be stopped and started again. At the end it writes the tables that ``python -m ensemble_size.draw``
makes figures and pages of. ``--scale 10`` does ten times as many runs.
"""

import argparse
from pathlib import Path

import fastes
from ensemble_size import states, truncated
from ensemble_size.collect import collect, file_of
from ensemble_size.parts import PARTS, VARIANTS, Problem
from fastes.studies.execution import create_file, plan

DATA = Path(__file__).with_name("data")


def main(words: list[str] | None = None) -> None:
    """Estimate, simulate and collect."""
    chosen = _parser().parse_args(words)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    problems = [problem for part in chosen.part for problem in PARTS[part]()]
    prepare(problems, chosen)
    if chosen.dry_run:
        return
    for problem in problems:
        for variant in _variants(problem, chosen):
            study = problem.study(variant, chosen.scale)
            path = file_of(chosen.folder, problem, variant)
            failed = fastes.sweep(study, path, threads=chosen.threads).failures()
            print(f"{path.name}: {len(failed)} tasks failed" if failed else path.name, flush=True)
    collect(chosen.folder, problems, chosen.data)
    if "dip" in chosen.part:
        states.measure(chosen.data, chosen.scale, chosen.threads)
        truncated.measure(chosen.data, chosen.scale)


def prepare(problems: list[Problem], chosen: argparse.Namespace) -> None:
    """Plan the sweeps that the folder does not hold, and print what is left to do."""
    left: dict[tuple[str, str], float] = {}
    for problem in problems:
        for variant in _variants(problem, chosen):
            path = file_of(chosen.folder, problem, variant)
            if not path.exists():
                create_file(path, plan(problem.study(variant, chosen.scale)))
            progress = fastes.load(path).progress()
            key = problem.part, variant
            left[key] = left.get(key, 0.0) + progress.cost - progress.cost_done
    for (part, variant), seconds in left.items():
        print(f"{part:10} {variant:10} {seconds / 60:8.1f} core-minutes")
    print(f"{'in all':21} {sum(left.values()) / 60:8.1f} core-minutes to do")
    if "dip" in chosen.part:
        seconds = 0.3 * len(truncated.SHARES) * chosen.scale * truncated.RUNS
        print(f"and the states of part dip, about {seconds / 60 + chosen.scale:.1f}", flush=True)


def _variants(problem: Problem, chosen: argparse.Namespace) -> list[str]:
    return [variant for variant in problem.variants if variant in chosen.agent]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ensemble_size", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, help="where the sweeps are kept")
    parser.add_argument("--scale", type=float, default=1.0, help="times the usual number of runs")
    parser.add_argument("--part", type=_listed(PARTS), default=list(PARTS))
    parser.add_argument("--agent", type=_listed(VARIANTS), default=list(VARIANTS))
    parser.add_argument("--data", type=Path, default=DATA, help="where the tables are written")
    parser.add_argument("--threads", type=int, help="tasks at once; all processors by default")
    parser.add_argument("--dry-run", action="store_true", help="only plan, and say what it costs")
    return parser


def _listed(known: dict):
    def listed(text: str) -> list[str]:
        words = text.split(",")
        for word in words:
            if word not in known:
                raise argparse.ArgumentTypeError(f"{word!r} is none of {', '.join(known)}")
        return words

    return listed


if __name__ == "__main__":
    main()
