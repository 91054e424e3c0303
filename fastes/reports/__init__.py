"""Reports: HTML pages of results and studies, with charts and tables."""
