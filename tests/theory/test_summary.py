"""The summary of diagnostics: what is exceeded is called so, what holds is not."""

import numpy as np
from made_results import diagnosed, made

import fastes
from fastes.theory.inequalities import inequalities
from fastes.theory.summary import checks, summary_tables


def lines_of(results, tables=None):
    tables = tables or [inequalities(result) for result in results]
    return [
        part
        for part in summary_tables(fastes.Comparison(tuple(results)), tables)
        if isinstance(part, str)
    ]


def test_each_inequality_is_where_it_is_the_tightest():
    result = diagnosed(made(M=5))
    table = inequalities(result)
    for name, measured, bound in (
        ("KL(phat||p)", "kl_phat_p", "kl_phat_p"),
        ("approximation error", "approximation_error_of_phat", "approximation_error"),
    ):
        (found,) = [each for each in checks(table) if each["name"] == name]
        shares = np.array(table[measured]["mean"]) / np.array(table["bounds"][bound])
        i = int(shares.argmax())
        assert found["t"] == table["t"][i]
        assert found["measured"] == table[measured]["mean"][i]
        assert found["bound"] == table["bounds"][bound][i]
    regret = {e["name"]: e for e in checks(table) if e["t"] is None}
    assert regret["regret, Theorem 1"]["bound"] == table["totals"]["theorem1"]
    assert list(regret) == [
        f"regret, {x}" for x in ("Theorem 2", "Theorem B", "Theorem 1", "best bound")
    ]


def test_a_bound_is_exceeded_by_more_than_three_standard_errors_or_not_at_all():
    result = diagnosed(made(M=5))
    table = inequalities(result)
    regret = table["totals"]["regret"]
    for errors, exceeded in ((2.9, False), (3.1, True)):
        table["totals"]["best"] = regret["mean"] - errors * regret["se"]
        (found,) = [each for each in checks(table) if each["name"] == "regret, best bound"]
        assert found["exceeded"] is exceeded
        shown = "\n".join(lines_of([result], [table]))
        assert ("EXCEEDED: ES, M=5, regret, best bound: " in shown) is exceeded
        assert ("inequalities hold" in shown) is not exceeded


def test_where_no_bound_applies_nothing_is_checked():
    fixed = diagnosed(made(theta="fixed, ab"))
    assert checks(inequalities(fixed)) == []
    assert "No bounds: they hold for means over the prior, not for a fixed theta." in lines_of(
        [fixed]
    )


def test_infinite_and_unknown_values_are_not_compared():
    table = inequalities(diagnosed(made(M=5), infinite=1))
    assert "KL(phat||p)" not in {each["name"] for each in checks(table)}
