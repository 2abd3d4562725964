project = "Handbook"
exclude_patterns = ["_build", "drafts", "parts/*"]
html_static_path = ["_static"]
