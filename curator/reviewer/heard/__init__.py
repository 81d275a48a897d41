"""What arrives of a model's answer, piece by piece: one module an API, one shape for whoever listens."""
