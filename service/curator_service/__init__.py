"""The long-lived process around the library: signals, wake-ups and cadence; it never sees a job's content."""
