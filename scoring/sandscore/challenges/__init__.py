"""A challenge's rules as ``challenge.toml`` says them, and what teams are told while a phase runs."""
