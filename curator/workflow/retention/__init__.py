"""What goes when it is old and nobody needs it any more (design: retention, safely). An accepted job never expires."""
