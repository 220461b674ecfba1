"""The scorer of the NLP Sandbox client, releases 4.3.0 and 3.1.0."""
