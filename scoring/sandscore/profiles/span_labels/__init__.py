"""The six-way span labels: strict, exact, partial, incorrect, missed, spurious."""
