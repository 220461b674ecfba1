"""Makes the example challenge in ``gold/example``: synthetic notes and the gold of three tasks.

Templates and word lists are ours and lie beside the code; the only randomness is ``random.Random.random``
with a fixed seed, whose sequence Python guarantees. So the bytes are the same on every machine, and the code
needs nothing outside the standard library.
"""
