"""The hostile set: submissions that try everything, fired at an organiser's own configuration."""
