"""The records that travel between the rooms and are published: plain values without files, clock or network."""
