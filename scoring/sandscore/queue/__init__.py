"""The submission queue: from a submission to its result, unattended."""
