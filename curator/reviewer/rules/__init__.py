"""The embedded reviewer's rules: plain sentences of the user in English, precision before recall."""
