"""What may go wrong around a real process: its disk, its memory, its clock, its network, and whether it runs at all."""
