"""Tools of every room: errors, strict JSON, bytes in, columns on disk, a second process, clocks. One of each."""
