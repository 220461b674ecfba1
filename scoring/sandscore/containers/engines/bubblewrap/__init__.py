"""Bubblewrap: containers without a daemon, of images that are unpacked in a folder of ours."""
