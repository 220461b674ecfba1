"""The colours of plots: each is drawn as it is by day, and the page puts its variable in the colour's place."""

RAISED = "#ffffff"
INK = "#1d2328"
SOFT = "#545e66"
RULE = "#dde1e0"
DOT = "#0a5c8f"
SPAN = "#4f93c0"
BAND = "#e3eef5"
WIN = "#0072b2"
LOSE = "#e08a00"
CHANGE = "#c98700"
KINDS = {"label": "#cc79a7", "boundary": "#e6b422", "missed": "#c8501e", "spurious": "#5b7fc7"}

VARIABLES = {
    RAISED: "raised",
    INK: "ink",
    SOFT: "soft",
    RULE: "rule",
    DOT: "dot",
    SPAN: "span",
    BAND: "band",
    WIN: "win",
    LOSE: "lose",
    CHANGE: "warn-edge",
    **{colour: kind for kind, colour in KINDS.items()},
}
"""Which variable of the style sheet a colour stands for."""
