"""Plausible slips, and the tests that must notice each (mutants.py)."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """One slip: `text`, which stands once in `file`, becomes `replacement`."""

    file: str
    slip: str
    text: str
    replacement: str
    tests: tuple[str, ...]
    compiled: bool = False  # whether the tests need the compiler


def _tests(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/{name}" for name in names)


_EQUATION_1 = _tests(
    "kernels/posterior/test_posterior.py::test_update_is_equation_1[20-9-update]",
    "kernels/posterior/test_posterior.py::test_update_is_equation_1[20-9-update_with_root]",
)
_REFACTOR = _tests(
    "kernels/posterior/test_posterior.py::test_refactor_computes_the_inverse_and_its_root[200-9]"
)
_MEAN_AFRESH = _tests(
    "kernels/posterior/test_posterior.py::test_the_mean_is_computed_afresh_too[9]"
)
_BITS = _tests("kernels/streams/test_streams.py::test_random_bits_are_those_of_the_reference")
_NORMALS = _tests("kernels/streams/test_streams.py::test_normals_are_those_of_the_reference")
_PROBE = _tests(
    "kernels/ensembles/test_deferred.py::test_a_model_that_was_read_before_is_probed_with_what_it_has_missed_since"
)
_ALGORITHM_1 = _tests(
    "kernels/ensembles/test_deferred.py::test_every_action_and_model_is_algorithm_1_s[9-60-full]"
)
_FLUSH = _tests(
    "kernels/ensembles/test_eager.py::test_flush_adds_each_step_s_perturbation_times_its_arm[7-11-3-2]"
)
_READ = _tests(
    "kernels/ensembles/test_eager.py::test_reading_a_model_gives_what_flushing_would_to_the_bit"
)
_WALKS = _tests("kernels/ensembles/test_play_log.py::test_walks_are_right_between_many_marks")
_WALKS_SHORT = _tests("kernels/ensembles/test_play_log.py::test_walks_are_those_of_the_naive_log")
_TIES = _tests("kernels/search/test_scan.py::test_a_scan_counts_the_ties_and_finds_the_first")
_BEST = _tests("kernels/search/test_scan.py::test_the_best_arm_is_numpy_s")
_MARGINS = _tests("kernels/search/test_snapshot_margins.py")
_BOUNDS = _tests("kernels/search/test_certificate.py::test_every_bound_is_above_every_score")
_ENVELOPE = _tests(
    "kernels/search/test_certificate.py::test_the_envelope_is_convex_and_falls_from_tile_to_tile"
)
_SAME_TIES = _tests(
    "kernels/search/test_certificate.py::test_ties_go_to_the_arm_of_a_full_scan_whatever_their_order"
)
_SCHEDULE = _tests("kernels/search/test_snapshot_schedule.py")
_PLAYED = _tests("agents/test_pathwise.py::test_greedy")
_INFORMATION = _tests(
    "kernels/diagnostics/test_best_of_models.py::test_information_is_that_of_the_mixture"
)
_BEST_ARMS = _tests(
    "kernels/diagnostics/test_best_of_models.py::test_best_arms_are_those_of_the_reference[7-duplicate arms]"
)
_HAND = _tests(
    "theory/test_bounds.py::test_one_dimension_two_arms_by_hand",
    "theory/test_bounds.py::test_divergence_bounds_by_hand",
)

# fmt: off
MUTANTS = [
    # The posterior.
    Mutant("kernels/posterior/update.py", "the noise's variance dropped from the gain",
        "g = 1.0 / (1.0 + dot(", "g = 1.0 / (0.0 + dot(", _EQUATION_1),
    Mutant("kernels/posterior/update.py", "wrong sign in the innovation",
        "axpy(g * (y - dot(", "axpy(g * (y + dot(", _EQUATION_1),
    Mutant("kernels/posterior/update.py", "g for its root in Potter's form",
        "c = root_g / (1.0 + root_g)", "c = root_g / (1.0 + g)", _EQUATION_1),
    Mutant("kernels/posterior/update.py", "a new arm not counted",
        "posterior.since_refactor[1] += 1", "pass",
        _tests("kernels/posterior/test_posterior.py::test_plays_of_one_arm_are_remembered_as_one_row")),
    Mutant("kernels/posterior/update.py", "pay of a known arm replaced, not added",
        "] += y", "] = y", _MEAN_AFRESH),
    Mutant("kernels/posterior/refactor.py", "a reflection by half",
        "scale = 2.0 / (head * head + square)", "scale = 1.0 / (head * head + square)", _REFACTOR),
    Mutant("kernels/posterior/refactor.py", "pay of n plays scaled the wrong way",
        "recent_pay[i] / scale", "recent_pay[i] * scale", _MEAN_AFRESH),
    Mutant("kernels/posterior/refactor.py", "wrong sign in the back substitution",
        "rest = posterior.eta[i] - dot(", "rest = posterior.eta[i] + dot(", _MEAN_AFRESH),
    Mutant("kernels/posterior/refactor.py", "plays counted once",
        "scale = np.sqrt(np.float64(posterior.recent_plays[i]))", "scale = 1.0", _MEAN_AFRESH),
    Mutant("kernels/actions/offer.py", "all arms known by one key", "    return arm", "    return 0",
        _tests("kernels/ensembles/test_deferred.py::test_the_same_over_a_horizon_that_refactors")),
    Mutant("kernels/loop/step.py", "an offset left in a reward",
        "reward - offset, source, t)", "reward, source, t)", _PLAYED),
    Mutant("fastes/results/comparison.py", "seeds not compared before a difference is paired",
        '("agent", "engine",', '("seed", "agent", "engine",', _tests("results/test_result.py")),
    Mutant("fastes/simulation/experiment.py", "a field of an experiment not saved",
        "for each in fields(self)[2:]:\n            value", "for each in fields(self)[2:-1]:\n            value",
        _tests("simulation/test_checkpoint.py::test_the_smallest_of_all_is_kept")),
    # Arithmetic.
    Mutant("kernels/arithmetic/vectors.py", "an index twice in a sum",
        "s7 = fma(x[i + 7], y[i + 7], s7)", "s7 = fma(x[i + 7], y[i + 6], s7)",
        _tests("kernels/arithmetic/test_floats.py::test_dot_is_the_inner_product")),
    Mutant("kernels/arithmetic/vectors.py", "a row twice in a product",
        "out[j] = fma(x3, matrix[i + 3, j], s)", "out[j] = fma(x3, matrix[i + 2, j], s)",
        _tests("kernels/posterior/test_posterior.py::test_multiply_transposed_is_the_product")),
    Mutant("kernels/arithmetic/tile_product.py", "the scores of all models in one row",
        "_INDEX(model * TILE + column)", "_INDEX(column)", _tests("kernels/arithmetic/test_tile_product.py"),
        compiled=True),
    # Streams.
    Mutant("kernels/streams/philox.py", "one key schedule for both keys",
        "key1 = (key1 + _WEYL_1) & _LOW", "key1 = (key1 + _WEYL_0) & _LOW", _BITS),
    Mutant("kernels/streams/philox.py", "the counter's high bits dropped",
        "((counter >> _32) << _U(8)) | stream", "stream", _BITS),
    Mutant("kernels/streams/draws.py", "no draw is rejected",
        ">= (~n + _U(1)) % n", ">= _U(0)",
        _tests("kernels/streams/test_streams.py::test_a_draw_is_rejected_exactly_when_it_must_be")),
    Mutant("kernels/streams/draws.py", "one uniform twice",
        "np.float64(second >> _U(11))", "np.float64(first >> _U(11))",
        _tests(
            "kernels/streams/test_streams.py::test_uniforms_are_uniform_and_below_one",
            "kernels/streams/test_streams.py::test_uniforms_are_those_of_the_reference",
        )),
    Mutant("kernels/streams/normals.py", "one of a pair at both times",
        "return odd if t & 1 else even", "return even", _READ),
    Mutant("kernels/streams/normals.py", "a wrong quarter turn",
        "-x if ((quarter + 1) & 2) != 0", "-x if (quarter & 2) != 0", _NORMALS),
    Mutant("kernels/streams/layout.py", "a stream used twice",
        "OPTIMAL_ACTION = _U(10)", "OPTIMAL_ACTION = _U(9)",
        _tests("kernels/streams/test_streams.py::test_streams_have_numbers_of_their_own")),
    # Ensembles.
    Mutant("kernels/ensembles/deferred.py", "a probe without catch-up",
        "agent.models.read_at[slot], out[i])", "now(agent.log), out[i])", _PROBE),
    Mutant("kernels/ensembles/deferred.py", "a wrong stream of perturbations",
        "_catch_up(agent, source, PERTURBATION,", "_catch_up(agent, source, INITIAL_MODELS,",
        _ALGORITHM_1),
    Mutant("kernels/ensembles/deferred.py", "the time of a read not kept",
        "models.read_at[slot] = now(agent.log)", "models.read_at[slot] = 0", _ALGORITHM_1),
    Mutant("kernels/ensembles/deferred.py", "plays for their root in a first read",
        "normals[r + i] *= np.sqrt(", "normals[r + i] *= (", _ALGORITHM_1),
    Mutant("kernels/ensembles/deferred.py", "plays for their root in a catch-up",
        "w[i] *= np.sqrt(", "w[i] *= (", _ALGORITHM_1),
    Mutant("kernels/ensembles/eager.py", "perturbations of an odd step shifted",
        "odd = start & 1", "odd = 0", _FLUSH),
    Mutant("kernels/ensembles/eager.py", "a read one step late",
        "models.pending[s], xi)", "models.pending[s - 1], xi)", _READ),
    Mutant("kernels/ensembles/eager.py", "steps forgotten but not erased",
        "models.pending[:] = 0.0", "pass",
        _tests("kernels/ensembles/test_eager.py::test_when_the_models_are_flushed_changes_no_bit"), compiled=True),
    Mutant("kernels/ensembles/eager.py", "a probe that leaves one step unflushed",
        "if models.span[1] > 0:", "if models.span[1] > 1:",
        _tests("kernels/ensembles/test_eager.py::test_a_probe_of_an_eager_ensemble_has_taken_in_every_step")),
    Mutant("kernels/ensembles/cached_models.py", "the last model finds no room",
        "models.used[0] < models.M", "models.used[0] < models.M - 1",
        _tests("kernels/ensembles/test_cached_models.py")),
    Mutant("kernels/ensembles/cached_models.py", "no way round the end of the table",
        "entry = (entry + 1) & (size - 1)", "entry = entry + 1",
        _tests("kernels/ensembles/test_cached_models.py")),
    Mutant("kernels/ensembles/cached_models.py", "times of reading not copied",
        "models.read_at[:used] = read_at", "models.read_at[:used] = 0",
        _tests("kernels/ensembles/test_cached_models.py")),
    # The play log.
    Mutant("kernels/ensembles/play_log.py", "slots widened one too late",
        "if slot == 1 << 8 * size[_WIDTH]:", "if slot == 1 + (1 << 8 * size[_WIDTH]):",
        _tests("kernels/ensembles/test_play_log.py::test_places_take_as_many_bytes_as_they_need[257]")),
    Mutant("kernels/ensembles/play_log.py", "a play too few after a milestone",
        "for s in range(at, time):", "for s in range(at, time - 1):", _WALKS, compiled=True),
    Mutant("kernels/ensembles/play_log.py", "a play too many before a milestone",
        "for s in range(time, at):", "for s in range(time - 1, at):", _WALKS, compiled=True),
    Mutant("kernels/ensembles/play_log.py", "a milestone without its last slot",
        "log.milestone_start[milestone + 1] = start + slots",
        "log.milestone_start[milestone + 1] = start + slots - 1", _WALKS, compiled=True),
    Mutant("kernels/ensembles/play_log.py", "workspace not cleared",
        "log.since[slots[i]] = 0", "pass", _WALKS_SHORT),
    Mutant("kernels/ensembles/play_log.py", "full one play too late",
        "or (time + 1) * width > log.sequence.shape[0]",
        "or time * width > log.sequence.shape[0]",
        _tests("kernels/ensembles/test_play_log.py::test_a_log_is_full_exactly_when_its_plays_are_done")),
    Mutant("kernels/ensembles/play_log.py", "milestones lost in growth",
        '"milestone_start", "counts")', '"milestone_start")', _WALKS, compiled=True),
    # Search.
    Mutant("kernels/search/scan.py", "ties of earlier tiles forgotten",
        "ties += count", "ties = count",
        _tests("kernels/search/test_scan.py::test_ties_in_several_tiles_are_all_counted")),
    Mutant("kernels/search/scan.py", "the first tile left out of a tie",
        "for tile in range(arm // TILE, ", "for tile in range(arm // TILE + 1, ", _TIES),
    Mutant("kernels/search/scan.py", "a tie broken by another step's number",
        "rank = integer(source, TIES, t, ties)", "rank = integer(source, TIES, t + 1, ties)",
        _tests("agents/test_pathwise.py::test_ties_are_drawn_from_the_ties_stream")),
    Mutant("kernels/search/tile_scores.py", "a column never looked at",
        "m7 = larger(scores[i + 7], m7)", "m7 = larger(scores[i + 6], m7)", _BEST),
    Mutant("kernels/search/screening.py", "a margin without its dimension",
        "_RELATIVE_MARGIN * (r + 3) * size", "_RELATIVE_MARGIN * size",
        _tests("kernels/search/test_scan.py::test_the_margin_of_a_first_look_holds"), compiled=True),
    Mutant("kernels/search/screening.py", "the margin taken off once",
        "return np.float64(best) - 2.0 * margin", "return np.float64(best) - 1.0 * margin",
        _tests("kernels/search/test_scan.py::test_a_first_look_leaves_room_for_an_error_on_either_side")),
    Mutant("kernels/search/screening.py", "models beyond single precision relied on",
        "norm < 1e30 and ", "",
        _tests("kernels/search/test_scan.py::test_a_first_look_that_is_not_to_be_relied_on_says_so")),
    Mutant("kernels/search/snapshot.py", "SLACK x DISTANCE dropped from the margin",
        "return rounding + largest * scalars[SLACK] * scalars[DISTANCE]", "return rounding",
        _MARGINS),
    Mutant("kernels/search/snapshot.py", "the defect of W'R dropped from SLACK",
        "scalars[SLACK] = defect + 8 *", "scalars[SLACK] = 8 *", _MARGINS),
    Mutant("kernels/search/snapshot.py", "the misfit of W'W dropped from MISFIT",
        "scalars[MISFIT] = misfit + 8 *", "scalars[MISFIT] = 8 *", _MARGINS),
    Mutant("kernels/search/snapshot.py", "rounding dropped from the margin",
        "rounding = 1.1 * _UNIT32 * (2 * r + 10) * size", "rounding = 0.0", _BOUNDS, compiled=True),
    Mutant("kernels/search/snapshot.py", "a chord's lower end for the chord",
        "return fma(x - i, high - low, low)", "return low", _BOUNDS, compiled=True),
    Mutant("kernels/search/snapshot.py", "the last coordinate for the norm of the rest",
        "rest = fma(zeta[j], zeta[j], rest)", "rest = zeta[j] * zeta[j]", _BOUNDS, compiled=True),
    Mutant("kernels/search/snapshot.py", "an envelope of one tile for that of all later",
        "envelope[:] = np.maximum.accumulate(envelope[::-1])[::-1]", "pass", _ENVELOPE),
    Mutant("kernels/search/snapshot.py", "the best arm itself not listed",
        "floor = best - 1e-5 *", "floor = best + 1e-5 *",
        _tests("kernels/search/test_certificate.py::test_an_arm_that_is_known_and_the_best_is_listed"),
        compiled=True),
    Mutant("kernels/search/certificate.py", "MISFIT dropped from the width's margin",
        " + scalars[MISFIT] + ", " + ", _MARGINS),
    Mutant("kernels/search/certificate.py", "the drift since the snapshot dropped",
        "rise = variance_drift(agent) - scalars[DRIFT]", "rise = 0.0", _MARGINS),
    Mutant("kernels/search/certificate.py", "the drift of the snapshot not noted",
        "work.snapshot.scalars[DRIFT] = variance_drift(agent)",
        "work.snapshot.scalars[DRIFT] = 0.0", _MARGINS),
    Mutant("kernels/search/certificate.py", "the width's margin not added",
        "slack += _width_margin(agent, arms, work)", "pass", _MARGINS),
    Mutant("kernels/search/certificate.py", "a certificate without certainty",
        "found = ties if certain and not crowded", "found = ties if not crowded",
        _tests(
            "kernels/search/test_certificate.py::test_the_choices_are_those_of_a_full_scan[clustered-ThompsonSampling()]",
        ), compiled=True),
    Mutant("kernels/search/certificate.py", "ranks of ties off by one",
        "below += arms[j] < arms[i]", "below += arms[j] <= arms[i]", _SAME_TIES, compiled=True),
    Mutant("kernels/search/snapshot_schedule.py", "a snapshot half taken is trusted",
        "    schedule[_PAUSE] = np.inf", "    pass", _SCHEDULE),
    Mutant("kernels/search/snapshot_schedule.py", "patience ignored",
        "schedule[_RENT] >= patience * snapshot_cost", "schedule[_RENT] >= snapshot_cost",
        _SCHEDULE),
    Mutant("kernels/search/snapshot_schedule.py", "a snapshot that helps made dearer",
        "if mean > 0.7 * schedule[_BEFORE]:", "if mean < 0.7 * schedule[_BEFORE]:", _SCHEDULE),
    Mutant("kernels/search/snapshot_schedule.py", "searches that fail tried as often",
        "min(_LONGEST_PAUSE, 2.0 * schedule[_NEXT_PAUSE])",
        "min(_LONGEST_PAUSE, 1.0 * schedule[_NEXT_PAUSE])", _SCHEDULE),
    # Agents and the loop.
    Mutant("kernels/agents/linucb.py", "the drift of a step not raised",
        "agent.variance_drift[0] += 2.0**-52 * r", "pass", _MARGINS),
    Mutant("kernels/agents/linucb.py", "the drift of a refactor not raised",
        "agent.variance_drift[0] += np.sqrt(squares)", "pass", _MARGINS),
    Mutant("kernels/agents/linucb.py", "half of the covariances",
        "row[i] = 0.5 * S[j, j] * b[j, i]", "row[i] = S[j, j] * b[j, i]",
        _tests("kernels/search/test_scan.py::test_variance_tile_is_the_quadratic_form")),
    Mutant("kernels/loop/record.py", "regret recorded one step late",
        "record.times[cursor] == t + 1", "record.times[cursor] == t", _PLAYED),
    Mutant("kernels/loop/environment.py", "the noise of the next step",
        "normal(source, NOISE, 0, t)", "normal(source, NOISE, 0, t + 1)", _PLAYED),
    Mutant("kernels/loop/lockstep.py", "a floor without its margin",
        "floor = work.best[i] - 2.0 * margin32(arms, agent.z)", "floor = work.best[i]",
        _tests(
            "simulation/test_simulation.py::test_runs_in_lockstep_are_runs_alone_where_single_precision_sees_ties",
        )),
    # Diagnostics.
    Mutant("kernels/diagnostics/mutual_information.py", "the variance of binning not taken off",
        "variance = 1.0 - width * width / 6.0", "variance = 1.0", _INFORMATION),
    Mutant("kernels/diagnostics/mutual_information.py", "the nearer bin's share for the farther",
        "+= 2.0 * part / n", "+= 2.0 * (1.0 - part) / n", _INFORMATION),
    Mutant("kernels/diagnostics/mutual_information.py", "wrong sign of the correction",
        "_x_log_x(0.5 * (f0 + f1)) - 0.5", "_x_log_x(0.5 * (f0 + f1)) + 0.5", _INFORMATION),
    Mutant("kernels/diagnostics/best_of_models.py", "a tie's value not shared",
        "values[tile * TILE + i] += best[m] / ties[m]", "values[tile * TILE + i] += best[m]",
        _BEST_ARMS),
    Mutant("kernels/diagnostics/best_of_models.py", "every draw the same",
        "probe_counter(probe_index, i), normals", "probe_counter(probe_index, 0), normals",
        _tests("kernels/diagnostics/test_best_of_models.py::test_draws_have_the_posterior_s_law"), compiled=True),
    # The problem.
    Mutant("fastes/problem/whitening.py", "user coordinates without the noise",
        "np.linalg.pinv(rows_and_offsets(canonical)[0]).T / noise",
        "np.linalg.pinv(rows_and_offsets(canonical)[0]).T",
        _tests("problem/test_problem.py::test_user_coordinates_are_the_covariance_of_theta_with_z")),
    Mutant("fastes/problem/whitening.py", "arms of other offsets taken for equal",
        "distinct_rows(np.column_stack([o, b]))", "distinct_rows(b)",
        _tests("problem/test_problem.py::test_arms_are_duplicates_only_if_their_offsets_are_equal_too")),
    Mutant("fastes/problem/whitening.py", "a pivot's place lost",
        "L[pivots] = R[: L.shape[1]].T", "L[:] = R[: L.shape[1]].T",
        _tests("problem/test_problem.py::test_the_canonical_form_is_the_same_problem")),
    Mutant("fastes/problem/factorisation.py", "equal rows no longer equal",
        "return factor[first[same]] * scale[first[same], None]", "return factor * scale[:, None]",
        _tests("problem/test_problem.py::test_equal_inputs_of_a_gaussian_process_stay_equal_to_the_bit")),
    Mutant("fastes/problem/factorisation.py", "an indefinite prior let through",
        "factor @ factor.T)) > 1e-10:", "factor @ factor.T)) > 1e-3:",
        _tests("problem/test_problem.py::test_a_prior_that_is_slightly_indefinite_is_refused")),
    Mutant("fastes/problem/factorisation.py", "two zeros told apart",
        "for row in matrix + 0.0]", "for row in matrix]",
        _tests("problem/test_problem.py::test_both_zeros_are_one")),
    Mutant("fastes/problem/bandit.py", "an asymmetry let through",
        "(gap > 1e-10 * sd * sd[:, None]).any()", "(gap > 1e-3 * sd * sd[:, None]).any()",
        _tests("problem/test_problem.py::test_a_slight_asymmetry_is_refused_and_rounding_is_not")),
    Mutant("fastes/actions/families.py", "arms half as long",
        "rows *= 2 / np.sqrt(d)", "rows *= 1 / np.sqrt(d)",
        _tests("problem/test_problem.py::test_random_arms_have_their_law[uniform]")),
    # Checks and files.
    Mutant("fastes/checks/arrays.py", "shapes left out of a fingerprint",
        "digest.update(repr(np.shape(part)).encode())", "pass",
        _tests("problem/test_problem.py::test_the_fingerprint_tells_problems_apart")),
    Mutant("fastes/checks/arrays.py", "the caller's array kept",
        'order="C", copy=True', 'order="C", copy=None',
        _tests("problem/test_problem.py::test_a_bandit_cannot_be_changed")),
    Mutant("fastes/checks/numbers.py", "a truth value taken for a number",
        "isinstance(value, bool) or not minimum", "not minimum",
        _tests("simulation/test_simulation.py::test_bad_ensembles_are_refused")),
    Mutant("fastes/checks/numbers.py", "the largest allowed value refused",
        "minimum <= number <= maximum", "minimum <= number < maximum",
        _tests("files/test_files.py::test_a_range_includes_both_its_ends")),
    Mutant("fastes/files/atomic.py", "not written through before it is renamed",
        "os.fsync(written.fileno())", "pass", _tests("files/test_files.py")),
    Mutant("fastes/files/atomic.py", "a temporary name without its suffix",
        "suffix=target.suffix, dir=", 'suffix=".tmp", dir=', _tests("files/test_files.py")),
    Mutant("fastes/files/atomic.py", "a new file takes another's place",
        "            if new:", "            if False:", _tests("files/test_files.py")),
    Mutant("fastes/files/locks.py", "a lock that others may share",
        "fcntl.LOCK_EX | fcntl.LOCK_NB", "fcntl.LOCK_SH | fcntl.LOCK_NB", _tests("files/test_files.py")),
    Mutant("fastes/files/locks.py", "the lock of a file that was replaced",
        "os.path.samestat(os.fstat(file.fileno()), path.stat())", "True", _tests("files/test_files.py")),
    Mutant("fastes/files/archive.py", "only older formats refused",
        "if stored[1] != FORMAT:", "if stored[1] < FORMAT:",
        _tests("results/test_result.py::test_a_file_of_a_newer_format_is_refused")),
    # Results.
    Mutant("fastes/results/regret.py", "a biased standard error",
        "std(axis=0, ddof=1)", "std(axis=0, ddof=0)",
        _tests("results/test_result.py::test_figures_are_numpy_s")),
    Mutant("fastes/results/files.py", "two quantiles swapped",
        "(0.5, 0.05, 0.95)", "(0.5, 0.95, 0.05)",
        _tests("results/test_result.py::test_csv_has_a_row_for_every_time")),
    Mutant("fastes/results/files.py", "a horizon that does not fit let through",
        "and result.t[-1] == c.T", "",
        _tests("results/test_result.py::test_a_file_whose_arrays_do_not_fit_is_refused")),
    Mutant("fastes/results/comparison.py", "wrong sign of a difference",
        "(x.regret.final - y.regret.final)", "(y.regret.final - x.regret.final)",
        _tests(
            "results/test_result.py::test_paired_differences_have_the_standard_error_of_the_differences",
        )),
    Mutant("fastes/results/diagnostics.py", "a biased standard error",
        "se = np.sqrt(squares / ((n - 1) * n))", "se = np.sqrt(squares / (n * n))",
        _tests("results/test_result.py::test_a_mean_of_measurements_leaves_out_what_is_not_known")),
    Mutant("fastes/results/diagnostics.py", "runs left out counted in the mean",
        "mean = (kept / unit).sum(axis=0) / n", "mean = (kept / unit).sum(axis=0) / len(per_run)",
        _tests("results/test_result.py::test_a_mean_of_measurements_leaves_out_what_is_not_known")),
    # Theory.
    Mutant("fastes/theory/bounds.py", "t for t + 1 in the divergence",
        "np.log(6.0 * (_times(t) + 1.0) * M)", "np.log(6.0 * (_times(t) + 0.0) * M)", _HAND),
    Mutant("fastes/theory/bounds.py", "one step too many in term (b)",
        "divergence_bound(known.K, T - 1, M)", "divergence_bound(known.K, T, M)", _HAND),
    Mutant("fastes/theory/bounds.py", "half a step in long sums",
        "term(start - 0.5 + half * (x + 1))", "term(start + half * (x + 1))",
        _tests("theory/test_bounds.py::test_long_sums_are_right")),
    Mutant("fastes/theory/constants.py", "the mean left out of the closed form",
        "* widest + farthest", "* widest",
        _tests("theory/test_bounds.py::test_the_other_branch_of_the_closed_form")),
    Mutant("fastes/theory/exact_laws.py", "parallel arms not held against each other",
        "best = ~level.any(axis=1) & (low < high)", "best = low < high",
        _tests("theory/test_optimal_action.py::test_of_parallel_arms_the_highest_is_the_best")),
    Mutant("fastes/theory/exact_laws.py", "wrong sign of an expected coordinate",
        "norm.pdf(low[best]) - norm.pdf(high[best])",
        "norm.pdf(high[best]) - norm.pdf(low[best])",
        _tests("theory/test_optimal_action.py::test_values_of_the_best_are_those_of_plain_sampling")),
    Mutant("fastes/theory/sampled_laws.py", "the jackknife's spread of one replicate",
        "spread = np.sqrt((REPLICATES - 1) * np.var(left_out))",
        "spread = np.sqrt(np.var(left_out))",
        _tests("theory/test_optimal_action.py::test_the_error_of_the_entropy_is_what_it_says")),
    Mutant("fastes/theory/inequalities.py", "steps before the first probe left out",
        "weights[0] += t[0]", "weights[0] += 0",
        _tests("theory/test_diagnostics.py::test_sums_over_steps")),
    Mutant("fastes/theory/measures.py", "sums that are not 1 let through",
        "_TOLERANCE = 1e-9", "_TOLERANCE = 1e-2", _tests("theory/test_measures.py")),
    Mutant("fastes/theory/probe.py", "twice the correction of an entropy",
        "+ float(law.free.sum()) / (2.0 * law.n)", "+ float(law.free.sum()) / law.n",
        _tests("theory/test_diagnostics.py::test_the_correction_takes_off_what_few_draws_add"),
        compiled=True),
    # Simulation, studies and the command line.
    Mutant("fastes/simulation/recording.py", "times that are not nested",
        "(-(-T // half) - 1).bit_length()", "(-(-T // half)).bit_length()",
        _tests(
            "simulation/test_simulation.py::test_recording_times_are_nested",
            "simulation/test_simulation.py::test_recording_times_increase_to_T",
            "simulation/test_simulation.py::test_recording_times_are_as_dense_as_was_asked_for",
        )),
    Mutant("fastes/simulation/checkpoint.py", "large states written as often as small ones",
        "max(self.every, self._took / _SHARE)", "self.every",
        _tests("simulation/test_checkpoint.py::test_large_states_are_written_less_often")),
    Mutant("fastes/simulation/checkpoint_file.py", "states of several runs cut one too late",
        "np.cumsum(lengths[name])[:-1]", "np.cumsum(lengths[name])[1:]",
        _tests(
            "simulation/test_checkpoint.py::test_any_checkpoint_goes_on_to_the_same_bits[duplicate arms-Greedy()]",
        ),
        compiled=True),
    Mutant("fastes/studies/lists.py", "a progression that does not go on as it began",
        " and values[: len(begun)] == begun", "",
        _tests("studies/test_study.py::test_what_is_no_progression_is_refused")),
    Mutant("fastes/studies/tasks.py", "the shortest task first",
        "key=lambda piece: -piece[-1]", "key=lambda piece: piece[-1]",
        _tests("studies/test_study.py::test_tasks_are_balanced_and_cover_every_run_once")),
    Mutant("fastes/studies/tasks.py", "the cost of one run for that of a task",
        "cost * (last - first))", "cost)",
        _tests("studies/test_study.py::test_tasks_are_balanced_and_cover_every_run_once")),
    Mutant("fastes/studies/store.py", "damage let through",
        "if seal != _seal(*task, *result):", "if False:",
        _tests("studies/test_sweep.py::test_damage_is_noticed")),
    Mutant("fastes/cli/errors.py", "bad usage exits as other failures do",
        "exit_code = 2", "exit_code = 1",
        _tests("cli/test_cli.py::test_bad_usage_exits_with_2_and_one_sentence")),
    Mutant("kernels/jit/cache.py", "kernels in folders left out of the cache's name",
        'kernels.rglob("*.py")', 'kernels.glob("*.py")',
        _tests("kernels/jit/test_cache.py::test_a_changed_callee_in_another_file_is_seen"),
        compiled=True),
]
# fmt: on
