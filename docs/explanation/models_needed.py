"""Prints how many models each bound asks for to be three times Thompson sampling's.

Usage: python docs/explanation/models_needed.py

Arms are on the unit sphere, theta ~ N(0, I), unit noise. The lower bound of Theorem D is on
another problem: it is not among the columns.
"""

import fastes
from fastes.theory.bounds import BOUNDS, smallest_ensemble, term_a
from fastes.theory.constants import constants

PROBLEMS = ((10, 10, (10**4, 10**5, 10**6, 10**7, 10**8)), (1000, 50, (10**4, 10**5, 10**6)))


def main() -> None:
    """Print a table, a row for each problem and horizon."""
    print("| K | d | T | three times (a) |", " | ".join(BOUNDS), "|")
    print("|---|---|---|---|" + "---|" * len(BOUNDS))
    for K, d, horizons in PROBLEMS:
        known = constants(fastes.LinearBandit.random(K, d))
        for T in horizons:
            target = 3.0 * term_a(known, T)
            needed = [f"{smallest_ensemble(known, T, target, bound):.2e}" for bound in BOUNDS]
            print(f"| {K:,} | {d} | {T:.0e} | {target:,.0f} |", " | ".join(needed), "|")


if __name__ == "__main__":
    main()
