"""sandscore: runs, validates, scores and ranks annotators of clinical text.

The rooms of the house, in the order data flows through them:

- ``tasks``       what can be annotated: one row a task
- ``reading``     files to columns, and everything that is wrong with a file
- ``measuring``   columns to counts, measures and score cards
- ``running``     container images to predictions
- ``ranking``     score cards to boards, with uncertainty
- ``publishing``  boards to pages
- ``queueing``    submissions to results, unattended
- ``cli``         the command line, one module a verb
"""

__version__ = "0.1.0"
