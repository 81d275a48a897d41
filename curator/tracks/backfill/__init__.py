"""Reviews of old sessions, when a person asks for them: planned first, in shadow then, promoted by hand or not at all."""
