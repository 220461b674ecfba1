"""Numbers to places on a drawing.

Drawings are SVG made by our own templates. Their horizontal places are per cents, so a drawing grows with the
page while its text keeps its size on a phone; their colours are those of the page, so it follows light, dark
and print; and it needs no style of its own, which the page's policy would refuse.
"""
