"""The child processes of a worker, and the wire to them."""
