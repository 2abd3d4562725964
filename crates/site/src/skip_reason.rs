//! The reasons for which a file makes no page that readers find.

use serde::{Deserialize, Serialize};

/// Why a file is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SkipReason {
    /// The page says itself that readers are not to find it.
    Hidden,
    /// The navigation decides what readers find, and does not name it.
    NotInNavigation,
    /// A piece that other pages include.
    Partial,
    /// The configuration, or a rule of the generator, leaves it out.
    Excluded,
    /// It is in none of the folders that the configuration takes pages from.
    Outside,
    /// For those who edit the docs and not for readers.
    ForEditors,
    /// Read as the configuration of the site.
    Configuration,
    /// Written in a language that is not read, or that this generator does not read.
    Unsupported,
    TooLarge,
    NotUtf8,
}

impl SkipReason {
    pub const ALL: [Self; 10] = [
        Self::Hidden,
        Self::NotInNavigation,
        Self::Partial,
        Self::Excluded,
        Self::Outside,
        Self::ForEditors,
        Self::Configuration,
        Self::Unsupported,
        Self::TooLarge,
        Self::NotUtf8,
    ];

    /// Its name for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hidden => "hidden",
            Self::NotInNavigation => "notInNavigation",
            Self::Partial => "partial",
            Self::Excluded => "excluded",
            Self::Outside => "outside",
            Self::ForEditors => "forEditors",
            Self::Configuration => "configuration",
            Self::Unsupported => "unsupported",
            Self::TooLarge => "tooLarge",
            Self::NotUtf8 => "notUtf8",
        }
    }

    /// What it says of files, as in “3 *hidden*”.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Hidden => "hidden",
            Self::NotInNavigation => "not in the navigation",
            Self::Partial => "partial",
            Self::Excluded => "excluded by the configuration",
            Self::Outside => "outside of the folders of pages",
            Self::ForEditors => "for those who edit the docs",
            Self::Configuration => "configuration",
            Self::Unsupported => "unsupported",
            Self::TooLarge => "too large",
            Self::NotUtf8 => "not UTF-8",
        }
    }

    /// What it says of one file, in a sentence without its beginning (“the file …”).
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Hidden => "says itself that readers are not to find it",
            Self::NotInNavigation => "is not named in the navigation, which decides what readers find",
            Self::Partial => "is a piece that other pages include, by its name or folder",
            Self::Excluded => "is left out by the configuration of the site or a rule of its generator",
            Self::Outside => "is in none of the folders that the site takes pages from",
            Self::ForEditors => "is for those who edit the docs, by its name or folder",
            Self::Configuration => "is read as the table of contents of the site, and is no page",
            Self::Unsupported => "is written in a language that is not read here",
            Self::TooLarge => "is too large to be read",
            Self::NotUtf8 => "is not UTF-8",
        }
    }

    /// Whether the reason is an ordinary one, which needs no attention.
    pub const fn is_usual(self) -> bool {
        matches!(self, Self::Partial | Self::ForEditors | Self::Configuration)
    }
}
