"""The Text Anonymization Benchmark's own evaluation, in two releases."""
