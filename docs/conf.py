"""How the site is built: ``sphinx-build -W --keep-going docs docs/_build/html``, without a network.

The theme is furo. It is small and well kept, shows the whole tree of pages in one column beside
the text, is readable on a phone, in the dark and on paper, and loads nothing from elsewhere.
"""

import logging
import os
import sys
from pathlib import Path

import fastes

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

# Tutorials call the command fastes, also where the environment is not activated.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
# Tables in tutorials are as wide as the page.
os.environ["COLUMNS"] = "88"
# And load an extension of IPython.
paths = (str(HERE / "_ext"), os.environ.get("PYTHONPATH"))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))

project = "fastes"
author = "The fastes developers"
release = version = fastes.__version__

extensions = [
    "myst_nb",
    "house_style",
    "mathml",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "jupyter_execute"]  # the latter is written beside the output
nitpicky = True
highlight_language = "none"  # of what is said to be in no language
smartquotes = False  # --M is an option, not a dash

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = "fastes"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5fa5", "color-brand-content": "#0b5fa5"},
    "dark_css_variables": {"color-brand-primary": "#7cc4ff", "color-brand-content": "#7cc4ff"},
}

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
# A notebook is run whenever its page is built: what it shows is what this version does.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 180
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

# Names of other projects, and words of docstrings that are types but no names: there is nothing
# to link to without a network. What begins with fastes must exist.
nitpick_ignore_regex = [(r"py:.*", r"(?!fastes\b).*")]

default_role = "py:obj"  # `simulate` in a docstring is a link where there is such a name


class _PlacesToCome(logging.Filter):
    """Let the patterns at the end of a toctree match nothing: they are for pages to come."""

    def filter(self, record: logging.LogRecord) -> bool:
        return getattr(record, "subtype", None) != "empty_glob"


logging.getLogger("sphinx.sphinx.directives.other").addFilter(_PlacesToCome())
