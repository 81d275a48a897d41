"""The fault model: volumes that crash or forget, and the oracles that judge what is left."""
