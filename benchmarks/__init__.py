"""Things that measure: suites, the runner, records and reports."""
