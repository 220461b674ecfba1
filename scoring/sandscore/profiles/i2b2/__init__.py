"""The scorer of the i2b2 2014 de-identification track."""
