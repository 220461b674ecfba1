"""Values of the library as small tables, in a terminal and in a notebook."""
