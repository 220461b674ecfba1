"""Registries: which may be asked for images, how they are asked, and images taken out of them piece by piece."""
