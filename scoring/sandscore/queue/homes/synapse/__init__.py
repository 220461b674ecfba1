"""The Synapse home of the queue: an evaluation queue served with ``synapseclient``.

``synapse_home.open_synapse_home`` makes the home a worker uses; ``synapse_access.check_access`` says whether a
configuration can.
"""
