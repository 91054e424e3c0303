"""Plausible slips, and the tests that must notice each (mutants.py).

One or two for each kernel and for each rule that is easy to get wrong: a sign, a stream, a margin, a
step too early, what one run takes from another. Some hundred in all, so that all of them are run. A
new one takes the place of one that is like it.
"""

from typing import NamedTuple


class Mutant(NamedTuple):
    """One slip: `text`, which occurs once in `file`, becomes `replacement`."""

    file: str
    slip: str
    text: str
    replacement: str
    tests: tuple[str, ...]
    compiled: bool = False  # whether the tests need the compiler


def _tests(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/{name}" for name in names)


_EQUATION_1 = _tests(
    "kernels/beliefs/test_gaussian.py::test_update_is_equation_1[20-9-update_covariance]",
    "kernels/beliefs/test_gaussian.py::test_update_is_equation_1[20-9-update_root]",
)
_REFACTOR = _tests(
    "kernels/beliefs/test_gaussian.py::test_refactor_computes_the_inverse_and_its_root[200-9]"
)
_MEAN_AFRESH = _tests("kernels/beliefs/test_gaussian.py::test_the_mean_is_computed_afresh_too[9]")
_DUE = _tests(
    "kernels/beliefs/test_gaussian.py::test_the_posterior_is_computed_afresh_when_it_is_due"
)
_BITS = _tests("kernels/streams/test_streams.py::test_random_bits_are_those_of_the_reference")
_NORMALS = _tests("kernels/streams/test_streams.py::test_normals_are_those_of_the_reference")
_BLOCKS = _tests("kernels/streams/test_blocks.py")
_PROBE = _tests(
    "kernels/ensembles/test_deferred.py::test_a_model_that_was_read_before_is_probed_with_what_it_has_missed_since"
)
_ALGORITHM_1 = _tests(
    "kernels/ensembles/test_deferred.py::test_every_action_and_model_is_algorithm_1_s[9-60-full]"
)
_FLUSH = _tests(
    "kernels/ensembles/test_eager.py::test_flush_adds_each_step_s_perturbation_times_its_arm[7-11-3-2]"
)
_WALKS = _tests("kernels/ensembles/test_play_log.py::test_walks_are_right_between_many_marks")
_BEST = _tests("kernels/search/test_scan.py::test_the_best_arm_is_numpy_s")
_MARGINS = _tests("kernels/search/test_snapshot_margins.py")
_BOUNDS = _tests("kernels/search/test_certificate.py::test_every_bound_is_above_every_score")
_FRONTIER = _tests("kernels/search/test_ratio_frontier.py")
_RATIO = _tests(
    "kernels/search/test_information_ratio.py::test_regret_and_variance_are_their_definitions[30-5-200]"
)
_SAME_TIES = _tests(
    "kernels/search/test_certificate.py::test_ties_go_to_the_arm_of_a_full_scan_whatever_their_order"
)
_MARGIN8 = _tests(
    "kernels/search/test_screening.py::test_every_score_in_8_bits_is_within_its_margin"
)
_PRODUCT8 = _tests(
    "kernels/search/test_screening.py::test_the_product_is_that_of_integers_even_of_the_largest"
)
_CODES = _tests("kernels/search/test_screening.py::test_codes_and_their_errors_add_up_to_the_rows")
_RULED_OUT = _tests(
    "kernels/search/test_screening.py::test_a_tile_is_ruled_out_by_the_margins_of_both_tiles"
)
_SCREENED_TOGETHER = _tests(
    "kernels/search/test_screening.py::test_runs_in_lockstep_are_screened_as_alone_whatever_the_others_models"
)
_BOXES = _tests("kernels/search/test_box_search.py::test_the_best_arms_are_those_of_a_full_scan")
_BOX_BOUNDS = _tests(
    "kernels/search/test_box_search.py::test_every_bound_is_above_every_score_in_its_box"
)
_ORIENTATION = _tests("kernels/search/test_orientation.py")
_SCHEDULE = _tests("kernels/search/test_snapshot_schedule.py")
_PLAYED = _tests("agents/test_pathwise.py::test_greedy")
_INFORMATION = _tests(
    "kernels/diagnostics/test_best_of_models.py::test_information_is_that_of_the_mixture"
)
_BEST_ARMS = _tests(
    "kernels/diagnostics/test_best_of_models.py::test_best_arms_are_those_of_the_reference[7-duplicate arms]"
)
_EITHER_SIDE = _tests(
    "kernels/diagnostics/test_screened_models.py::test_the_margin_is_taken_on_either_side"
)

# fmt: off
MUTANTS = [
    # The posterior.
    Mutant("kernels/beliefs/gaussian/update.py", "wrong sign in the innovation",
        "axpy(g * error, v, mu)", "axpy(-g * error, v, mu)", _EQUATION_1),
    Mutant("kernels/beliefs/gaussian/update.py", "a row that is left over not taken in",
        "e[i] = fma(w_j, before, e[i])", "pass", _EQUATION_1),
    Mutant("kernels/beliefs/gaussian/update.py", "an arm taken for another of the same low bits",
        "if i >= distinct or belief.recent_key[i] != key:", "if i >= distinct:",
        _tests("kernels/beliefs/test_gaussian.py::test_an_arm_is_remembered_whatever_the_number_of_arms")),
    Mutant("kernels/beliefs/gaussian/refactor.py", "seldom afresh however badly conditioned",
        "precision * spread < _WELL_CONDITIONED", "precision * spread > 0.0", _DUE),
    Mutant("kernels/beliefs/normal_law.py", "a row twice in a sample",
        "x = fma(n1, X[i + 1, j], x)", "x = fma(n1, X[i, j], x)",
        _tests("kernels/beliefs/test_gaussian.py::test_sample_is_the_mean_plus_root_times_normals[9]")),
    Mutant("kernels/beliefs/gaussian/update.py", "pay of a known arm replaced, not added",
        "] += weight * y", "] = weight * y", _MEAN_AFRESH),
    Mutant("kernels/arithmetic/triangular.py", "a reflection by half",
        "scale = 2.0 / (head * head + square)", "scale = 1.0 / (head * head + square)", _REFACTOR),
    Mutant("kernels/actions/offer.py", "all arms known by one key",
        "it is the arm's number.\n    \"\"\"\n    return arm", "it is the arm's number.\n    \"\"\"\n    return 0",
        _tests("kernels/ensembles/test_deferred.py::test_the_same_over_a_horizon_that_refactors")),
    Mutant("kernels/beliefs/gaussian/update.py", "an offset left in a reward",
        "update(belief, row, key, reward - offset)", "update(belief, row, key, reward)",
        _tests("agents/test_live.py::test_the_posterior_is_the_reference_s")),
    Mutant("fastes/results/comparison.py", "seeds not compared before a difference is paired",
        'elif fact.own:', 'elif fact.own or field == "seed":', _tests("results/test_result.py")),
    Mutant("fastes/simulation/experiment.py", "a field of an experiment not saved",
        "for each in fields(self)[2:]:\n            value", "for each in fields(self)[3:]:\n            value",
        _tests("simulation/test_checkpoint.py::test_the_smallest_of_all_is_kept")),
    # Generalised linear rewards.
    Mutant("kernels/beliefs/glm/update.py", "the variance of all plays for that of one",
        "else belief.scratch.weight[slot] / belief.plays[slot]", "else belief.scratch.weight[slot]",
        _tests("kernels/beliefs/test_glm.py::test_updates_one_by_one_lead_to_the_same_belief[bernoulli]"), compiled=True),
    Mutant("kernels/beliefs/families.py", "a difference of large numbers",
        "fma(-plays, small, plays - pay)", "fma(plays, 1.0 - small, -pay)",
        _tests("kernels/beliefs/test_glm.py::test_hostile_clicks[shape0-1000.0-100000000-all paid]"), compiled=True),
    Mutant("kernels/beliefs/glm/solve.py", "full steps of Newton's method, whatever they lead to",
        "_CONTRACTS = 0.8", "_CONTRACTS = 1e300",
        _tests("kernels/beliefs/test_glm.py::test_hostile_counts"), compiled=True),
    Mutant("kernels/beliefs/glm/solve.py", "a solution given up before it is near",
        "_STALLED = 1e-5", "_STALLED = 1e5",
        _tests("kernels/beliefs/test_glm.py::test_hostile_clicks"), compiled=True),
    Mutant("kernels/ensembles/weight_log.py", "the first play since the last read left out",
        "range(at - 1, time - 1, -1)", "range(at - 1, time, -1)",
        _tests("kernels/ensembles/test_weight_log.py::test_variances_of_any_time_before_are_what_they_were_to_the_bit[3]"), compiled=True),
    Mutant("kernels/ensembles/bootstrap.py", "clicks of the past taken in again",
        "taken_in[place] = np.uint32(_count(counts, True, place))", "taken_in[place] = np.uint32(0)",
        _tests("kernels/ensembles/test_bootstrap.py::test_two_reads_of_a_model_count_plays_as_fair_coins_do"), compiled=True),
    Mutant("kernels/ensembles/bootstrap.py", "plays that did not pay counted as clicks",
        "counts.pay[slot] + paid\n", "counts.pay[slot] + paid + others\n",
        _tests("kernels/ensembles/test_bootstrap.py::test_every_action_and_model_is_the_reference_s[7-2-3-90]"), compiled=True),
    Mutant("kernels/beliefs/gaussian/rewards.py", "the variance at the mean before the reward",
        "root = np.sqrt(v)", "root = np.sqrt(slope_and_curvature(rewards.family, 1.0, reward, value)[1])",
        _tests("kernels/beliefs/test_linearised.py"), compiled=True),
    Mutant("kernels/beliefs/gaussian/rewards.py", "a step of Newton's method that leaves its interval",
        "low <= shift + move <= high and abs(gap) <= 0.5 * last", "True",
        _tests("kernels/beliefs/test_linearised.py"), compiled=True),
    Mutant("kernels/ensembles/weight_log.py", "the copy of a model's variances not renewed",
        "models.plays[slot, i] = log.arms.variances[i]", "pass",
        _tests("kernels/ensembles/test_weight_log.py::test_two_reads_of_a_model_have_their_joint_law[copies]"), compiled=True),
    Mutant("kernels/ensembles/eager.py", "perturbations of variance 1, whatever the reward's",
        "root * row[j]", "row[j]",
        _tests("kernels/agents/test_glm_agents.py::test_kept_models_take_in_perturbations_of_the_reward_s_variance[eager]"), compiled=True),
    Mutant("kernels/beliefs/student.py", "half a degree of freedom too few in a weight",
        "0.5 * (DEGREES + z.shape[0]) * tail", "0.5 * (DEGREES + z.shape[0] - 1) * tail",
        _tests("kernels/agents/test_metropolis.py::test_draws_have_the_law_of_the_posterior[no clicks]"), compiled=True),
    Mutant("kernels/agents/metropolis.py", "a decision by a number of the draw",
        "_U(lane + lanes), _U(counter)", "_U(lane + lanes - 1), _U(counter)",
        _tests("kernels/agents/test_metropolis.py::test_the_chain_is_that_of_the_reference[bernoulli-1-1]"), compiled=True),
    Mutant("kernels/agents/metropolis.py", "a chain that begins anew at every step",
        "    if t == 0:", "    if t >= 0:",
        _tests("kernels/agents/test_metropolis.py::test_one_proposal_keeps_the_law_of_the_posterior"), compiled=True),
    Mutant("kernels/agents/metropolis.py", "a weight that is not the chain's new one",
        "            weight = proposed\n", "",
        _tests("kernels/agents/test_metropolis.py::test_the_chain_is_that_of_the_reference[bernoulli-1-1]"), compiled=True),
    Mutant("kernels/beliefs/families.py", "of clicks that were likely, not unlikely",
        "unlikely = plays - pay if value >= 0.0 else pay", "unlikely = pay if value >= 0.0 else plays - pay",
        _tests("kernels/beliefs/test_glm.py::test_densities_of_many_plays_that_nearly_all_paid_do_not_cancel[1.0]"), compiled=True),
    Mutant("fastes/theory/weighted_draws.py", "a variance of draws that count alike",
        "squares = np.bincount(label, w * w, len(p))", "squares = p / len(w)",
        _tests("theory/test_weighted_draws.py::test_they_say_what_quadrature_does[rare]"), compiled=True),
    Mutant("fastes/theory/weighted_draws.py", "information that few draws make too large",
        "share * (2 * mutual_information(first + second) - halves)", "share * mutual_information(first + second)",
        _tests("theory/test_weighted_draws.py::test_few_draws_give_the_information_of_many"), compiled=True),
    Mutant("fastes/theory/weighted_draws.py", "values of arms in the place of what they pay",
        "expected[arm] = w @ mean_of_value(rewards, v)", "expected[arm] = w @ v",
        _tests("theory/test_weighted_draws.py::test_they_say_what_quadrature_does[line]"), compiled=True),
    Mutant("kernels/arithmetic/poisson_quantile.py", "a sign in an expansion",
        "(-1) ** k * g[k]", "g[k]",
        _tests("kernels/arithmetic/test_poisson_quantile.py::test_tails_and_probabilities_are_those_of_the_law"), compiled=True),
    Mutant("kernels/rewards/bernoulli.py", "paid as often as not",
        "1.0 - variate < mean", "1.0 - variate > mean",
        _tests("kernels/rewards/test_bernoulli.py"), compiled=True),
    # Arithmetic.
    Mutant("kernels/arithmetic/vectors.py", "half of the sums dropped",
        "for first in (0, width):", "for first in (0, 0):",
        _tests("kernels/arithmetic/test_floats.py::test_dot_is_the_inner_product"), compiled=True),
    Mutant("kernels/arithmetic/tile_product.py", "the scores of all models in one row",
        "_INDEX(model * TILE + column)", "_INDEX(column)", _tests("kernels/arithmetic/test_tile_product.py"),
        compiled=True),
    # Streams.
    Mutant("kernels/streams/philox.py", "one key schedule for both keys",
        "key1 = (key1 + _WEYL_1) & LOW_WORD", "key1 = (key1 + _WEYL_0) & LOW_WORD", _BITS),
    Mutant("kernels/streams/draws.py", "no draw is rejected",
        ">= (~n + _U(1)) % n", ">= _U(0)",
        _tests("kernels/streams/test_streams.py::test_a_draw_is_rejected_exactly_when_it_must_be")),
    Mutant("kernels/streams/normals.py", "a wrong quarter turn",
        "-x if ((quarter + 1) & 2) != 0", "-x if (quarter & 2) != 0", _NORMALS),
    Mutant("kernels/streams/layout.py", "a stream used twice",
        "OPTIMAL_ACTION = _U(10)", "OPTIMAL_ACTION = _U(9)",
        _tests("kernels/streams/test_streams.py::test_streams_have_numbers_of_their_own")),
    Mutant("kernels/streams/blocks.py", "a block extended from a lane too late",
        "t, drawn, wanted, block.numbers)", "t, drawn + 1, wanted, block.numbers)", _BLOCKS),
    Mutant("kernels/rewards/gaussian.py", "noise from a block that begins in the middle",
        "counter = _U((start >> 1) + s)", "counter = _U((t >> 1) + s)",
        _tests("kernels/rewards/test_gaussian.py::test_noise_does_not_depend_on_where_a_stretch_begins")),
    # Ensembles.
    Mutant("kernels/ensembles/deferred.py", "a probe without catch-up",
        "            _bring_up_to_date(agent, slot, source, DIAGNOSTICS, counter, out[i])\n", "            pass\n", _PROBE),
    Mutant("kernels/ensembles/deferred.py", "a wrong stream of perturbations",
        "slot, source, PERTURBATION, t,", "slot, source, INITIAL_MODELS, t,",
        _ALGORITHM_1),
    Mutant("kernels/ensembles/missed_plays.py", "plays taken in not counted",
        "        copy_plays(log, models.plays[slot])", "        pass", _ALGORITHM_1),
    Mutant("kernels/ensembles/play_log.py", "a restored model has taken in nothing",
        "    counts[:, : by_model.shape[1]] = by_model\n", "",
        _tests("kernels/ensembles/test_deferred.py::test_a_restored_ensemble_counts_the_plays_that_its_models_have_taken_in")),
    Mutant("kernels/ensembles/eager.py", "perturbations of an odd step shifted",
        "odd = start & 1", "odd = 0", _FLUSH),
    Mutant("kernels/ensembles/eager.py", "steps forgotten but not erased",
        "models.pending[:] = 0.0", "pass",
        _tests("kernels/ensembles/test_eager.py::test_when_the_models_are_flushed_changes_no_bit"), compiled=True),
    Mutant("kernels/ensembles/cached_models.py", "no way round the end of the table",
        "entry = (entry + 1) & (size - 1)", "entry = entry + 1",
        _tests("kernels/ensembles/test_cached_models.py")),
    # The play log.
    Mutant("kernels/ensembles/play_log.py", "slots widened one too late",
        "if slot == 1 << 8 * size[_WIDTH]:", "if slot == 1 + (1 << 8 * size[_WIDTH]):",
        _tests("kernels/ensembles/test_play_log.py::test_places_take_as_many_bytes_as_they_need[257]")),
    Mutant("kernels/ensembles/play_log.py", "a play too many before a milestone",
        "for s in range(time, at):", "for s in range(time - 1, at):", _WALKS, compiled=True),
    Mutant("kernels/ensembles/play_log.py", "full one play too late",
        "(time + 1) * width > log.sequence.shape[0]",
        "time * width > log.sequence.shape[0]",
        _tests("kernels/ensembles/test_play_log.py::test_a_log_is_full_exactly_when_its_plays_are_done")),
    # Search.
    Mutant("kernels/search/scan.py", "ties of earlier tiles forgotten",
        "ties += count", "ties = count",
        _tests("kernels/search/test_scan.py::test_ties_in_several_tiles_are_all_counted")),
    Mutant("kernels/search/tile_scores.py", "a column never looked at",
        "m7 = larger(scores[i + 7], m7)", "m7 = larger(scores[i + 6], m7)", _BEST),
    Mutant("kernels/search/screening.py", "a margin without its dimension",
        "_RELATIVE_MARGIN * (r + 3) * size", "_RELATIVE_MARGIN * size",
        _tests("kernels/search/test_scan.py::test_the_margin_of_a_first_look_holds"), compiled=True),
    Mutant("kernels/search/screening.py", "what 8 bits lose of an arm dropped",
        "product = lost * norm + kept * error", "product = kept * error", _MARGIN8, compiled=True),
    Mutant("kernels/search/screening.py", "the margin in 8 bits taken off once",
        "np.float64(maxima[tile]) + margin < floor", "np.float64(maxima[tile]) < floor",
        _RULED_OUT, compiled=True),
    Mutant("kernels/search/codes.py", "bytes that wrap", "if not abs(ratio) <= levels:", "if False:",
        _CODES, compiled=True),
    Mutant("kernels/arithmetic/byte_product.py", "pairs of products that do not fit 16 bits",
        "PairProducts(64)", "PairProducts(127)", _PRODUCT8, compiled=True),
    Mutant("kernels/arithmetic/byte_product.py", "half of the lanes never compared",
        "while n > 1:", "while n > 2:", _PRODUCT8, compiled=True),
    Mutant("kernels/loop/lockstep.py", "the margin of another run's model",
        "rule_out(codes, arms, coded, i,", "rule_out(codes, arms, coded, 0,", _SCREENED_TOGETHER,
        compiled=True),
    Mutant("kernels/search/box_search.py", "no margin for rounding",
        "return _MARGIN * size if", "return 0.0 * size if", _BOX_BOUNDS, compiled=True),
    Mutant("kernels/search/box_search.py", "boxes that tie left unopened",
        "if bound >= floor and", "if bound > floor + 1e-9 and", _BOXES, compiled=True),
    Mutant("kernels/search/box_tree.py", "the last point of a box left out",
        "for point in range(start, stop):", "for point in range(start, stop - 1):", _BOX_BOUNDS,
        compiled=True),
    Mutant("kernels/search/snapshot.py", "SLACK x DISTANCE dropped from the margin",
        "return rounding + largest * scalars[SLACK] * scalars[DISTANCE]", "return rounding",
        _MARGINS),
    Mutant("kernels/search/snapshot.py", "the last coordinate for the norm of the rest",
        "rest = fma(zeta[j], zeta[j], rest)", "rest = zeta[j] * zeta[j]", _BOUNDS, compiled=True),
    Mutant("kernels/search/certificate.py", "MISFIT dropped from the width's margin",
        " + scalars[MISFIT] + ", " + ", _MARGINS),
    Mutant("kernels/search/certificate.py", "the drift since the snapshot dropped",
        "rise = variance_drift(agent) - scalars[DRIFT]", "rise = 0.0", _MARGINS),
    Mutant("kernels/search/certificate.py", "a certificate without certainty",
        "found = ties if certain and not crowded", "found = ties if not crowded",
        _tests(
            "kernels/search/test_certificate.py::test_a_search_that_is_given_up_certifies_no_arm",
        ), compiled=True),
    Mutant("kernels/search/scan.py", "ranks of ties off by one",
        "below += arms[j] < arms[i]", "below += arms[j] <= arms[i]", _SAME_TIES, compiled=True),
    Mutant("kernels/search/snapshot_schedule.py", "a snapshot that helps made dearer",
        "if mean > 0.7 * schedule[_BEFORE]:", "if mean < 0.7 * schedule[_BEFORE]:", _SCHEDULE),
    Mutant("kernels/beliefs/gaussian/questions.py", "the roots of another moment",
        "    absorb_recent(belief.memory, belief, R, eta)\n", "", _ORIENTATION, compiled=True),
    # Agents and the loop.
    Mutant("kernels/beliefs/gaussian/update.py", "the drift of a step not raised",
        "drift[0] += 2.0**-52 * r", "pass", _MARGINS),
    Mutant("kernels/arithmetic/tile_variance.py", "half of the covariances",
        "row[i] = 0.5 * S[j, j] * b[j, i]", "row[i] = S[j, j] * b[j, i]",
        _tests("kernels/search/test_scan.py::test_variance_tile_is_the_quadratic_form")),
    Mutant("kernels/loop/record.py", "regret recorded one step late",
        "record.times[cursor] == t + 1", "record.times[cursor] == t", _PLAYED),
    Mutant("kernels/loop/environment.py", "the noise of the next step",
        "arm), variate(law, source, t))", "arm), variate(law, source, t + 1))", _PLAYED),
    Mutant("kernels/loop/lockstep.py", "a floor without its margin",
        "floor = work.best[i] - 2.0 * margin32(arms, agent.z)", "floor = work.best[i]",
        _tests(
            "simulation/test_simulation.py::test_runs_in_lockstep_are_runs_alone_where_single_precision_sees_ties",
        )),
    # Diagnostics.
    Mutant("kernels/diagnostics/mutual_information.py", "the variance of binning not taken off",
        "variance = 1.0 - width * width / 6.0", "variance = 1.0", _INFORMATION),
    Mutant("kernels/diagnostics/best_of_models.py", "a tie's value not shared",
        "values[tile * TILE + i] += best[m] / ties[m]", "values[tile * TILE + i] += best[m]",
        _BEST_ARMS),
    Mutant("kernels/diagnostics/best_of_models.py", "no margin above the least screened score",
        "ceiling = lowest + 2.0 * margin", "ceiling = lowest", _EITHER_SIDE),
    Mutant("kernels/beliefs/normal_law.py", "every draw the same",
        "probe_counter(probe_index, i), normals", "probe_counter(probe_index, 0), normals",
        _tests("kernels/diagnostics/test_best_of_models.py::test_draws_have_the_posterior_s_law"), compiled=True),
    # The problem.
    Mutant("fastes/problem/truth_values.py", "a covariance compared by its variances alone",
        "bool(is_diagonal and (diagonal == variances).all())", "bool((diagonal == variances).all())",
        _tests("simulation/test_truth.py::test_a_truth_is_compared_with_the_belief_by_its_values[other-1]")),
    Mutant("fastes/problem/whitening.py", "arms of other offsets taken for equal",
        "distinct_rows(np.column_stack([o, b]))", "distinct_rows(b)",
        _tests("problem/test_problem.py::test_arms_are_duplicates_only_if_their_offsets_are_equal_too")),
    Mutant("fastes/problem/factorisation.py", "equal rows no longer equal",
        "return factor[first[same]] * scale[first[same], None]", "return factor * scale[:, None]",
        _tests("problem/test_problem.py::test_equal_inputs_of_a_gaussian_process_stay_equal_to_the_bit")),
    # Checks and files.
    Mutant("fastes/files/atomic.py", "a new file takes another's place",
        "            if new:", "            if False:", _tests("files/test_files.py")),
    # Results.
    Mutant("fastes/results/result.py", "an action set that changes taken for given arms",
        'return "given" if c.actions == "fixed" else c.actions', 'return "given"',
        _tests("reports/test_report.py::test_a_report_says_which_arms_are_on_offer[the ball-True]")),
    Mutant("fastes/results/diagnostics.py", "runs left out counted in the mean",
        "mean = kept.sum(axis=0) / n", "mean = kept.sum(axis=0) / len(per_run)",
        _tests("results/test_result.py::test_a_mean_over_the_runs_that_are_known")),
    Mutant("fastes/results/diagnostics.py", "the error of the squares for that of the ratio",
        "residuals = np.square(squares - ratio * information).sum(axis=0)",
        "residuals = np.square(squares - squares.mean(axis=0)).sum(axis=0)",
        _tests(
            "results/test_result.py::test_the_information_ratio_is_one_of_means_with_the_error_of_the_delta_method",
        )),
    # Theory.
    Mutant("fastes/theory/step_sums.py", "kinks left inside a piece",
        "    if inside.all():\n", "    if inside[0]:\n",
        _tests("theory/test_step_sums.py::test_kinks_fall_between_pieces")),
    Mutant("fastes/theory/first_order.py", "b_S for its square in Theorem B",
        "b_over**2 * b_under * main", "b_over * b_under * main",
        _tests("theory/test_bounds.py::test_each_bound_against_plain_sums")),
    Mutant("fastes/theory/first_order.py", "a budget of its own for each set",
        "spent = c.over * x + c.under * y", "spent = np.maximum(c.over * x, c.under * y)",
        _tests("theory/test_bounds.py::test_the_loss_of_a_step_is_the_largest_that_its_divergence_allows")),
    Mutant("fastes/problem/constants.py", "estimates enter bounds without their errors",
        "return self.value + 3.0 * self.se", "return self.value",
        _tests("theory/test_constants.py::test_constants_enter_bounds_three_standard_errors_high")),
    Mutant("docs/studies/pbar/particle_filter.py", "particles drawn again keep their weights",
        "self.log_weights[g] = top + np.log(w.mean())", "pass",
        _tests("docs/test_pbar.py::test_drawing_again_changes_no_mean")),
    Mutant("fastes/theory/inequalities.py", "the divergence at t counted as before t",
        "weights = step_weights(found.t[: i + 1], int(t))", "weights = step_weights(found.t[: i + 1], int(t) + 1)",
        _tests("theory/test_diagnostics.py::test_the_measured_information_bound"), compiled=True),
    Mutant("fastes/theory/exact_laws.py", "parallel arms not held against each other",
        "best = ~level.any(axis=1) & (low < high)", "best = low < high",
        _tests("theory/test_optimal_action.py::test_of_parallel_arms_the_highest_is_the_best")),
    Mutant("fastes/theory/sampled_laws.py", "the jackknife's spread of one replicate",
        "spread = np.sqrt((REPLICATES - 1) * np.var(left_out))",
        "spread = np.sqrt(np.var(left_out))",
        _tests("theory/test_optimal_action.py::test_the_error_of_the_entropy_is_what_it_says"), compiled=True),
    Mutant("kernels/ensembles/row_log.py", "a block of two halves that is the later one alone",
        "absorb(U, log.scratch.eta, columns, r)", "absorb(U, log.scratch.eta, columns, 0)",
        _tests("kernels/ensembles/test_row_log.py::test_factors_are_roots_of_what_they_stand_for"), compiled=True),
    Mutant("kernels/ensembles/row_log.py", "one set of normals for all that is forgotten",
        "probe_counter(half, np.int64(models.model[slot]))", "probe_counter(0, 0)",
        _tests("kernels/ensembles/test_row_log.py::test_models_have_the_law_of_the_posterior"), compiled=True),
    Mutant("kernels/actions/subset.py", "an arm that is drawn twice",
        "            number = j\n", "            number = number\n",
        _tests("actions/test_pathwise.py::test_every_subset_is_as_likely"), compiled=True),
    Mutant("kernels/actions/fresh.py", "the same arms at every step",
        "_U((first + i) * half + k), _U(t))\n    for i", "_U((first + i) * half + k), _U(0))\n    for i",
        _tests("actions/test_pathwise.py::test_it_plays_as_the_reference_says"), compiled=True),
    Mutant("kernels/actions/given.py", "sets that do not begin again",
        "actions.rows[t % actions.rows.shape[0]]", "actions.rows[min(t, actions.rows.shape[0] - 1)]",
        _tests("actions/test_pathwise.py::test_it_plays_as_the_reference_says"), compiled=True),
    Mutant("kernels/loop/environment.py", "regret against the first tile only",
        "for tile in range(arms.tiles.shape[0]):\n        score_tile(arms.tiles[tile], arms.offsets[tile], environment.z",
        "for tile in range(1):\n        score_tile(arms.tiles[tile], arms.offsets[tile], environment.z",
        _tests("actions/test_pathwise.py::test_it_plays_as_the_reference_says"), compiled=True),
    Mutant("kernels/search/ball_search.py", "optimism that leaves out the mean",
        "axpy(y[i] * (calm + bold", "axpy(y[i] * (0.0 + bold",
        _tests("actions/test_pathwise.py::test_no_arm_of_the_ball_is_more_optimistic_than_linucb_s"), compiled=True),
    Mutant("kernels/actions/whitening.py", "arms of an earlier offer stay",
        "for i in range(count, TILE):", "for i in range(count, 0):",
        _tests("actions/test_live.py::test_offers_of_any_size_one_after_the_other"), compiled=True),
    Mutant("fastes/agents/live_calls.py", "what is refused late is learned in part",
        "if len(rows) > MOST_AT_ONCE:", "if len(rows) > 1_000_000:",
        _tests("actions/test_live.py::test_one_row_of_many_that_is_none_keeps_all_from_being_learned")),
    Mutant("kernels/search/slate.py", "an arm twice on a slate",
        "work.largest[tile] = largest_of(work.left[tile])\n    return", "pass\n    return",
        _tests("agents/test_live_choices.py::test_a_slate_is_the_best_arms_of_one_model_best_first"), compiled=True),
    Mutant("fastes/agents/live_law.py", "an estimate of probability 0 is logged",
        "p = (law.draws * p + 1.0) / (law.draws + 1.0)", "pass",
        _tests("agents/test_live_choices.py::test_the_inverse_of_an_estimated_probability_is_right_on_average")),
    Mutant("fastes/simulation/python_loop.py", "p_t without the rewards",
        "observe(self._box, self._arms[:n], self._rewards[:n])", "pass",
        _tests("agents/test_own.py::test_diagnostics_are_those_of_a_compiled_agent_of_the_same_law_and_plays")),
    Mutant("fastes/theory/divergences.py", "twice the correction of an entropy",
        "sum())) + float(law.p @ law.variance) / 2.0", "sum())) + float(law.p @ law.variance)",
        _tests("theory/test_diagnostics.py::test_the_correction_takes_off_what_few_draws_add"),
        compiled=True),
    Mutant("fastes/theory/line_sampling.py", "the weight of the scale left out",
        "- k * math.log(p.scale)", "",
        _tests("theory/test_line_sampling.py::test_in_the_plane_they_are_the_exact_ones")),
    Mutant("fastes/theory/winning_regions.py", "narrow regions taken for empty ones",
        "for margin in _MARGINS if region.offsets.any() else _MARGINS[:1]:",
        "for margin in _MARGINS[:1]:",
        _tests(
            "theory/test_winning_regions.py::test_the_inner_point_has_the_room_that_there_is",
        )),
    # Simulation, studies and the command line.
    Mutant("fastes/studies/execution.py", "a setting whose problem takes no memory",
        "return problem.bytes + sum(", "return sum(",
        _tests("studies/test_study.py::test_the_memory_of_a_setting_is_that_of_the_plan_and_of_its_problem")),
    Mutant("fastes/problem/random_problem.py", "a ball of rank 1",
        "min(actions.counted_arms or self.d, self.d)", "min(actions.counted_arms or 1, self.d)",
        _tests("simulation/test_memory.py::test_the_memory_of_a_problem_is_what_it_takes_while_it_is_made")),
    Mutant("fastes/simulation/checkpoint_file.py", "states of several runs cut one too late",
        "np.cumsum(lengths[name])[:-1]", "np.cumsum(lengths[name])[1:]",
        _tests(
            "simulation/test_checkpoint.py::test_any_checkpoint_goes_on_to_the_same_bits[duplicate arms-Greedy()]",
        ),
        compiled=True),
    Mutant("kernels/jit/cache.py", "kernels in folders left out of the cache's name",
        'kernels.rglob("*.py")', 'kernels.glob("*.py")',
        _tests("kernels/jit/test_cache.py::test_a_changed_callee_in_another_file_is_seen"),
        compiled=True),
    Mutant("fastes/files/archive.py", "members that are not counted",
        "if sorted(names) != sorted(wanted):", "if False:",
        _tests("files/test_archive.py::test_a_part_that_is_lost_or_changed_is_noticed",
            "files/test_archive.py::test_a_member_that_is_there_twice_is_refused")),
    Mutant("fastes/files/kinds.py", "any file replaced",
        "if there == kind:", "if True:",
        _tests("files/test_kinds.py::test_a_file_is_replaced_only_by_one_of_its_kind")),
    Mutant("fastes/results/comparison.py", "differences of unlike runs",
        "x.regret.per_run[ours] - y.regret.per_run[theirs]",
        "x.regret.per_run[ours] - y.regret.per_run[: len(ours)]",
        _tests("results/test_result.py::test_differences_are_of_the_runs_that_both_have")),
    Mutant("fastes/studies/tasks.py", "tasks that leave runs out",
        "return all(end == study.runs for end in ends)", "return True",
        _tests("studies/test_study.py::test_tasks_that_do_not_cover_a_study_are_noticed")),
    Mutant("fastes/simulation/workers.py", "plays of unfinished runs counted",
        "self._counts_before + self._counts_finished.sum(axis=0)",
        "self._counts_before + self._counts.sum(axis=0)",
        _tests("simulation/test_stopped.py::test_the_runs_that_were_done_are_there_to_the_bit"),
        compiled=True),
    Mutant("fastes/simulation/workers.py", "a run that failed is written",
        "elif stopped and not pool.failures:", "elif stopped:",
        _tests("simulation/test_checkpoint.py::test_a_run_that_fails_before_an_interrupt_spoils_no_checkpoint"),
        compiled=True),
    Mutant("kernels/loop/live.py", "rewards of a batch that have one number",
        "live.row\n        )\n        count[0] += 1", "live.row\n        )",
        _tests("agents/test_live.py::test_rewards_may_come_late_and_in_batches"),
        compiled=True),
    Mutant("fastes/reports/study_section.py", "the bound of TS for inflated TS",
        'usual = {"inflation": 1.0, ', 'usual = {',
        _tests("reports/test_report.py::test_a_study_has_bounds_at_the_settings_that_they_are_on"), compiled=True),
    # Code from outside the package.
    Mutant("kernels/jit/outside.py", "modules beside left out of the hash",
        "ModuleFinder([str(itself.parent)], excludes=beside)", "ModuleFinder([])",
        _tests("kernels/jit/test_outside.py::test_an_edit_is_seen"), compiled=True),
    Mutant("kernels/jit/outside.py", "files that were edited since they were imported trusted",
        "if max(state.st_mtime, state.st_ctime) > _BEGIN:", "if not _BEGIN:",
        _tests("kernels/jit/test_outside.py::test_a_file_that_was_edited_in_this_process_gives_no_hash"), compiled=True),
    # Beliefs that forget.
    Mutant("kernels/ensembles/weight_log.py", "a model that does not fade unless the prior is refilled",
        "fade * xi[j] + (normals[n + j] if of_prior > 0 else 0.0)",
        "xi[j] if of_prior == 0 else fade * xi[j] + normals[n + j]",
        _tests("agents/test_forgetting.py::test_a_model_that_is_read_is_the_reference_s[copies-9-3-3-400-0.9]")),
    Mutant("kernels/beliefs/gaussian/forget.py", "no account of variances that rise",
        "return (1.0 / memory.discount - 1.0)", "return 0.0",
        _tests("agents/test_forgetting.py::test_the_belief_is_that_of_its_definition[9-4-60-linucb-0.99]")),
    Mutant("kernels/beliefs/memory.py", "a refill that forgets how long ago it was",
        "np.sqrt(forgotten) * fading(memory, now % n)", "np.sqrt(forgotten)",
        _tests("agents/test_forgetting.py::test_a_model_that_is_read_is_the_reference_s[copies-9-3-3-400-0.9]")),
    Mutant("kernels/ensembles/refill.py", "models that share the normals of a refill",
        "_U(m) * _U((r + 1) >> 1) + _U(pair)", "_U(m) + _U(pair)",
        _tests("agents/test_forgetting.py::test_models_that_are_all_kept_are_those_of_their_definition[70-3-150-0.9]")),
    Mutant("kernels/beliefs/gaussian/window.py", "the oldest reward still there where the next is linearised",
        "        refactor(belief)\n        return", "        belief.since_refactor[2] = belief.since_refactor[0] + 1\n        return",
        _tests("kernels/beliefs/test_linearised.py::test_a_belief_that_forgets_linearises_at_what_is_left[2-60-30.0-poisson-window-7]")),
    Mutant("kernels/beliefs/glm/update.py", "a mode that stays where a reward was expected",
        "return descent(belief, False, g, p), False", "return length, True",
        _tests("kernels/beliefs/test_glm.py::test_the_mode_moves_as_data_are_forgotten[6-3-30.0-poisson-0.9]")),
    Mutant("kernels/ensembles/weight_log.py", "no room for what was dropped in a restored log",
        "most * (1.0 + 1e-6) + LEAST_WEIGHT", "most * (1.0 + 1e-6)",
        _tests("agents/test_forgetting_paths.py::test_any_checkpoint_goes_on_to_the_same_bits[clicks]"), compiled=True),
    Mutant("fastes/agents/ensemble_sampling.py", "signs that fade in a batch, whose models are those of its first run",
        "(r + 40.0) if self._is_always_eager else", '(r + 40.0) if self.engine == "eager" else',
        _tests("agents/test_forgetting_paths.py::test_all_modes_give_the_same_bits[signs]"), compiled=True),
    # The family of agents.
    Mutant("kernels/ensembles/deviations.py", "a reflected model not reflected",
        "return choice - M, -deviations.inflation", "return choice - M, deviations.inflation",
        _tests("agents/test_family.py::test_eager_ensembles_with_signs_reflections_and_inflation")),
    Mutant("kernels/ensembles/deviations.py", "lanes of large counts used twice",
        "lane += _U(whole + 1)", "lane += _U(whole)",
        _tests("kernels/ensembles/test_deviations.py::test_sums_of_signs")),
    Mutant("kernels/ensembles/missed_plays.py", "signs of a first read from the lanes of normals",
        "free = np.uint64(xi.shape[0])", "free = np.uint64(0)",
        _tests("agents/test_family.py::test_deferred_signs_are_summed_by_arm")),
    Mutant("kernels/agents/thompson.py", "inflation of the mean in place of the deviation",
        "scaled[j] = scale * block", "scaled[j] = block",
        _tests("agents/test_family.py::test_inflated_thompson_sampling")),
    Mutant("kernels/agents/ensemble_plus_plus.py", "weights of both kinds from one stream",
        "_mix(agent, source, REFERENCE, t, agent.z)", "_mix(agent, source, PERTURBATION, t, agent.z)",
        _tests("agents/test_family.py::test_ensemble_plus_plus")),
    Mutant("kernels/agents/ensemble_plus_plus.py", "mixtures that are not inflated",
        "scale = agent.inflation * noise / np.sqrt", "scale = noise / np.sqrt",
        _tests("agents/test_family.py::test_inflated_ensemble_plus_plus")),
    Mutant("kernels/agents/linear_ensemble.py", "a confidence radius that does not grow",
        "np.sqrt(width.confidence + models.log_det[0])", "np.sqrt(width.confidence)",
        _tests("agents/test_linear_ensemble.py::test_a_model_is_read_at_the_confidence_radius")),
    Mutant("kernels/agents/linear_ensemble.py", "models drawn anew ever after they once were",
        "log_det[1] = log_det[0]", "log_det[1] = log_det[1]",
        _tests("agents/test_linear_ensemble.py::test_models_are_drawn_anew_when_the_determinant_has_grown")),
    Mutant("fastes/theory/lower_bounds.py", "the chance that one arm alone is good left out",
        "none * others * p", "none * p",
        _tests("theory/test_lower_bounds.py::test_theorem_d_plus_by_quadrature")),
    Mutant("kernels/beliefs/gaussian/update.py", "the arm that makes a refactoring due forgotten",
        "absorb(factor, eta, columns, n + 1)", "absorb(factor, eta, columns, n)",
        _tests("kernels/agents/test_family.py::test_perturbed_history_draws_from_the_covariance_of_the_history"), compiled=True),
    Mutant("kernels/agents/bayes_ucb.py", "the quantile of the step before",
        "value_quantile(noise, 1.0 / (t + 2.0))", "value_quantile(noise, 1.0 / (t + 1.0))",
        _tests("agents/test_family.py::test_bayes_ucb")),
    Mutant("kernels/search/certificate.py", "bounds of less optimism relied on",
        "if searching and optimism(agent) > work.snapshot.scalars[OPTIMISM]:", "if False:",
        _tests("kernels/search/test_certificate.py::test_the_choices_are_those_of_a_full_scan"), compiled=True),
    Mutant("kernels/agents/epsilon_greedy.py", "explores when it should not",
        "t) < agent.epsilon", "t) > agent.epsilon",
        _tests("agents/test_family.py::test_epsilon_greedy")),
    Mutant("fastes/agents/ensemble_plus_plus.py", "all runs begin with the models of one",
        "starts_alike: ClassVar[bool] = False", "starts_alike: ClassVar[bool] = True",
        _tests("agents/test_family_laws.py::test_runs_in_a_batch_are_those_that_are_done_alone"), compiled=True),
    # Information-directed sampling.
    Mutant("kernels/search/ratio_frontier.py", "a tangent twice as steep",
        "0.5 * D / v)", "D / v)", _FRONTIER),
    Mutant("kernels/search/information_ratio.py", "variances of sums, not of shares",
        "axpy(share * apart[j], apart", "axpy(apart[j], apart", _RATIO),
    Mutant("kernels/search/information_ratio.py", "a workspace that keeps the best arms of a step",
        "        work.slot[scratch.winner[slot]] = -1\n", "        pass\n", _RATIO),
    Mutant("kernels/search/information_ratio.py", "probes that draw the models of a step",
        "source, DIAGNOSTICS, probe_counter", "source, INFORMATION_MODELS, probe_counter",
        _tests("kernels/search/test_information_ratio.py::test_a_probe_draws_its_own_models")),
    # Noise that is learned.
    Mutant("kernels/beliefs/noise.py", "errors not divided by how uncertain the mean was",
        "noise.law[1] += 0.5 * g * error * error", "noise.law[1] += 0.5 * error * error",
        _tests("kernels/beliefs/test_noise.py::test_the_posterior_is_that_of_all_rewards_at_once")),
    Mutant("kernels/streams/gamma.py", "the uniform number of another step",
        "_uniform(odd if t & 1 else even)", "_uniform(even if t & 1 else odd)",
        _tests("kernels/streams/test_gamma.py::test_a_try_that_is_rejected_is_followed_by_another")),
    Mutant("kernels/ensembles/missed_plays.py", "a model of a prior that is too wide",
        "        xi[j] *= root\n", "        pass\n",
        _tests("agents/test_learned_noise.py::test_models_of_an_ensemble_are_draws_given_the_noise"), compiled=True),
    # Worlds that differ from the belief, and late rewards.
    Mutant("kernels/loop/late.py", "the key of a late reward is that of the arm of now",
        "        late.keys[slot], key = key, late.keys[slot]\n", "",
        _tests("actions/test_late.py::test_late_plays_of_one_arm_are_known_as_such"), compiled=True),
    Mutant("fastes/simulation/batch.py", "a checkpoint without its late rewards",
        "        arrays = saved_arrays(state) | environment_arrays(environment)\n", "        arrays = saved_arrays(state)\n",
        _tests("simulation/test_late_rewards.py::test_sets_that_change_go_on_to_the_same_bits"), compiled=True),
    Mutant("kernels/loop/drift.py", "theta moves by the numbers of the step before",
        "    prior, noise = drift.prior.value, drift.noise\n    fill_normals(source, THETA, t,",
        "    prior, noise = drift.prior.value, drift.noise\n    fill_normals(source, THETA, t - 1,",
        _tests("simulation/test_drift.py::test_theta_of_every_step_is_that_of_the_reference")),
    Mutant("fastes/simulation/saved_environment.py", "a checkpoint resumes with theta of step 0",
        "        moving.theta[:], moving.step[:] = theta, step\n", "        moving.step[:] = step\n",
        _tests("simulation/test_drift.py::test_a_checkpoint_between_changes_goes_on_to_the_same_bits")),
    Mutant("fastes/simulation/experiment.py", "another noise draws another theta",
        "if not self._changes_prior:", "if self.world.truth is None:",
        _tests("simulation/test_truth.py::test_another_noise_leaves_every_bit_of_theta"), compiled=True),
    # Logged plays.
    Mutant("kernels/loop/replay.py", "an agent that learns from rows that do not count",
        "if plays.always or found > 0:", "if True:",
        _tests("logs/test_replay.py::test_a_replay_is_a_live_agent_s_loop[some-agent1-LinearBandit-rejection]")),
    Mutant("kernels/loop/replay.py", "the key of an available arm is its place",
        "    return offers.numbers[i, place]\n", "    return place\n",
        _tests("logs/test_replay.py::test_a_replay_is_a_live_agent_s_loop[some-agent1-LinearBandit-ips]")),
    Mutant("fastes/logs/api.py", "rejection without thinning",
        "uniforms[:, 0] < least / p", "uniforms[:, 0] < 1.0",
        _tests("logs/test_replay.py::test_a_replay_is_a_live_agent_s_loop[all-agent0-LinearBandit-rejection]")),
    Mutant("fastes/logs/marginal.py", "moments of the posterior without its mean",
        "second = C + c[:, :, None] * c[:, None, :]", "second = C",
        _tests("logs/test_prior.py::test_the_gradient_is_that_of_the_density")),
]
# fmt: on
