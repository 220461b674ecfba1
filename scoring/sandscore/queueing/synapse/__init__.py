"""The Synapse home of the queue: an evaluation queue served with ``synapseclient``.

``home.open_synapse_home`` makes the home a worker uses, ``access.check_access`` says whether a configuration can.
"""
