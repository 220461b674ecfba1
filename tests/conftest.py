"""What holds for every test: a machine may be slow, which is no fault of an example."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=20)
settings.load_profile("patient")
