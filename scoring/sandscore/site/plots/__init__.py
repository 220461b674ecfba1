"""Numbers to drawings, by a plotting library, once, when a page is made.

Each module lays out the numbers of one drawing and draws them: onto a canvas measured in pixels, in a form for a wide
page and in one for a phone, and written down as SVG that stands in the page. Colours are the page's, so a drawing
follows light, dark and print; and it needs no style of its own, which the page's policy would refuse.
"""
