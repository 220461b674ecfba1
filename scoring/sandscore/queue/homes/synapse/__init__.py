"""The Synapse home of the queue: an evaluation queue served with ``synapseclient``.

``synapse_row.SynapseRow`` makes and opens it; ``synapse_access.check_access`` says whether a
configuration can.
"""
