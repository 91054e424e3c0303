"""Benchmarks: ratios to a stated baseline, taken in one process run.

Run them with ``pytest bench --benchmark-enable``; add ``--quick`` for a smoke test.
"""
