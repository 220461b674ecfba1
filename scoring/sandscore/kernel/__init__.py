"""The quickest path: blocks of JSON into columns by compiled code, without an object for any annotation.

The kernel takes only what it knows to be right; a block it refuses is decoded as if there were no kernel. Where it
could not be compiled there is none, and everything is the same but slower.
"""
