"""Benchmarks: ratios to a stated baseline, taken in one process run.

``python -m bench --help`` says how to run them.
"""

import os

# Before anything imports NumPy or JAX: a baseline on all cores would be no baseline for one thread.
for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NPROC"):
    os.environ[variable] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
