"""The embedded reviewer's rules: what a user says for good, in fifteen languages; precision before recall."""
