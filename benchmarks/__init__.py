"""Things that measure: suites, the runner, records, tables, reports. No training, no agents."""
