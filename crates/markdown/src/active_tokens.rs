//! What generators act on in Markdown.

/// What a generator acts on in Markdown, beside HTML and includes. The default is for one of which nothing else is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ActiveTokens {
    pub templates: Templates,
    /// Whether templates are also expanded in displayed code.
    pub templates_in_code: bool,
    /// `{: onclick=… }` behind an element sets its attributes.
    pub attribute_lists: bool,
    /// Directives and roles in braces, as MyST has them.
    pub directives: bool,
    /// Lines `::: name` import a Python module, and `/// html` begins HTML.
    pub python_blocks: bool,
    /// Tags may be components, and their attributes expressions of Vue.
    pub vue: bool,
}

/// Which templates a generator expands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Templates {
    /// `{{ … }}` and `{% … %}`.
    #[default]
    Braces,
    /// `{{< … >}}` and `{{% … %}}`.
    Shortcodes,
    /// `{{#include …}}`.
    Commands,
}
