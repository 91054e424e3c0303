"""What a deferred ensemble asks of its log of plays: generic kernels, with a body for each log.

A log knows what a model that was last read at some time has missed since. Kernels own no memory:
where a log is full it says so (`log_needs_capacity`) and is given larger arrays
(`log_with_capacity`). Below, `agent` is the ensemble, a `DeferredEnsemble` (deferred.py).
"""

from ..jit.decorators import generic, required


@required
def now(log):
    """Return the number of plays so far."""


@generic
def note_before(log, key):
    """Write down what the belief is about to change, as the arm of a key is played."""


@generic
def append(log, key, row, root):
    """Write down that the arm of a key was played, with this row, after the belief took it in.

    The perturbations of models have the standard deviation `root`. The log must not be full.
    """


@required
def log_needs_capacity(log):
    """Return whether the next play might not fit, and the log may grow."""


@required
def log_with_capacity(log):
    """Return a log with more room, and leave this one as it is. Python calls it.

    So that a failure on the way, for want of memory say, loses nothing.
    """


@generic
def make_room(log, agent, source):
    """Forget what is old, where a log is full and may not grow."""


@required
def missed_scratch(log):
    """Return the layout of what a catch-up writes to. Python calls it, on a log or a layout."""


@required
def most_normals(log):
    """Return the most normals that a catch-up takes. Python calls it, on a log or a layout."""


@required
def catch_up(log, agent, slot, source, stream, counter, xi):
    """Let xi, the model in a slot as it was last read, take in what it missed since.

    With the vector of a stream at a counter. Changes scratch and xi only.
    """


@generic
def note_read(log, models, slot):
    """Note that the model in a slot is up to date."""
    models.read_at[slot] = now(log)


@required
def log_arrays(log):
    """Return the arrays that a log is saved as, by name. Python calls it."""


@generic
def oldest(log):
    """Return the number of plays before the first that is kept. Python calls it."""
    return 0


@required
def taken_in(log, models):
    """Return the arrays that say which plays the models read so far have taken in, by name.

    Python calls it.
    """


@required
def restored_log(log, models, belief, arrays, arms, steps):
    """Return a log that was saved as these arrays, and what each model read has taken in, or raise.

    That is the number of plays, and what `note_read` copies, a row for each. `log` and `models` are
    layouts, the belief is restored; `steps` is how many there will be in all. Python calls it.
    """
