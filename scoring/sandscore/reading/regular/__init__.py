"""The quickest path: a block whose annotations are all written alike, taken as columns without an object for any.

What such a block says besides its values is the same text over and over. That text is read off the first annotation
and judged by JSON's grammar; then every byte of the block is accounted for: it belongs to a copy of that text, which
is compared, or to a value, which is checked. A block that is not wholly accounted for is refused and read otherwise.
"""
