"""Apptainer: containers of a cluster's own program, under the limits that bubblewrap's are under."""
