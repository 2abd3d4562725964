project = "Handbook"
extensions = ["myst_parser"]
myst_heading_anchors = 3
myst_enable_extensions = ["attrs_inline", "attrs_block"]
exclude_patterns = [
    "_build",
    "drafts",
    # "guide",
    "**/*.part.md",
]
