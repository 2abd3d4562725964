//! The supported generators.

/// The generator that builds a site from a docs tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Generator {
    /// No known generator: a folder of pages.
    #[default]
    Plain,
    /// `docs.json` or `mint.json`.
    Mintlify,
    Docusaurus,
    VitePress,
    MkDocs,
    MdBook,
    /// Starlight, or another Astro site with its pages in `src/content/docs`.
    Starlight,
    /// `source.config.*`, on Next.js.
    Fumadocs,
    /// A `next.config.*` that uses Nextra.
    Nextra,
    Hugo,
    /// With pages in reStructuredText, Markdown (read by MyST) or notebooks.
    Sphinx,
    /// gitbook.com, GitBook's command-line tool or its successor HonKit.
    GitBook,
    Docfx,
    Jekyll,
    /// With pages in AsciiDoc.
    Antora,
}

impl Generator {
    /// The display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "no generator",
            Self::Mintlify => "Mintlify",
            Self::Docusaurus => "Docusaurus",
            Self::VitePress => "VitePress",
            Self::MkDocs => "MkDocs",
            Self::Starlight => "Astro Starlight",
            Self::MdBook => "mdBook",
            Self::Fumadocs => "Fumadocs",
            Self::Nextra => "Nextra",
            Self::Hugo => "Hugo",
            Self::Sphinx => "Sphinx",
            Self::GitBook => "GitBook",
            Self::Docfx => "docfx",
            Self::Jekyll => "Jekyll",
            Self::Antora => "Antora",
        }
    }
}
