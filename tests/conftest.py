"""What holds for every test: a machine may be slow, which is no fault of an example."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
