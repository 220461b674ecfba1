"""The library: what every verb does, as typed functions, and the values they return."""
