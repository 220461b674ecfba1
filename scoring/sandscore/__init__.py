"""sandscore: runs, validates, scores and ranks annotators of clinical text.

The rooms of the house, in the order data flows through them:

- ``base``         files, memory, processes, clock, errors: nobody's in particular
- ``records``      what travels between the rooms and is published
- ``task_table``   what can be annotated: one table a task
- ``annotations``  files to columns, and everything that is wrong with a file
- ``formats``      other people's files to one corpus, and back
- ``measures``     columns to counts and ratios
- ``profiles``     other people's scorers, number for number
- ``scoring``      files to score cards
- ``containers``   container images to predictions
- ``ranking``      score cards to boards, with uncertainty
- ``disclosure``   what may leave, and to whom
- ``site``         boards to pages
- ``queue``        submissions to results, unattended
- ``api``          what every verb does, as typed functions
- ``cli``          the command line, one module a verb
"""

__version__ = "0.1.0"
