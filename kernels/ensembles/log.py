"""The interface of logs of plays of a deferred ensemble: generic kernels, with bodies by log.

A log determines what a model has missed since its last read. Kernels do not allocate: a full log
requests larger arrays (`log_needs_capacity`, `log_with_capacity`). Below, `agent` is the ensemble,
a `DeferredEnsemble` (deferred.py).
"""

from ..jit.decorators import generic, required


@required
def now(log):
    """Return the number of plays so far."""


@generic
def note_before(log, key):
    """Record what the belief is about to change when the arm of a key is played."""


@generic
def append(log, key, row, root):
    """Record the play of the arm of a key, with this row, after the belief was updated.

    The perturbations of models have the standard deviation `root`. The log must not be full.
    """


@required
def log_needs_capacity(log):
    """Return whether the next play might not fit, and the log may grow."""


@required
def log_with_capacity(log):
    """Return a log with more capacity, and leave this one unchanged. Called from Python.

    So that nothing is lost if memory runs out.
    """


@generic
def make_room(log, agent, source):
    """Forget old plays of a full log that may not grow."""


@required
def missed_scratch(log):
    """Return the layout of what a catch-up writes to. Called from Python, on a log or a layout."""


@required
def most_normals(log):
    """Return the most normals that a catch-up takes. Called from Python, on a log or a layout."""


@required
def catch_up(log, agent, slot, source, stream, counter, xi):
    """Update xi, the model in a slot as of its last read, with what it missed since.

    With the vector of a stream at a counter. Changes scratch and xi only.
    """


@generic
def note_read(log, models, slot):
    """Record that the model in a slot is up to date."""
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
