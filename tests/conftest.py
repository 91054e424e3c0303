from hypothesis import settings

# The same examples every time, and no deadline on a first call that compiles.
settings.register_profile("fastes", derandomize=True, deadline=None)
settings.load_profile("fastes")
