"""The path of a job: the only place that crosses lock domains, one call at a time."""
