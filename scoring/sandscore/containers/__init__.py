"""Images to predictions: everything here treats what it runs as hostile."""
