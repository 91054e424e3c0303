"""Reports: results and studies as one page for a browser, with charts and tables."""
