"""Proposals without tools: the prompt, the answer's parsing, and whoever is asked."""
