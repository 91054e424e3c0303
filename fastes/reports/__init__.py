"""Reports: results, studies and benchmarks as one page for a browser, with charts and tables."""
