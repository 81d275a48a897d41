"""The embedded reviewer's rules: what a user says for good, in fourteen languages; precision before recall."""
