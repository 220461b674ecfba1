"""Podman, spoken to in Docker's words where it understands them and in its own where it does not."""
