import gc

from hypothesis import Phase, settings

# The same examples every time, and no deadline on a first call that compiles.
settings.register_profile("fastes", derandomize=True, deadline=None)
settings.load_profile("fastes")
# For mutants.py: that there is a counterexample is enough, it need not be the simplest.
settings.register_profile(
    "unshrunk", settings.get_profile("fastes"), phases=[Phase.explicit, Phase.generate]
)

# Of what numba makes while it compiles nearly all stays: a search for garbage finds none.
gc.set_threshold(100_000, 20, 20)


def pytest_collection_finish():
    """Keep the collector from going over all tests and modules again and again."""
    gc.freeze()
