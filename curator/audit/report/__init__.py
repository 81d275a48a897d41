"""The page: what the shadow and the revisions tell, as one file for a browser."""
