"""What travels between the rooms: plain values, no behaviour that needs a file, a clock or a network."""
